"""A backfill from its first file to its last, interruptible at each batch.

Files are read off the event loop and their events kept a batch at a time, in order, through the same committer as
live captures, so that a batch shares its syncs with them and never keeps them waiting for long.

A file that was read to its end is noted with its counts in `backfill_progress`. A run that was interrupted leaves
these notes: the next one counts such files without reading them again, unless they have changed. A run that comes to
its end forgets the notes, so that the one after it looks at everything.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

import anyio.to_thread
import msgspec
import structlog

from siftd.backfill.reading import Batch, iter_batches
from siftd.backfill.result import BackfillResult, printable
from siftd.backfill.sources import Transcript, find_sources
from siftd.capture.admission import Redacted, RedactedEvent
from siftd.capture.intake import Intake
from siftd.clients.client import Client
from siftd.clock import Clock
from siftd.errors import SiftdError, StoreError
from siftd.store import backfill_progress
from siftd.store.access import Database
from siftd.workspace.identity import Workspace

log = structlog.get_logger()
T = TypeVar("T")


class Receipt(Protocol):
    """What became of one event: the committer's receipt."""

    @property
    def is_duplicate(self) -> bool: ...

    @property
    def error(self) -> SiftdError | None: ...


class ProgressStore(Protocol):
    """The store, reading off the event loop and writing through the committer."""

    async def read(self, work: Callable[[Database], T]) -> T: ...

    async def write(self, work: Callable[[Database], T]) -> T: ...


Keep = Callable[[Redacted], Awaitable[Receipt]]
OnProgress = Callable[[int, int, BackfillResult], Awaitable[None]]


async def backfill(
    *,
    client: Client,
    paths: Sequence[str],
    folder: str | None,
    workspace: Workspace,
    any_workspace: bool,
    is_excluded: Callable[[str], bool],
    intake: Intake,
    keep: Keep,
    progress_store: ProgressStore,
    clock: Clock,
    on_progress: OnProgress,
    goes_on: Callable[[], bool],
    own: bool = False,
) -> BackfillResult:
    """Read a client's files in `paths` (absolute; none: this workspace's own in the client's `folder`) into the store.

    Only sessions of `workspace` are read, or of every workspace that is not excluded with `any_workspace`. Ends early
    when `goes_on()` says so, or when an event cannot be kept (a full disk); what is left then waits for the next run.
    Files and lines that cannot be read are counted, never raised.
    """
    sources = await anyio.to_thread.run_sync(
        lambda: find_sources(
            client,
            paths,
            folder=folder,
            workspace=workspace,
            any_workspace=any_workspace,
            is_excluded=is_excluded,
            own=own,
        )
    )
    run = _Run(client, intake, keep, clock, on_progress, goes_on, sum(each.size for each in sources.transcripts))
    for path, reason in sources.problems:
        run.result.note_error(path, reason)
    finished = await progress_store.read(backfill_progress.list_finished)
    for transcript in sources.transcripts:
        counts = _recall(finished.get(printable(transcript.name)), transcript)
        if counts is not None:
            await run.pass_by(transcript, counts)
            continue
        counts = await run.read(transcript)
        if counts is None:
            return run.result
        await _note(progress_store, transcript, counts)
    with contextlib.suppress(StoreError):  # a locked database: the notes go when the next run ends
        await progress_store.write(backfill_progress.forget_finished)
    return run.result


class _Run:
    """One run: its result, and how far it is."""

    def __init__(
        self,
        client: Client,
        intake: Intake,
        keep: Keep,
        clock: Clock,
        on_progress: OnProgress,
        goes_on: Callable[[], bool],
        total_bytes: int,
    ) -> None:
        self.result = BackfillResult(source=client.name)
        self._intake = intake
        self._keep = keep
        self._clock = clock
        self._on_progress = on_progress
        self._goes_on = goes_on
        self._total_bytes = total_bytes
        self._done_bytes = 0

    async def pass_by(self, transcript: Transcript, counts: BackfillResult) -> None:
        """Count a file that an interrupted run has read."""
        self.result.add(counts)
        self._done_bytes += transcript.size
        await self._on_progress(self._done_bytes, self._total_bytes, self.result)

    async def read(self, transcript: Transcript) -> BackfillResult | None:
        """Read one file and return its counts; None when the run ended before the file did."""
        counts = BackfillResult()
        with contextlib.closing(iter_batches(transcript, self._intake, self._clock.now_ms())) as batches:
            while self._goes_on():
                batch = await anyio.to_thread.run_sync(next, batches, None)
                if batch is None:
                    self._done_bytes += transcript.size
                    return counts
                is_stored = await self._keep_batch(batch, transcript)
                counts.add(batch.counts)
                self.result.add(batch.counts)
                await self._on_progress(self._done_bytes + batch.done_bytes, self._total_bytes, self.result)
                if not is_stored:
                    return None
        return None

    async def _keep_batch(self, batch: Batch, transcript: Transcript) -> bool:
        """Keep the events together, so that they share syncs; False when one was refused."""
        receipts = await asyncio.gather(*(self._keep(event) for event in batch.events))
        counts = batch.counts
        is_stored = True
        for event, receipt in zip(batch.events, receipts, strict=True):
            if receipt.error is not None:
                counts.note_error(transcript.path, receipt.error.code)
                is_stored = False
            elif isinstance(event, RedactedEvent):
                counts.skipped_duplicate += receipt.is_duplicate
                counts.captured += not receipt.is_duplicate
        return is_stored


class _Note(msgspec.Struct):
    """What `backfill_progress.counts` holds of a file: its counts, and what the file was then."""

    size: int
    modified_ns: int
    counts: BackfillResult


def _recall(note: str | None, transcript: Transcript) -> BackfillResult | None:
    """Return the counts of a file that was read before and has not changed since."""
    try:
        found = msgspec.json.decode(note or "", type=_Note)
    except msgspec.MsgspecError:
        return None
    is_same = (found.size, found.modified_ns) == (transcript.size, transcript.modified_ns)
    return found.counts if is_same else None


async def _note(store: ProgressStore, transcript: Transcript, counts: BackfillResult) -> None:
    note = msgspec.json.encode(_Note(transcript.size, transcript.modified_ns, counts)).decode()
    try:
        await store.write(
            lambda connection: backfill_progress.note_finished(connection, printable(transcript.name), note)
        )
    except StoreError as error:  # a locked database: the events are safe in the log, the next run reads the file again
        log.warning("backfill_progress_lost", error=error.code)
