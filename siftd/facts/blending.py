"""Blending: which facts stand in which slot of which pod, and why the others do not.

Each active pod fills its own slots with its own facts, in the order of `SLOTS`; a fact, or one that says the same,
stands once. What a pod does not fill stays empty: nothing is taken from elsewhere. At most 20 facts and 4,800
characters stand, each of them whole. A fact that is superseded, expired or waits for a person never does, nor one of
another project, nor one that is private to another person: of the last two not even the explanation tells.

One pass over the facts for each pod.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from siftd.facts.pods import (
    CHARS_MAX,
    FACTS_MAX,
    SLOTS,
    Asker,
    Fact,
    Pod,
    private_to_others,
    reason_for,
    why_inactive,
    why_not_in,
    with_rows,
)

_ARTICLES = frozenset(("a", "an", "the"))
_AROUND_WORDS = ".,;:!?\"'()`"
_NO_LONGER = {
    "waits": "waits for a person: `mem pins --accept`",
    "superseded": "a newer fact has taken its place",
    "expired": "holds no longer",
    "not yet": "does not hold yet",
    "archived": "archived",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A fact in its place."""

    number: int
    fact: Fact
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A fact of a pod that does not stand in it."""

    fact: Fact
    why: str
    is_crowded_out: bool = False
    """Whether it would stand, were there more room."""


@dataclass(slots=True)
class Filled:
    """A pod with what stands in it."""

    pod: Pod
    inactive: str | None
    """Why it fills no slot; None for an active one."""
    slots: list[Slot] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def size(self) -> int:
        return SLOTS[self.pod.type]

    @property
    def crowded_out(self) -> list[Fact]:
        """The facts that hold, and have no slot because others have them."""
        return [each.fact for each in self.left_out if each.is_crowded_out]


@dataclass(slots=True)
class Blend:
    """All pods of who asks, in the order of filling."""

    pods: list[Filled] = field(default_factory=list)

    @property
    def slots(self) -> list[Slot]:
        return [slot for filled in self.pods for slot in filled.slots]

    @property
    def facts(self) -> list[Fact]:
        return [slot.fact for slot in self.slots]

    @property
    def chars(self) -> int:
        return sum(len(fact.text) for fact in self.facts)


def blend(rows: Sequence[Pod], facts: Sequence[Fact], asker: Asker) -> Blend:
    """Return what who asks is handed. `rows` are the pods that somebody made, `facts` what the stores hold."""
    if not asker.project:
        return Blend()
    private = private_to_others(rows, asker)
    seen = [fact for fact in facts if fact.project in (asker.project, asker.shared) and fact.id not in private]
    seen.sort(key=lambda fact: (-fact.importance, -fact.said_ts, -int(fact.id[1:])))
    taken = _Taken()
    return Blend([_filled(pod, seen, asker, taken) for pod in with_rows(asker, rows)])


class _Taken:
    """What stands already, of every pod."""

    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], str] = {}
        self._chars = 0
        self._facts: dict[str, str] = {}

    def why_twice(self, fact: Fact) -> str | None:
        """Return why a fact stands already, None where it does not."""
        if (pod := self._facts.get(fact.id)) is not None:
            return f"stands in {pod}"
        if (same := self._by_words.get(_words(fact.text))) is not None:
            return f"says the same as {same}"
        return None

    def why_full(self, fact: Fact) -> str | None:
        """Return why there is no room for a fact, None where there is."""
        if len(self._facts) >= FACTS_MAX:
            return f"{FACTS_MAX} facts stand already"
        if self._chars + len(fact.text) > CHARS_MAX:
            return f"does not fit whole into {CHARS_MAX:,} characters"
        return None

    def take(self, fact: Fact, pod: Pod) -> None:
        self._facts[fact.id] = pod.key
        self._by_words[_words(fact.text)] = fact.id
        self._chars += len(fact.text)


def _filled(pod: Pod, facts: list[Fact], asker: Asker, taken: _Taken) -> Filled:
    own = [(fact, why) for fact in facts if (why := reason_for(pod, fact)) is not None]
    steps = {member.fact: number for number, member in enumerate(pod.members)}
    own.sort(key=lambda each: steps.get(each[0].id, len(steps)))
    holding = [fact for fact, _ in own if fact.state == "holds"]
    filled = Filled(pod, why_inactive(pod, holding, asker))
    if filled.inactive is not None:
        return filled
    for fact, why in own:
        if (left_out := _NO_LONGER.get(fact.state) or taken.why_twice(fact)) is not None:
            filled.left_out.append(LeftOut(fact, left_out))
        elif (left_out := _why_full(filled) or taken.why_full(fact)) is not None:
            filled.left_out.append(LeftOut(fact, left_out, is_crowded_out=True))
        else:
            taken.take(fact, pod)
            filled.slots.append(Slot(len(filled.slots) + 1, fact, why))
    belonging = {fact.id for fact, _ in own}
    others = (fact for fact in facts if fact.id not in belonging and fact.state == "holds")
    filled.left_out += [LeftOut(fact, why) for fact in others if (why := why_not_in(pod, fact)) is not None]
    return filled


def _why_full(filled: Filled) -> str | None:
    return f"its {filled.size} slots are taken" if len(filled.slots) >= filled.size else None


def _words(text: str) -> tuple[str, ...]:
    """Return what two sayings of the same have in common: every word in its order, but for articles, case, full stops.

    Nothing looser: "port 8080 in dev" and "port 8081 in prod" are two facts, and so are "C" and "C++".
    """
    words = (word.strip(_AROUND_WORDS) for word in text.casefold().split())
    return tuple(word for word in words if word and word not in _ARTICLES) or (text,)
