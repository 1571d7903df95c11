"""The kinds of background work, one object each: what a tick and a drain do, in the order of their list.

To add one, write a class with `name`, `share` and `run`, and put it into the list in `siftd.daemon.services`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from siftd.clock import Clock
from siftd.consolidate.drain import Drainer, DrainResult, Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.superseding import Superseder
from siftd.store import event_index, event_views, summaries
from siftd.store.connection import data_version
from siftd.store.type_repair import mend_types

log = structlog.get_logger()

SUMMARIES_SHARE = 0.5
OTHER_SHARE = 0.15
"""Parts of a tick's period. Arbitrary: together, with what rewriting costs, they leave time for captures."""


async def _watched_by_nobody(_: DrainResult) -> None:
    """Nobody wants to know how far it is."""


@dataclass
class Round:
    """One tick or one drain, as its passes see it."""

    drainer: Drainer
    goes_on: Callable[[], bool] = lambda: True
    """Whether there is time for another batch; each pass does one at least."""
    result: DrainResult = field(default_factory=DrainResult)
    """What was done so far."""
    is_drain: bool = False
    """Whether somebody waits for all of it: no bound but `limit`."""
    limit: int | None = None
    """At most so many events are summarised by a drain."""
    on_batch: Callable[[DrainResult], Awaitable[None]] = _watched_by_nobody


class Pass(Protocol):
    """One kind of work."""

    @property
    def name(self) -> str:
        """As the daemon's log calls it."""

    @property
    def share(self) -> float:
        """The part of a tick's period that it gets, from when it begins; 0: it bounds itself."""

    async def run(self, work: Round) -> None:
        """Do what is to be done now. What it raises costs no other pass of a tick, and ends a drain."""


@dataclass(frozen=True)
class Task:
    """Work that bounds itself: taking in what couriers and transcripts hold."""

    name: str
    do: Callable[[], Awaitable[None]]
    share = 0.0

    async def run(self, work: Round) -> None:  # noqa: ARG002 - it bounds itself
        await self.do()


@dataclass(frozen=True)
class TickTask(Task):
    """Work that no drain waits for: keeping log and store in order. A tick does it even when it is to end."""

    async def run(self, work: Round) -> None:
        if not work.is_drain:
            await self.do()


@dataclass(frozen=True)
class RiskyTask(Task):
    """Work whose failure ends no drain: what sessions have redacted since is hidden at the next tick, too."""

    on_failure: Callable[[str, Exception], None]

    async def run(self, work: Round) -> None:
        try:
            await self.do()
        except Exception as error:
            if not work.is_drain:
                raise
            self.on_failure(self.name, error)


class Indexing:
    """What nobody announced, events that a person inserted; not what comes meanwhile, which may never end."""

    name = "index"
    share = OTHER_SHARE

    def __init__(self, store: Store, indexer: RawIndexer) -> None:
        self._store = store
        self._indexer = indexer

    async def run(self, work: Round) -> None:
        newest = await self._store.read(event_index.newest)
        while self._indexer.upto < newest and await self._indexer.run() and work.goes_on():
            pass


class Summarising:
    """What is raw."""

    name = "summarise"
    share = SUMMARIES_SHARE

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, work: Round) -> None:
        limit = None
        if work.is_drain:  # not what comes meanwhile: that may never end
            raw = (await self._store.read(event_views.counts))["raw"]
            limit = raw if work.limit is None else min(raw, work.limit)
        await work.drainer.drain(work.result, limit=limit, goes_on=work.goes_on, on_batch=work.on_batch)


class SessionSummarising:
    """Sessions that are over."""

    name = "sessions"
    share = OTHER_SHARE

    async def run(self, work: Round) -> None:
        await work.drainer.summarise_sessions(work.result, goes_on=work.goes_on)


class Rewriting:
    """What stood in for a backend that was away."""

    name = "rewrite"
    share = OTHER_SHARE

    async def run(self, work: Round) -> None:
        await work.drainer.rewrite(work.result, goes_on=work.goes_on)


class Embedding:
    """What has no vector."""

    name = "embed"
    share = OTHER_SHARE

    def __init__(self, embedding: EmbeddingQueue) -> None:
        self._embedding = embedding

    async def run(self, work: Round) -> None:
        work.result.embedded += await self._embedding.run(work.goes_on)


class Superseding:
    """Near-duplicates, once in a while; and then what a person changed by hand, which takes a look at every row."""

    name = "supersede"
    share = OTHER_SHARE

    def __init__(
        self,
        store: Store,
        superseder: Superseder,
        indexer: RawIndexer,
        clock: Clock,
        *,
        every_seconds: float,
        on_edit: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_edit` is called when somebody else has written to the database."""
        self._store = store
        self._superseder = superseder
        self._indexer = indexer
        self._clock = clock
        self._every_seconds = every_seconds
        self._on_edit = on_edit
        self._done_at = 0.0
        self._seen_version: int | None = None

    async def run(self, work: Round) -> None:
        """Supersede, if it is time; what a share of time does not suffice for goes on at the next tick."""
        now = self._clock.monotonic()
        if now - self._done_at < self._every_seconds and self._done_at:
            return
        hidden = await self._superseder.run(work.goes_on)
        if work.goes_on():
            self._done_at = now
        await self._mend_what_was_edited(work.goes_on)
        if hidden:
            log.info("superseded", hidden=hidden)

    async def _mend_what_was_edited(self, goes_on: Callable[[], bool]) -> None:
        version = await self._store.write(data_version)
        if version != self._seen_version:
            self._on_edit()
            await self._store.write(mend_types)
            await self._store.write(summaries.sweep_orphans)
            if await self._indexer.run_all(goes_on):
                self._seen_version = version
