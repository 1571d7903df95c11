"""What becomes of a statement beside what is known, without a model: added, merged, or in the place of an older one.

Two that are near each other are compared word by word. The same claim in other words merges. The opposite of a known
fact, or its end, ends it. The same claim with another value, where there can be one value only, takes its place.
Whatever else differs (a number, a name, a place, a denial) are two facts, however near their vectors: what is kept
twice costs a line, what is lost by similarity costs trust. In doubt: added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from siftd.facts.exclusive import names_one_value
from siftd.facts.model import Candidate, Known, Verdict, VerdictKind
from siftd.facts.statements import TEXT_CHARS_MAX, Statement, is_light, is_number, statement_of

NEIGHBOURS_MAX = 8
"""How many known facts a candidate is compared with, the nearest first."""
MERGE_COSINE = 0.88
"""From here on the same words in another order are the same claim."""
NEIGHBOUR_COSINE = 0.40
"""From here on they are compared: the default embedder gives "the database is MariaDB" and "… is Postgres" 0.64, for
half their words differ. Below `NEAR_COSINE` only the same sentence with another value counts."""

NEAR_COSINE = 0.72
"""From here on somebody else's verdict counts, where no rule tells."""

_BELIEVED = {"person": 3, "agent": 2, "output": 1, "outside": 0}
_PLACES = frozenset(
    "dev development prod production staging stage test testing tests ci local locally preview demo live sandbox"
    " linux macos mac windows debian alpine ubuntu android ios arm64 x86 client server web desktop mobile frontend"
    " backend api cli eu us admin testumgebung produktion entwicklung".split()
)
"""Where something holds: two that name different ones are of two things."""
_CHANGES = (
    re.compile(
        r"\b(?:switch|mov|migrat|chang|rename)(?:e|ed|ing)? from (.{2,60}?) to (.{2,60}?)(?= for | in |[.,;]|$)", re.I
    ),
    re.compile(r"\breplac(?:e|ed|ing) (.{2,60}?) (?:with|by) (.{2,60}?)(?= for | in |[.,;]|$)", re.I),
    re.compile(r"\bvon (.{2,60}?) auf (.{2,60}?) umgestiegen", re.I),
)


def judge(candidate: Candidate, known: Sequence[Known]) -> Verdict:
    """Return what becomes of a candidate: of the known facts that it is about, the nearest counts.

    A statement never ends or replaces one that was said by somebody who is believed more.
    """
    found: list[Verdict] = []
    nearest = sorted(known, key=lambda each: (each.topic is None or each.topic != candidate.topic, -each.cosine))
    for each in nearest[:NEIGHBOURS_MAX]:
        verdict = _compare(candidate, each)
        if verdict is None:
            continue
        if verdict.kind == "merge":
            return verdict
        if _BELIEVED[candidate.said_by] >= _BELIEVED[each.said_by]:
            found.append(verdict)
    return found[0] if found else Verdict("add", None, "nothing known says this")


def may_be(kind: VerdictKind, candidate: Candidate, known: Known) -> bool:
    """Whether the words of two leave room for somebody else's verdict: another place or name is another fact."""
    if kind == "add":
        return True
    if known.cosine < NEAR_COSINE or max(len(candidate.text), len(known.text)) > TEXT_CHARS_MAX:
        return False
    new, old = statement_of(candidate.text), statement_of(known.text)
    if _places(new) != _places(old):
        return False
    if kind == "merge":
        numbers = [sorted(filter(is_number, each.words)) for each in (new, old)]
        names = [set(_NAME.findall(each)) for each in (candidate.text, known.text)]
        return (new.denies, new.ended) == (old.denies, old.ended) and numbers[0] == numbers[1] and names[0] == names[1]
    return _BELIEVED[candidate.said_by] >= _BELIEVED[known.said_by]


_NAME = re.compile(r"(?<=[^.!?] )[A-Z]\w{0,60}|`[^`]{1,80}`|\w{1,60}[./_]\w{1,60}")


def _compare(candidate: Candidate, known: Known) -> Verdict | None:
    """Return what a candidate does to one known fact; None: they are two."""
    same_topic = candidate.topic is not None and candidate.topic == known.topic
    if candidate.text.strip() == known.text.strip():
        return Verdict("merge", known.id, "says the same")
    if max(len(candidate.text), len(known.text)) > TEXT_CHARS_MAX:
        return Verdict("update", known.id, "newer word on the same topic") if same_topic else None
    if known.cosine < NEIGHBOUR_COSINE and not same_topic:
        return None
    new, old = statement_of(candidate.text), statement_of(known.text)
    if _same_claim(new, old, known.cosine):
        return _agreeing(new, old, known.id)
    if same_topic:
        return Verdict("update", known.id, "newer word on the same topic")
    if _changed_by_name(candidate.text, new, known.text, old) or _changed_by_name(known.text, old, candidate.text, new):
        return Verdict("update", known.id, "names what it replaces")
    if new.denies == old.denies and not new.ended and not old.ended and _changed_value(new, old):
        return Verdict("update", known.id, "another value of the same thing")
    return None


def _agreeing(new: Statement, old: Statement, known_id: int) -> Verdict | None:
    """Judge two whose claim is the same but for what is denied."""
    if new.ended and not old.ended:
        return None if old.denies else Verdict("delete", known_id, "said to hold no longer")
    if old.ended and not new.ended:
        return None if new.denies else Verdict("delete", known_id, "said to hold again")
    if new.denies != old.denies:
        return Verdict("delete", known_id, "said to be the opposite")
    return Verdict("merge", known_id, "says the same")


def _same_claim(new: Statement, old: Statement, cosine: float) -> bool:
    """Whether two say the same words, but for what carries nothing and for a part that moved as a whole."""
    one, other = new.content, old.content
    if not one or not other:
        return False
    if one == other:
        return True
    return cosine >= MERGE_COSINE and Counter(one) == Counter(other) and _is_one_move(one, other)


def _is_one_move(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one adverb, or a part that a preposition begins, stands elsewhere: no two things that changed places."""
    for start, word in enumerate(one):
        longest = _MOVED_WORDS_MAX if word in _MOVABLE else int(word.endswith("ly"))
        for end in range(start + 1, min(start + longest, len(one)) + 1):
            part, rest = one[start:end], one[:start] + one[end:]
            for place in range(len(other) - len(part) + 1):
                if other[place : place + len(part)] == part and other[:place] + other[place + len(part) :] == rest:
                    return True
    return False


_MOVED_WORDS_MAX = 4
_MOVABLE = frozenset("in on at for before after during by with from when under im am bei vor nach für auf".split())


def _places(statement: Statement) -> frozenset[str]:
    return frozenset(statement.words) & _PLACES


def _changed_by_name(new_text: str, new: Statement, old_text: str, old: Statement) -> bool:
    """Whether the new one names what it puts something else in the place of, and the old one claims just that."""
    if _places(new) != _places(old):
        return False
    for change in _CHANGES:
        found = change.search(new_text)
        if found is None:
            continue
        before, after = (statement_of(part).content for part in found.groups())
        earlier = change.search(old_text)
        if earlier is not None:  # a change that followed a change: A to B, then B to C
            return statement_of(earlier[2]).content == before
        rest = [word for word in new.content if word not in before and word not in after and word not in _CHANGE_WORDS]
        return _holds(before, old) and not _holds(after, old) and set(rest) <= set(old.content)
    return bool(new.contrast) and _holds(new.contrast, old) and _exchanged(new, old) is not None


_CHANGE_WORDS = frozenset(
    "switched moved migrated changed replaced renamed from to with by von auf umgestiegen".split()
)


def _holds(words: tuple[str, ...], statement: Statement) -> bool:
    return bool(words) and set(words) <= set(statement.words)


def _changed_value(new: Statement, old: Statement) -> bool:
    """Whether two are one sentence with one part exchanged, where only one such part can hold at a time."""
    exchanged = _exchanged(new, old)
    if _places(new) != _places(old) or exchanged is None:
        return False
    lead, value, before, rest = exchanged
    if old.contrast and tuple(word for word in value if not is_light(word)) == old.contrast:
        return True  # what was ruled out is said now
    return names_one_value(lead, value, before, rest)


def _exchanged(new: Statement, old: Statement) -> tuple[list[str], list[str], list[str], list[str]] | None:
    """Return (what stands before, the new part, the old part, what follows) of two that differ in one part."""
    one = [word for word in new.words if word not in _PASSING]
    other = [word for word in old.words if word not in _PASSING]
    spans = [
        (i, j, k, m)
        for what, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        if what != "equal" and not all(map(is_light, (*one[i:j], *other[k:m])))
    ]
    if len(spans) != 1:
        return None
    first, last, first_before, last_before = spans[0]
    value, before = one[first:last], other[first_before:last_before]
    if not value or not before or max(len(value), len(before)) > _VALUE_WORDS_MAX:
        return None
    if sum(map(is_number, value)) != sum(map(is_number, before)):
        return None
    return one[:first], value, before, one[last:]


_PASSING = frozenset("now jetzt currently a an the".split())
_VALUE_WORDS_MAX = 4
