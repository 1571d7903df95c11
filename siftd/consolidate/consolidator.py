"""The tick: what the daemon does in the background, and at once when it is asked to drain.

Every tick: take in the spool and what transcripts tell, hide what sessions redacted since in what they stored,
summarise what is raw, embed what has no vector, keep log and store in order; less often: supersede and sweep. A tick
gives summaries at most half of its period and each of the others a share of its own, counted from where it begins. Each
does one batch at least, so that neither a slow model nor a flood keeps another kind of work waiting. `drain` is the
same work without these bounds. One of both runs at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import structlog

from siftd.clock import Clock
from siftd.config import Settings
from siftd.consolidate.drain import Drainer, DrainResult, Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.indexing import BATCH as INDEX_BATCH
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.superseding import Superseder
from siftd.crash_guard import CrashGuard
from siftd.errors import SiftdError, StoreCorrupt
from siftd.store import event_index, event_views, summaries
from siftd.store.type_repair import mend_types

log = structlog.get_logger()
T = TypeVar("T")

SUMMARIES_SHARE = 0.5
OTHER_SHARE = 0.15
"""Parts of a tick's period. Arbitrary: together, with what rewriting costs, they leave time for captures."""
INDEX_PAUSE_SECONDS = 0.25
"""Captures that arrive within this are indexed together; "within a second" is the promise."""
_BURST = 256
"""Captures in one pause above which indexing leaves the processor to them for as long."""


class Consolidator:
    """Keeps summaries, vectors and indexes up with the events."""

    def __init__(
        self,
        *,
        store: Store,
        settings: Settings,
        clock: Clock,
        drainer: Drainer,
        embedding: EmbeddingQueue,
        superseder: Superseder,
        take_in: Callable[[], Awaitable[None]],
        maintenance: Callable[[], Awaitable[None]],
        hide: Callable[[], Awaitable[None]] | None = None,
        crash_guard: CrashGuard | None = None,
        on_edit: Callable[[], None] = lambda: None,
        on_damage: Callable[[], None] = lambda: None,
    ) -> None:
        """`hide` takes out of what was stored what sessions have redacted since. `on_edit` is told when a person has
        written to the database, `on_damage` when it is found damaged."""
        self._on_damage = on_damage
        self._store = store
        self._on_edit = on_edit
        self._clock = clock
        self.drainer = drainer
        self._embedding = embedding
        self.superseder = superseder
        self.take_in = take_in
        self._maintenance = maintenance
        self._hide = hide or _nothing
        self.indexer = RawIndexer(store, crash_guard)
        self._tick_seconds = settings["memory.consolidator.tickMs"] / 1000
        self._supersede_seconds = settings["memory.consolidator.supersedeMs"] / 1000
        self._superseded_at = 0.0
        self._seen_version: int | None = None
        self._lock = anyio.Lock()
        self._captured = anyio.Event()
        self._captures = 0
        self._is_stopping = False

    def note_capture(self) -> None:
        """Something was captured: its raw words are wanted soon."""
        self._captures += 1
        self._captured.set()

    def stop(self) -> None:
        """Finish the batch that runs and begin no other."""
        self._is_stopping = True
        self._captured.set()

    @property
    def is_stopping(self) -> bool:
        return self._is_stopping

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Let nothing be summarised, embedded or superseded meanwhile."""
        async with self._lock:
            yield

    async def finished(self) -> None:
        """Wait for the batch that runs."""
        async with self._lock:
            return

    async def hide(self) -> None:
        """Take out of what was stored what sessions have redacted since, and wait for the batch that runs before."""
        async with self._lock:
            await self._tried("hide", self._hide)

    async def alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Take in what waits, then do something while no batch is summarised."""
        async with self._lock:
            await self.take_in()
            return await work()

    async def run(self) -> None:
        """Tick until stopped."""
        while not self._is_stopping:
            started = self._clock.monotonic()
            await self.tick()
            await anyio.sleep(max(0.05, started + self._tick_seconds - self._clock.monotonic()))

    async def run_indexer(self) -> None:
        """Index raw events shortly after they are captured; sleeps while nothing is.

        While the database is locked, as it is during a forget, this fails four times a second: it is said once.
        """
        said = ""
        while not self._is_stopping:
            await self._captured.wait()
            self._captured = anyio.Event()
            try:
                while not self._is_stopping and await self.indexer.run() == INDEX_BATCH:
                    await self._yield_to_burst()
                said = ""
            except SiftdError as error:
                if said != (said := error.code):
                    log.warning("indexing_failed", error=error.code)
            except Exception as error:  # noqa: BLE001 - as above
                if said != (said := type(error).__name__):
                    log.error("indexing_failed", error=type(error).__name__)  # noqa: TRY400 - as above
            await anyio.sleep(INDEX_PAUSE_SECONDS)

    async def _yield_to_burst(self) -> None:
        before = self._captures
        await anyio.sleep(0.01)
        while self._captures - before > _BURST * 0.01 / INDEX_PAUSE_SECONDS and not self._is_stopping:
            before = self._captures
            await anyio.sleep(INDEX_PAUSE_SECONDS)

    async def drain(
        self,
        limit: int | None,
        on_batch: Callable[[DrainResult], Awaitable[None]],
        drainer: Drainer | None = None,
    ) -> DrainResult:
        """Summarise and embed now, at most `limit` events; a backend is asked even when its circuit is open.

        With a `drainer` its backend is the one that is asked, this time.
        """
        async with self._lock:
            drainer = drainer or self.drainer
            drainer.circuit.probe()
            result = DrainResult()
            await self.take_in()
            await self._tried("hide", self._hide)
            await self._index_new(self._goes_on)
            raw = (await self._store.read(event_views.counts))["raw"]
            limit = raw if limit is None else min(raw, limit)  # not what comes meanwhile: that may never end
            await drainer.drain(result, limit=limit, goes_on=self._goes_on, on_batch=on_batch)
            await drainer.summarise_sessions(result, goes_on=self._goes_on)
            await drainer.rewrite(result, goes_on=self._goes_on)
            result.embedded += await self._embedding.run(self._goes_on)
            await self._supersede_if_due(self._goes_on)
            result.pending = (await self._store.read(event_views.counts))["raw"]
            return result

    async def embed(self) -> int:
        """Make every vector that is missing now; return how many summaries got one."""
        async with self._lock:
            return await self._embedding.run(self._goes_on)

    async def tick(self) -> None:
        async with self._lock:
            result = DrainResult()
            for name, stage in self._stages(result):
                if not self._is_stopping or name == "upkeep":
                    await self._tried(name, stage)
            if result.processed or result.errors or result.embedded:
                log.info("tick", summarized=result.processed, errors=result.errors, embedded=result.embedded)

    def _stages(self, result: DrainResult) -> list[tuple[str, Callable[[], Awaitable[object]]]]:
        """Return the kinds of work of one tick, in their order; `result` grows as they are done."""
        drainer = self.drainer
        return [
            ("take in", self.take_in),
            ("hide", self._hide),
            ("index", lambda: self._index_new(self._for(OTHER_SHARE))),
            ("summarise", lambda: drainer.drain(result, limit=None, goes_on=self._for(SUMMARIES_SHARE))),
            ("sessions", lambda: drainer.summarise_sessions(result, goes_on=self._for(OTHER_SHARE))),
            ("rewrite", lambda: drainer.rewrite(result, goes_on=self._for(OTHER_SHARE))),
            ("embed", lambda: self._embed(result)),
            ("supersede", lambda: self._supersede_if_due(self._for(OTHER_SHARE))),
            ("upkeep", self._maintenance),
        ]

    async def _tried(self, name: str, stage: Callable[[], Awaitable[object]]) -> None:
        """Do one kind of work. What fails costs no other: erasing what was forgotten waits for no summary."""
        try:
            await stage()
        except StoreCorrupt as error:
            log.warning("tick_failed", stage=name, error=error.code)
            self._on_damage()
        except SiftdError as error:  # a person holds the database's lock: the next tick goes on
            log.warning("tick_failed", stage=name, error=error.code)
        except Exception as error:  # noqa: BLE001 - a stage's boundary: its fault must not end capture
            log.error("tick_failed", stage=name, error=type(error).__name__)  # noqa: TRY400 - a traceback may quote text

    async def _embed(self, result: DrainResult) -> None:
        result.embedded = await self._embedding.run(self._for(OTHER_SHARE))

    def _for(self, share: float) -> Callable[[], bool]:
        """Return what is true until this share of a tick, from now on, is over."""
        deadline = self._clock.monotonic() + self._tick_seconds * share
        return lambda: self._goes_on() and self._clock.monotonic() < deadline

    async def _index_new(self, goes_on: Callable[[], bool]) -> None:
        """Index what nobody announced, events that a person inserted; not what comes meanwhile, which may never end."""
        newest = await self._store.read(event_index.newest)
        while self.indexer.upto < newest and await self.indexer.run() and goes_on():
            pass

    async def _supersede_if_due(self, goes_on: Callable[[], bool]) -> None:
        """Supersede, if it is time; what a share of time does not suffice for goes on at the next tick."""
        now = self._clock.monotonic()
        if now - self._superseded_at < self._supersede_seconds and self._superseded_at:
            return
        hidden = await self.superseder.run(goes_on)
        if goes_on():
            self._superseded_at = now
        await self._mend_what_was_edited(goes_on)
        if hidden:
            log.info("superseded", hidden=hidden)

    async def _mend_what_was_edited(self, goes_on: Callable[[], bool]) -> None:
        """Sweep and index what a person changed by hand; looks at every row, so only when somebody else has written."""
        version = await self._store.write(summaries.data_version)
        if version != self._seen_version:
            self._on_edit()
            await self._store.write(mend_types)
            await self._store.write(summaries.sweep_orphans)
            if await self.indexer.run_all(goes_on):
                self._seen_version = version

    def _goes_on(self) -> bool:
        return not self._is_stopping


async def _nothing() -> None:
    """There is nothing to do."""
