"""The tick: what the daemon does in the background, and at once when it is asked to drain.

Both go through the passes (`siftd.consolidate.passes`) in their order. A tick gives each a share of its period, counted
from where it begins, and each does one batch at least, so that neither a slow model nor a flood keeps another kind of
work waiting. `drain` is the same work without these bounds. One of both runs at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import structlog

from siftd.clock import Clock
from siftd.consolidate.drain import Drainer, DrainResult, Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.indexing import BATCH as INDEX_BATCH
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.passes import Pass, Round, TickTask
from siftd.errors import SiftdError, StoreCorrupt
from siftd.store import event_views

log = structlog.get_logger()
T = TypeVar("T")

TAKE_IN = "take in"
"""The pass that takes in what waits."""
HIDE = "hide"
"""The pass that takes out of what was stored what sessions have redacted since."""
CHUNK = "chunk"
"""The pass that makes the chunks of documents."""
NOTES = "index notes"
"""The pass that reads files of notes which have changed."""

FAILURES_REPORTED = 3
"""Failures in a row from which on a person hears of them: a lock on the database is over sooner."""
INDEX_PAUSE_SECONDS = 0.25
"""Captures that arrive within this are indexed together; "within a second" is the promise."""
_BURST = 256
"""Captures in one pause above which indexing leaves the processor to them for as long."""


class Consolidator:
    """Keeps summaries, vectors and indexes up with the events."""

    def __init__(
        self,
        *,
        passes: Sequence[Pass],
        store: Store,
        clock: Clock,
        tick_seconds: float,
        find_drainer: Callable[[], Drainer],
        indexer: RawIndexer,
        embedding: EmbeddingQueue,
        on_damage: Callable[[], None] = lambda: None,
        on_drained: Callable[[DrainResult], object] = lambda _: None,
    ) -> None:
        """`passes` are what a tick and a drain do, in their order; `on_damage` is told when the database is found
        damaged, `on_drained` what a tick or a drain has done, if it was anything."""
        self.passes = {each.name: each for each in passes}
        self._store = store
        self._clock = clock
        self._tick_seconds = tick_seconds
        self._find_drainer = find_drainer
        self.indexer = indexer
        self._embedding = embedding
        self._on_damage = on_damage
        self._on_drained = on_drained
        self._lock = anyio.Lock()
        self._captured = anyio.Event()
        self._captures = 0
        self._is_stopping = False
        self._failed: dict[str, tuple[int, str]] = {}

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

    async def do(self, name: str) -> None:
        """Do one pass now, after the batch that runs; what fails is in the daemon's log."""
        async with self._lock:
            await self._try(self.passes[name], Round(self._find_drainer(), self._goes_on))

    async def alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Take in what waits, then do something while no batch is summarised."""
        async with self._lock:
            await self.passes[TAKE_IN].run(Round(self._find_drainer(), self._goes_on))
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
            drainer = drainer or self._find_drainer()
            drainer.circuit.probe()
            work = Round(drainer, self._goes_on, is_drain=True, limit=limit, on_batch=on_batch)
            for each in self.passes.values():
                await each.run(work)
            work.result.pending = (await self._store.read(event_views.counts))["raw"]
            self._on_drained(work.result)
            return work.result

    async def embed(self, on_batch: Callable[[int], object] = lambda _: None) -> int:
        """Make every vector that is missing now; return how many summaries got one. `on_batch` is told meanwhile."""
        async with self._lock:
            return await self._embedding.run(self._goes_on, on_batch)

    async def tick(self) -> None:
        """Do each pass for its share of the period."""
        async with self._lock:
            result = DrainResult()
            for each in self.passes.values():
                if not self._is_stopping or isinstance(each, TickTask):
                    goes_on = self._for(each.share) if each.share else self._goes_on
                    await self._try(each, Round(self._find_drainer(), goes_on, result))
            if result.processed or result.errors or result.embedded:
                log.info("tick", summarized=result.processed, errors=result.errors, embedded=result.embedded)
                self._on_drained(result)

    async def _try(self, each: Pass, work: Round) -> None:
        """Do one pass. What fails costs no other: erasing what was forgotten waits for no summary."""
        try:
            await each.run(work)
            self._failed.pop(each.name, None)
        except Exception as error:  # noqa: BLE001 - a pass's boundary: its fault must not end capture
            self.note_failure(each.name, error)

    def note_failure(self, name: str, error: Exception) -> None:
        """Log that a pass failed. A person's lock on the database is over by the next tick."""
        if isinstance(error, StoreCorrupt):
            self._on_damage()
        code = error.code if isinstance(error, SiftdError) else type(error).__name__
        self._failed[name] = (self._failed.get(name, (0, ""))[0] + 1, code)
        if isinstance(error, SiftdError):
            log.warning("tick_failed", stage=name, error=code)
        else:
            log.error("tick_failed", stage=name, error=code)

    def problems(self) -> list[str]:
        """Return what fails tick after tick, for a person: nobody else would hear of it."""
        return [
            f"the work `{name}` has failed {times} times in a row ({code})"
            for name, (times, code) in self._failed.items()
            if times >= FAILURES_REPORTED
        ]

    def _for(self, share: float) -> Callable[[], bool]:
        """Return what is true until this share of a tick, from now on, is over."""
        deadline = self._clock.monotonic() + self._tick_seconds * share
        return lambda: self._goes_on() and self._clock.monotonic() < deadline

    def _goes_on(self) -> bool:
        return not self._is_stopping
