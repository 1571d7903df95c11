"""Facts from what happened: taken from a turn's words once it is over. Background work, never a hook's.

What was looked at is noted by an id in `meta`, and what comes late counts when it comes. A second look finds the same
candidates, and whoever keeps them knows them again; so that nothing is lost by a daemon that ends in between, the id is
noted after they were kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby

from siftd.clock import Clock
from siftd.consolidate.drain import SESSION_IDLE_MS, Store
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.facts.extraction import extract
from siftd.facts.model import Candidate, Said, Turn
from siftd.search.standing import REFUSED
from siftd.store import meta, spoken
from siftd.store.spoken import Spoken

LOOKED_AT = "facts_taken_upto"
"""In `meta`: up to this event, what was said in turns that are over was looked at."""
_BATCH = 256

Propose = Callable[[Sequence[Candidate]], Awaitable[object]]
"""Takes candidates in, again and again without a change."""


class FactExtraction:
    """Takes facts from the words of turns that are over."""

    name = "facts"
    share = OTHER_SHARE

    def __init__(self, store: Store, propose: Propose, clock: Clock) -> None:
        self._store = store
        self._propose = propose
        self._clock = clock
        self._ahead: set[int] = set()
        """What was looked at beyond the noted id: turns that ended before others that had begun earlier."""

    async def run(self, work: Round) -> None:
        """Look at what is over; a tick that has no time left goes on at the next."""
        after = noted = await self._store.read(lambda c: meta.number(c, LOOKED_AT))
        waits = False
        while True:
            idle_since = self._clock.now_ms() - SESSION_IDLE_MS
            said = await self._store.read(lambda c, a=after, i=idle_since: spoken.list_spoken(c, a, i, REFUSED, _BATCH))  # type: ignore[misc]
            fresh = [each for each in said if each.is_over and each.event_id not in self._ahead]
            candidates = [each for turn in turns_of(fresh) for each in extract(turn)]
            if candidates:
                await self._propose(candidates)
            self._ahead.update(each.event_id for each in fresh)
            if not waits:
                first = next((each.event_id for each in said if not each.is_over), None)
                noted = first - 1 if first is not None else said[-1].event_id if said else noted
                waits = first is not None
                await self._note(noted)
            if len(said) < _BATCH or not work.goes_on():
                return
            after = said[-1].event_id

    async def _note(self, event_id: int) -> None:
        self._ahead = {each for each in self._ahead if each > event_id}
        if await self._store.read(lambda c: meta.number(c, LOOKED_AT)) < event_id:
            await self._store.write(lambda c: meta.put(c, LOOKED_AT, str(event_id)))


def turns_of(said: Sequence[Spoken]) -> list[Turn]:
    """Return the turns that events are of, in order of time: what was said last is to be judged last."""
    return sorted(_of_sessions(said), key=lambda turn: turn.events[0].ts)


def _of_sessions(said: Sequence[Spoken]) -> Iterator[Turn]:
    ordered = sorted((each for each in said if each.text), key=lambda each: (each.session_id, each.ts, each.event_id))
    for session_id, of_session in groupby(ordered, key=lambda each: each.session_id):
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
