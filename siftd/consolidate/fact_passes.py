"""Facts from what happened: taken from a turn's words once it is over. Background work, never a hook's.

What was looked at is noted by an id in `meta`, and what comes late counts when it comes. A second look finds the same
candidates, and whoever keeps them knows them again; so that nothing is lost by a daemon that ends in between, the id is
noted after they were kept.

A configured model is asked once about a turn for what no rule finds, and once about its pairs for what no rule tells;
what it says is checked against the words (`siftd.summarise.fact_answers`). Without an answer the rules stand alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Protocol

from siftd.clock import Clock
from siftd.consolidate.deeds import DeedReader
from siftd.consolidate.drain import SESSION_IDLE_MS, Drainer, Store
from siftd.consolidate.learnt import Withdrawn, learn_commands, learn_errors, learn_files
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.facts.extraction import extract
from siftd.facts.model import Candidate, Known, Said, Turn, Verdict
from siftd.search.standing import REFUSED
from siftd.store import deeds, meta, spoken
from siftd.store.spoken import Spoken
from siftd.summarise import fact_answers
from siftd.summarise.fact_answers import Pair

LOOKED_AT = "facts_taken_upto"
"""In `meta`: up to this event, what was said in turns that are over was looked at."""
_BATCH = 256
ASKED_A_ROUND = 16
"""Turns that a model is asked about in one tick or drain; of a longer backlog the others are read by rules alone."""

Judged = Mapping[tuple[str, str], Verdict]
"""What a model says of pairs, by the texts of candidate and known fact."""


class Keeper(Protocol):
    """Takes candidates in, again and again without a change."""

    async def propose(self, candidates: Sequence[Candidate], judged: Judged | None = None) -> object: ...

    async def neighbours(self, candidate: Candidate) -> Sequence[Known]:
        """Return the known facts beside which a candidate will be judged."""


class FactExtraction:
    """Takes facts from the words of turns that are over."""

    name = "facts"
    share = OTHER_SHARE

    def __init__(self, store: Store, keeper: Keeper, clock: Clock) -> None:
        self._store = store
        self._keeper = keeper
        self._clock = clock
        self._ahead: set[int] = set()
        """What was looked at beyond the noted id: turns that ended before others that had begun earlier."""

    async def run(self, work: Round) -> None:
        """Look at what is over; a tick that has no time left goes on at the next."""
        after = await self._store.read(lambda c: meta.number(c, LOOKED_AT))
        asked = 0
        waits = False
        while True:
            idle_since = self._clock.now_ms() - SESSION_IDLE_MS
            said = await self._store.read(lambda c, a=after, i=idle_since: spoken.list_spoken(c, a, i, REFUSED, _BATCH))  # type: ignore[misc]
            fresh = [each for each in said if each.is_over and each.event_id not in self._ahead]
            for turn in turns_of(fresh):
                asked += await self._take(turn, work.drainer, may_ask=asked < ASKED_A_ROUND)
            self._ahead.update(each.event_id for each in fresh)
            if said and not waits:
                first = next((each.event_id for each in said if not each.is_over), None)
                await self._note(said[-1].event_id if first is None else first - 1)
                waits = first is not None
            if len(said) < _BATCH or not work.goes_on():
                return
            after = said[-1].event_id

    async def _take(self, turn: Turn, drainer: Drainer, *, may_ask: bool) -> bool:
        """Propose what a turn states; return whether a model was asked."""
        candidates = extract(turn)
        answer = None
        if may_ask and fact_answers.is_worth_asking(turn):
            answer = await drainer.ask_model(fact_answers.prompt_for_turn(turn))
        if answer is None:
            if candidates:
                await self._keeper.propose(candidates)
            return False
        candidates = _joined(candidates, fact_answers.read_candidates(answer, turn))
        if candidates:
            await self._keeper.propose(candidates, await self._judged(candidates, drainer))
        return True

    async def _judged(self, candidates: Sequence[Candidate], drainer: Drainer) -> Judged:
        """Ask about all pairs of a turn at once; what is not answered is left to the rules."""
        pairs = [Pair(each, known) for each in candidates for known in await self._keeper.neighbours(each)]
        pairs = pairs[: fact_answers.PAIRS_MAX]
        answer = await drainer.ask_model(fact_answers.prompt_for_pairs(pairs)) if pairs else None
        verdicts = {} if answer is None else fact_answers.read_verdicts(answer, pairs)
        return {(pairs[at].candidate.text, pairs[at].known.text): verdict for at, verdict in verdicts.items()}

    async def _note(self, event_id: int) -> None:
        self._ahead = {each for each in self._ahead if each > event_id}
        if await self._store.read(lambda c: meta.number(c, LOOKED_AT)) < event_id:
            await self._store.write(lambda c: meta.put(c, LOOKED_AT, str(event_id)))


def _joined(by_rule: Sequence[Candidate], by_model: Sequence[Candidate]) -> list[Candidate]:
    """Return what rules found, and of what a model found that which stands on other words."""
    more = [
        each
        for each in by_model
        if not any(
            each.sources == found.sources and (each.quote in found.quote or found.quote in each.quote)
            for found in by_rule
        )
    ]
    return [*by_rule, *more]


def turns_of(said: Sequence[Spoken]) -> list[Turn]:
    """Return the turns that events are of, in order of time: what was said last is to be judged last."""
    return sorted(_of_sessions(said), key=lambda turn: turn.events[0].ts)


def _of_sessions(said: Sequence[Spoken]) -> Iterator[Turn]:
    spoken_in_order = sorted(
        (each for each in said if each.text), key=lambda each: (each.session_id, each.ts, each.event_id)
    )
    for session_id, of_session in groupby(spoken_in_order, key=lambda each: each.session_id):
        turn: list[Spoken] = []
        for each in of_session:
            if turn and (each.kind == "prompt" or turn[-1].kind == "turn_end"):
                yield _turn(session_id, turn)
                turn = []
            turn.append(each)
        if turn:
            yield _turn(session_id, turn)


def _turn(session_id: str, said: Sequence[Spoken]) -> Turn:
    events = (Said(each.event_id, each.ts, each.kind, each.said_by, each.text) for each in said)
    return Turn(session_id, said[0].client, tuple(events))


Propose = Callable[[Sequence[Candidate]], Awaitable[object]]
"""Takes candidates in, again and again without a change."""
Withdraw = Callable[[Sequence[Withdrawn]], Awaitable[object]]
"""Ends the facts of topics of which nothing holds any more."""
LEARNING_EVERY_SECONDS = 600.0
"""What was done changes slowly, and a drain does not wait for it. Arbitrary."""


class FactLearning:
    """Learns from what was done: once in a while, of the topics of which something new happened."""

    name = "learn"
    share = OTHER_SHARE

    def __init__(self, store: Store, propose: Propose, withdraw: Withdraw, clock: Clock, root: str) -> None:
        self._store = store
        self._propose = propose
        self._withdraw = withdraw
        self._clock = clock
        self._root = root
        self._reader = DeedReader(store, root)
        self._done_at: float | None = None

    async def run(self, work: Round) -> None:
        """Note what was done since, and learn of it; what there is no time for is done at a later tick."""
        if not await self._reader.run(work.goes_on):
            return
        now = self._clock.monotonic()
        if not work.is_drain and self._done_at is not None and now - self._done_at < LEARNING_EVERY_SECONDS:
            return
        self._done_at = now
        after, upto = await self._store.read(
            lambda c: (meta.number(c, deeds.LEARNT_UPTO), meta.number(c, deeds.READ_UPTO))
        )
        if upto <= after:
            return
        for topic in await self._store.read(lambda c: deeds.topics_between(c, after, upto)):
            found, withdrawn = await self._store.read(lambda c, t=topic: learn_commands(c, [t]))  # type: ignore[misc]
            await self._keep(found, withdrawn)
        await self._keep(await self._store.read(lambda c: learn_errors(c, after, upto)), [])
        await self._keep(await self._store.read(lambda c: learn_files(c, self._root)), [])
        await self._store.write(lambda c: meta.put(c, deeds.LEARNT_UPTO, str(upto)))

    async def _keep(self, found: Sequence[Candidate], withdrawn: Sequence[Withdrawn]) -> None:
        if found:
            await self._propose(found)
        if withdrawn:
            await self._withdraw(withdrawn)
