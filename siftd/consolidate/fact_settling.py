"""What becomes of facts with time: a session's become the project's, and what nobody uses is put away.

A session's facts become the project's once it is over: those that were used, confirmed, said again, or matter much. One
that nobody has used for long and that matters little is archived where the configuration says so: it is found no more
until somebody says it again, and a person brings it back with `mem verify --confirmed`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from siftd.clock import Clock
from siftd.config import MS_PER_DAY
from siftd.consolidate.drain import SESSION_IDLE_MS, Store
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.store import fact_uses

EVERY_MS = 60_000
"""How often it is looked for: uses are counted over the whole ledger."""
_BATCH = 64

Keep = Callable[[str, dict[str, Any]], Awaitable[int]]
"""Keeps an intent."""


class FactSettling:
    """Counts what came of facts, and moves them."""

    name = "settle facts"
    share = OTHER_SHARE

    def __init__(self, store: Store, keep: Keep, clock: Clock, *, archive_days: int | None) -> None:
        """`archive_days`: after so many days without use what matters little is archived; None: never."""
        self._store = store
        self._keep = keep
        self._clock = clock
        self._archive_days = archive_days
        self._next_ms = 0

    async def run(self, work: Round) -> None:
        """Do what is due; a tick that has no time left goes on at the next."""
        now_ms = self._clock.now_ms()
        if now_ms < self._next_ms and not work.is_drain:
            return
        idle_since = now_ms - SESSION_IDLE_MS
        while await self._store.write(lambda c: fact_uses.count_uses(c, idle_since, _BATCH)) == _BATCH:
            if not work.goes_on():
                return
        for fact_id, why in await self._store.read(lambda c: fact_uses.list_promotions(c, idle_since, _BATCH)):
            await self._keep("verdict", {"fact": fact_id, "what": "promote", "who": "use", "why": why})
        if self._archive_days is not None:
            since = now_ms - self._archive_days * MS_PER_DAY
            for fact_id in await self._store.read(lambda c: fact_uses.list_unused(c, since, _BATCH)):
                why = f"nobody has used it for {self._archive_days} days"
                await self._keep("verdict", {"fact": fact_id, "what": "archive", "who": "use", "why": why})
        self._next_ms = now_ms + EVERY_MS
