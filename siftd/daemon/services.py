"""Everything that works on the stock of one workspace: reading, consolidating, telling, and what people ask for."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from siftd.capture.admission import RedactedIntent
from siftd.clients.registry import client_asked_for
from siftd.config import is_excluded
from siftd.consolidate.consolidator import TAKE_IN, Consolidator
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.passes import (
    Embedding,
    Indexing,
    Pass,
    Rewriting,
    RiskyTask,
    SessionSummarising,
    Summarising,
    Superseding,
    Task,
    TickTask,
)
from siftd.consolidate.superseding import Superseder
from siftd.daemon.backends import Backends
from siftd.daemon.context_injection import ContextInjector
from siftd.daemon.erasure.forget import Forgetter
from siftd.daemon.erasure.hide_values import ValueHider
from siftd.daemon.erasure.scrub import Scrubber
from siftd.daemon.ingest.spool_intake import SpoolIntake
from siftd.daemon.ingest.transcripts import Transcripts
from siftd.daemon.maintenance import Maintenance
from siftd.daemon.sampling import Samplers
from siftd.daemon.searching import SearchAccess
from siftd.daemon.storage import Storage
from siftd.daemon.store_access import StoreAccess
from siftd.errors import LogError, RequestInvalid, SiftdError
from siftd.store import token_spend
from siftd.store.snapshots import copy_database
from siftd.wire.requests import Backfill, Forget, Import
from siftd.workspace.home import load_settings
from siftd.workspace.paths import GLOBAL

if TYPE_CHECKING:
    from siftd.backfill.result import BackfillResult
    from siftd.exchange.result import ImportResult

log = structlog.get_logger()

HIDE = "hide"
"""The pass that takes out of what was stored what sessions have redacted since."""


class Services:
    """The open workspace."""

    def __init__(self, storage: Storage, end: Callable[[], object]) -> None:
        """Set everything up; nothing runs yet. `end` ends the daemon in good order."""
        self.workspace = storage.workspace
        self.paths = storage.paths
        self.clock = storage.clock
        self.settings = storage.settings
        self.intake = storage.intake
        self.committer = storage.committer
        self.storage = storage
        self.embedder = storage.embedder
        shared = None if self.paths.key == GLOBAL else self.paths.home.for_workspace(GLOBAL).database
        self.store = StoreAccess(self.paths.database, self.committer, self.embedder, shared=shared)
        self.searching = SearchAccess(storage, self.store)
        self.samplers = Samplers(is_wanted=self.settings.memory_backend.partition(":")[0] == "sampling")
        self.backends = Backends(
            self.settings,
            storage.api_key,
            self.store,
            self.clock,
            storage.connection,
            storage.crash_guard,
            find_sampler=self.samplers.find,
            keep_bill=self._keep_bill,
        )
        self.embedding = EmbeddingQueue(self.store, self.embedder, storage.crash_guard)
        self.forgetter = Forgetter(
            paths=self.paths,
            secret=storage.secret,
            clock=self.clock,
            committer=self.committer,
            tombstones=storage.tombstones,
            admission=self.intake.admission,
            keep_days=self.settings.store_keep_days,
        )
        self.scrubber = Scrubber(self.paths, self.clock, self.committer, self.intake.admission)
        self.hider = ValueHider(self.paths, self.clock, self.committer, self.intake)
        self.maintenance = Maintenance(
            root=self.workspace.root,
            paths=self.paths,
            settings=self.settings,
            clock=self.clock,
            store=self.store,
            committer=self.committer,
            forgetter=self.forgetter,
            scrubber=self.scrubber,
            is_database_in_place=storage.is_database_in_place,
            end=end,
        )
        self._spooled = SpoolIntake(storage)
        self._transcripts = Transcripts(
            self.intake,
            functools.partial(self.committer.keep, way="read"),
            self.store,
            self.clock,
            storage.secret,
        )
        self.injector = ContextInjector(storage, self.store, self.searching)
        indexer = RawIndexer(self.store, storage.crash_guard)
        superseder = Superseder(
            self.store, self.store.index, self.clock, cosine=self.settings.memory_consolidator_supersede_cosine
        )
        passes: list[Pass] = [
            Task(TAKE_IN, self._take_in),
            RiskyTask(HIDE, self.hider.run, lambda name, error: self.consolidator.note_failure(name, error)),
            Indexing(self.store, indexer),
            Summarising(self.store),
            SessionSummarising(),
            Rewriting(),
            Embedding(self.embedding),
            Superseding(
                self.store,
                superseder,
                indexer,
                self.clock,
                every_seconds=self.settings.memory_consolidator_supersede_ms / 1000,
                on_edit=self.searching.forget,
            ),
            TickTask("maintain", self._keep_up),
        ]
        self.consolidator = Consolidator(
            passes=passes,
            store=self.store,
            clock=self.clock,
            tick_seconds=self.settings.memory_consolidator_tick_ms / 1000,
            find_drainer=lambda: self.backends.drainer,
            indexer=indexer,
            embedding=self.embedding,
            on_damage=self.maintenance.note_damage,
        )

    async def _take_in(self) -> None:
        """Take in what was not told over the socket: what couriers spooled, what transcripts tell."""
        await self._spooled.take()
        await self.read_transcripts()

    async def read_transcripts(self) -> None:
        """Keep what the transcripts tell since they were read last."""
        try:
            if await self._transcripts.read():
                self.consolidator.note_capture()
                self.injector.note_change()
        except SiftdError as error:
            log.warning("transcripts_not_read", error=error.code)

    async def embed_memories(self) -> None:
        """Give memories without a vector theirs; one that cannot be made now is made at a later tick."""
        await self.embedding.run_memories(lambda: not self.consolidator.is_stopping)

    async def _keep_bill(self, day: str, backend: str, tokens: int) -> None:
        """Log what a remote backend was paid: the daily cap must outlive the database."""
        try:
            await self.keep_intent("spend", {"day": day, "backend": backend, "tokens": tokens})
        except LogError:  # a full disk: the database has room for a number, and the cap holds meanwhile
            await self.store.write(lambda c: token_spend.spend(c, day, backend, tokens, is_remote=True))

    async def keep_intent(self, kind: str, payload: dict[str, Any], *, session_id: str = "") -> int:
        """Log and apply what was asked for; return the seq of its record. Raises LogError when it cannot be kept."""
        now_ms = self.clock.now_ms()
        return await self.keep_admitted(
            self.intake.admission.admit_intent(kind, payload, ts=now_ms, session_id=session_id)
        )

    async def keep_admitted(self, intent: RedactedIntent) -> int:
        """Log and apply an intent; return the seq of its record. Raises LogError when it cannot be kept."""
        receipt = await self.committer.keep(intent)
        if receipt.error is not None:
            raise receipt.error
        return receipt.seq

    async def forget(self, request: Forget) -> dict[str, Any]:
        """Forget what a person wants forgotten, or say what that would be."""
        answer = await self.consolidator.alone(lambda: self.forgetter.forget(request))
        if not request.dry_run:
            self.note_memories_changed()
        return answer

    def note_memories_changed(self) -> None:
        """What a memory for every project said may stand in every project's kept brief: those go, and are made anew."""
        if self.paths.key == GLOBAL:
            for brief in Path(self.paths.home.workspaces).glob("*/brief"):
                brief.unlink(missing_ok=True)

    async def _keep_up(self) -> None:
        await self.maintenance.run()
        self.injector.note_change()

    async def scrub(self, dry_run: bool) -> dict[str, Any]:
        """Apply the rules of the configuration as it is now to everything stored, and to what comes from now on."""
        loaded = load_settings(self.paths.home, self.storage.loaded.flags)
        if loaded.problem:
            raise RequestInvalid("the configuration cannot be used as it is", hint=loaded.problem)
        self.intake.take_rules(loaded.settings)
        answer = await self.consolidator.alone(lambda: self.scrubber.scrub(dry_run=dry_run))
        await self.consolidator.do(HIDE)  # today's rules may have found by its name what stands bare elsewhere
        return answer

    async def prune(self) -> dict[str, Any]:
        """Forget what the configuration says is too old."""
        events_pruned = await self.consolidator.alone(self.forgetter.prune)
        segments_pruned = await self.consolidator.alone(self.maintenance.prune_log)
        held = await self.forgetter.count_held()
        return {"events": events_pruned, "segments": segments_pruned, "held": held, "pending": self.forgetter.pending}

    async def backup(self, path: str) -> dict[str, Any]:
        """Copy the database into a new file."""
        target = Path(path)
        if not target.is_absolute() or target.exists() or not target.parent.is_dir():
            raise RequestInvalid("a backup goes into a new file in a folder that is there", hint="give another name")
        try:
            seq = await asyncio.to_thread(copy_database, self.paths.database, target)
        except OSError as error:
            raise RequestInvalid(f"the backup failed: {error.strerror}", hint="give another place") from error
        return {"path": path, "bytes": target.stat().st_size, "seq": seq}

    async def backfill(
        self,
        request: Backfill,
        on_progress: Callable[[int, int, BackfillResult], Awaitable[None]],
    ) -> BackfillResult:
        """Read transcripts into the store."""
        from siftd.backfill import backfill

        result = await backfill(
            client=client_asked_for(request.client),
            paths=request.paths,
            folder=request.folder,
            own=request.own,
            workspace=self.workspace,
            any_workspace=request.any_workspace,
            is_excluded=lambda root: is_excluded(root, self.settings),
            intake=self.intake,
            keep=functools.partial(self.committer.keep, way="read"),
            progress_store=self.store,
            clock=self.clock,
            on_progress=on_progress,
            goes_on=lambda: not self.consolidator.is_stopping,
        )
        await self.consolidator.do(HIDE)
        self.consolidator.note_capture()
        return result

    async def export(self, path: str, on_progress: Callable[[int, int], object]) -> dict[str, int]:
        """Write everything into a file, in a thread of its own; the database has caught up with the log before."""
        from siftd.exchange.exporting import export

        await self.store.write(lambda _: None)
        return await asyncio.to_thread(export, self.paths.database, path, self.clock.now_ms(), on_progress)

    async def import_file(self, request: Import, on_progress: Callable[[int, int], object]) -> ImportResult:
        """Merge an exported file in; the consolidator waits, so that no event is summarised before its own is read."""
        from siftd.exchange.run import import_file

        is_global = self.paths.key == GLOBAL
        if is_global and not request.yes:
            raise RequestInvalid("every project would be given what is imported here", hint="say --yes if you mean it")

        async with self.consolidator.paused():
            result = await import_file(
                request.path,
                intake=self.intake,
                keep=functools.partial(self.committer.keep, way="read"),
                store=self.store,
                clock=self.clock,
                on_progress=on_progress,
                goes_on=lambda: not self.consolidator.is_stopping,
                own=request.own,
                is_global=is_global,
            )
        self.consolidator.note_capture()
        await self.embed_memories()
        return result

    async def finish(self) -> None:
        """Wait for the batch that runs, then do what ends with this process: read what sessions have said last, hide
        what they have redacted."""
        await self.consolidator.finished()
        await self.read_transcripts()
        try:
            await self.hider.run(at_once=True)
        except SiftdError as error:
            log.warning("final_hiding_failed", error=error.code)

    def close(self) -> None:
        """Stop reading; the stock stays open."""
        self.store.close()
