"""Facts that nobody asked to keep: what was taken from words, or learnt from deeds, beside what is known.

A candidate is a new fact, one more source of a known one, the newer value of one, or its opposite. A judge says which;
what it says is done only as far as the rules here let it: a person's word yields to a person's word alone, what is
older replaces nothing newer, and nothing is deleted. One candidate is taken at a time, with `FactWrites`, so that what
the judge was shown is what the record changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.consolidate.learnt import Withdrawn
from siftd.daemon.fact_checks import cleaned, says_something
from siftd.daemon.fact_writes import FactWrites
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.facts.model import Candidate, Known, Verdict
from siftd.facts.verdicts import NEIGHBOUR_COSINE, NEIGHBOURS_MAX, may_be
from siftd.store import exchange, fact_neighbours
from siftd.store.access import Database
from siftd.store.fact_neighbours import Evidence, Neighbour

_PERSONAL = frozenset({"preference", "decision", "convention", "constraint", "workflow", "instruction"})
"""Categories of what somebody wants. What a page or a file says is nobody's wish here."""
_CONFIDENCE_MAX = 0.99

Judge = Callable[[Candidate, Sequence[Known]], Verdict]


def add_all(_: Candidate, __: Sequence[Known]) -> Verdict:
    """Judge that every candidate is a fact of its own: what is done where nobody can tell."""
    return Verdict(kind="add", target=None, why="nothing to judge by")


@dataclass
class Proposed:
    """What became of candidates: the ids of facts, and how many said nothing that may be kept."""

    added: list[int] = field(default_factory=list)
    merged: list[int] = field(default_factory=list)
    superseded: list[int] = field(default_factory=list)
    contradicted: list[int] = field(default_factory=list)
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    evidence: Evidence
    is_forgotten: bool
    same: int | None
    neighbours: list[Neighbour]


class FactProposals:
    """Takes candidates in for one workspace."""

    def __init__(
        self,
        *,
        writes: FactWrites,
        store: StoreAccess,
        intents: Intents,
        intake: Intake,
        clock: Clock,
        judge: Judge = add_all,
    ) -> None:
        self._writes = writes
        self._store = store
        self._intents = intents
        self._intake = intake
        self._clock = clock
        self._judge = judge

    async def propose(
        self, candidates: Sequence[Candidate], judged: Mapping[tuple[str, str], Verdict] | None = None
    ) -> Proposed:
        """Take each in, in their order, and return what became of them.

        `judged` is what a model says of pairs, by their texts: it counts where no rule tells, the two still say this,
        and their words bear it out. Again with the same candidates nothing changes. Raises LogError when nothing can be
        kept.
        """
        proposed = Proposed()
        for candidate in candidates:
            async with self._writes.turn:
                await self._take(candidate, judged or {}, proposed)
        return proposed

    async def neighbours(self, candidate: Candidate) -> list[Known]:
        """Return the known facts beside which a candidate would be judged now."""
        now_ms = self._clock.now_ms()
        text = self._intake.admission.scrub_text(cleaned(candidate.text))
        found = await self._store.read(lambda c: self._find(c, candidate, text, now_ms))
        return [] if found is None else [each.known for each in found.neighbours]

    async def withdraw(self, ended: Sequence[Withdrawn]) -> None:
        """End what is known of topics of which nothing holds any more, but for what a person said or confirmed."""
        for each in ended:
            async with self._writes.turn:
                await self._writes.catch_up()
                now_ms = self._clock.now_ms()
                for neighbour in await self._store.read(lambda c, e=each, n=now_ms: _of_topic(c, e.topic, n)):  # type: ignore[misc]
                    if neighbour.is_a_persons:
                        continue
                    fields: dict[str, Any] = {
                        "fact": neighbour.known.id,
                        "what": "contradict",
                        "who": "rule",
                        "why": each.why,
                        "sources": list(each.sources),
                        "ts": min(each.ts, now_ms),
                    }
                    await self._intents.keep("verdict", fields)

    async def _take(self, candidate: Candidate, judged: Mapping[tuple[str, str], Verdict], proposed: Proposed) -> None:
        text = self._intake.admission.scrub_text(cleaned(candidate.text))
        if not says_something(text) or _is_nobodys(candidate):
            proposed.dropped += 1
            return
        await self._writes.catch_up()
        now_ms = self._clock.now_ms()
        found = await self._store.read(lambda c: self._find(c, candidate, text, now_ms))
        if found is None or found.is_forgotten:
            proposed.dropped += 1
            return
        if found.same is not None:
            await self._merge(found.same, candidate, found, "the same words", proposed)
            return
        await self._do(self._verdict(candidate, judged, found), candidate, text, found, proposed)

    def _find(self, connection: Database, candidate: Candidate, text: str, now_ms: int) -> _Found | None:
        evidence = fact_neighbours.find_evidence(connection, candidate.sources)
        if evidence is None:
            return None
        if candidate.topic is not None:
            near = [(each, 1.0) for each in fact_neighbours.list_of_topic(connection, candidate.topic, now_ms)]
        else:
            near = [each for each in self._writes.near(connection, text, now_ms) if each[1] >= NEIGHBOUR_COSINE]
        return _Found(
            evidence,
            exchange.is_forgotten_fact(connection, self._uid(evidence, candidate)),
            fact_neighbours.find_same(connection, text, candidate.topic, now_ms),
            fact_neighbours.find_neighbours(connection, near, now_ms)[:NEIGHBOURS_MAX],
        )

    def _uid(self, evidence: Evidence, candidate: Candidate) -> str:
        return self._intake.admission.fact_uid(evidence.session_id, evidence.uid, candidate.text)

    def _verdict(self, candidate: Candidate, judged: Mapping[tuple[str, str], Verdict], found: _Found) -> Verdict:
        """Return what is to be done; to add is what is done when a verdict may not be followed."""
        if not found.neighbours:
            return add_all(candidate, ())
        if candidate.topic is not None:
            verdict = Verdict(kind="update", target=found.neighbours[0].known.id, why=f"newer of {candidate.topic}")
        else:
            known = [each.known for each in found.neighbours]
            verdict = self._judge(candidate, known)
            if verdict.kind == "add":
                verdict = _borne_out(candidate, judged, known) or verdict
        target = _neighbour(found, verdict.target)
        if target is None:
            return add_all(candidate, ())
        is_ending = verdict.kind in ("update", "delete")
        if is_ending and target.is_a_persons and candidate.said_by != "person":
            return Verdict(kind="add", target=None, why="a person said otherwise")
        return verdict

    async def _do(self, verdict: Verdict, candidate: Candidate, text: str, found: _Found, proposed: Proposed) -> None:
        target = _neighbour(found, verdict.target)
        if target is None or verdict.kind == "add":
            proposed.added.append(await self._add(candidate, text, found))
        elif verdict.kind == "merge":
            await self._merge(target.known.id, candidate, found, verdict.why, proposed)
        elif candidate.valid_from < target.since:
            if verdict.kind == "update":  # what was true before: it is history from the beginning
                await self._add(candidate, text, found, until=target.since, successor=target.known.id)
                proposed.superseded.append(target.known.id)
        elif verdict.kind == "update":
            added = await self._add(candidate, text, found, supersedes=target.known.id)
            await self._say("supersede", target.known.id, candidate, found, verdict.why, by=added)
            proposed.added.append(added)
            proposed.superseded.append(target.known.id)
        else:  # what ends a fact is one itself: "never squash" must not be lost with "always squash"
            added = await self._add(candidate, text, found)
            await self._say("contradict", target.known.id, candidate, found, verdict.why, by=added)
            proposed.added.append(added)
            proposed.contradicted.append(target.known.id)

    async def _merge(self, target: int, candidate: Candidate, found: _Found, why: str, proposed: Proposed) -> None:
        """Give a fact one more source; what it has already changes nothing."""
        if not await self._store.read(lambda c: fact_neighbours.is_cited(c, target, found.evidence.events)):
            await self._say("merge", target, candidate, found, why)
        proposed.merged.append(target)

    async def _add(
        self,
        candidate: Candidate,
        text: str,
        found: _Found,
        *,
        supersedes: int | None = None,
        until: int | None = None,
        successor: int | None = None,
    ) -> int:
        evidence = found.evidence
        since = min(candidate.valid_from, self._clock.now_ms())
        fields: dict[str, Any] = {
            "uid": self._uid(evidence, candidate),
            "ts": since,
            "category": candidate.category,
            "text": text,
            "importance": candidate.importance,
            "confidence": candidate.confidence,
            "from": since,
            "until": until,
            "origin": "extracted" if candidate.quote else "learnt",
            "scope": "session" if candidate.quote else "project",
            "topic": candidate.topic,
            "quote": candidate.quote or None,
            "client": evidence.client,
            "sources": list(evidence.events),
            "saidBy": candidate.said_by,
            "waits": False,
            "supersedes": supersedes,
            "status": None if successor is None else "superseded",
            "supersededBy": successor,
        }
        payload = {name: value for name, value in fields.items() if value is not None}
        fact_id = await self._intents.keep("remember", payload, session_id=evidence.session_id)
        await self._writes.embed()
        return fact_id

    async def _say(
        self, what: str, target: int, candidate: Candidate, found: _Found, why: str, *, by: int | None = None
    ) -> None:
        fields: dict[str, Any] = {
            "fact": target,
            "what": what,
            "by": by,
            "who": "person" if candidate.said_by == "person" and what != "merge" else "rule",
            "why": why,
            "ts": min(candidate.valid_from, self._clock.now_ms()),
        }
        if what == "merge":
            known = _neighbour(found, target)
            before = (known.known.confidence if known else None) or 0.0
            fields["confidence"] = round(min(1 - (1 - before) * (1 - candidate.confidence), _CONFIDENCE_MAX), 4)
        if what != "supersede":
            fields["sources"] = list(found.evidence.events)
        payload = {name: value for name, value in fields.items() if value is not None}
        await self._intents.keep("verdict", payload, session_id=found.evidence.session_id)


def _is_nobodys(candidate: Candidate) -> bool:
    """Whether a wish is taken from what nobody here said: a page, a file, a command's output."""
    is_quoted = bool(candidate.quote)
    return is_quoted and candidate.said_by in ("output", "outside") and candidate.category in _PERSONAL


def _borne_out(
    candidate: Candidate, judged: Mapping[tuple[str, str], Verdict], known: Sequence[Known]
) -> Verdict | None:
    """Return the first verdict of a model that the words of both do not speak against."""
    for each in known:
        verdict = judged.get((candidate.text, each.text))
        if verdict is not None and verdict.kind != "add" and may_be(verdict.kind, candidate, each):
            return Verdict(verdict.kind, each.id, verdict.why)
    return None


def _of_topic(connection: Database, topic: str, now_ms: int) -> list[Neighbour]:
    near = [(each, 1.0) for each in fact_neighbours.list_of_topic(connection, topic, now_ms)]
    return fact_neighbours.find_neighbours(connection, near, now_ms)


def _neighbour(found: _Found, fact_id: int | None) -> Neighbour | None:
    return next((each for each in found.neighbours if each.known.id == fact_id), None)
