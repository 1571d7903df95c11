"""Moving a whole memory: copying the database, export and import, and reading the sessions that a client has kept."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from siftd.capture.intake import Intake
from siftd.clients.registry import client_asked_for
from siftd.clock import Clock
from siftd.config import Settings, is_excluded
from siftd.consolidate.consolidator import HIDE, Consolidator
from siftd.daemon.group_commit import Committer
from siftd.daemon.store_access import StoreAccess
from siftd.errors import RequestInvalid
from siftd.knowledge import file
from siftd.store.snapshots import copy_database
from siftd.wire.requests import Backfill, BackupAnswer, Import
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import GLOBAL, WorkspacePaths

if TYPE_CHECKING:
    from siftd.backfill.result import BackfillResult
    from siftd.exchange.result import ImportResult


class Transfer:
    """Takes much in, and gives all of it out."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        paths: WorkspacePaths,
        settings: Settings,
        intake: Intake,
        committer: Committer,
        store: StoreAccess,
        consolidator: Consolidator,
        clock: Clock,
        embed_facts: Callable[[], Awaitable[None]],
    ) -> None:
        self.workspace = workspace
        self._paths = paths
        self._settings = settings
        self._intake = intake
        self._committer = committer
        self._store = store
        self._consolidator = consolidator
        self._clock = clock
        self._embed_facts = embed_facts

    async def backup(self, path: str) -> BackupAnswer:
        """Copy the database into a new file."""
        target = Path(path)
        if not target.is_absolute() or target.exists() or not target.parent.is_dir():
            raise RequestInvalid("a backup goes into a new file in a folder that is there", hint="give another name")
        try:
            seq = await asyncio.to_thread(copy_database, self._paths.database, target)
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
            is_excluded=lambda root: is_excluded(root, self._settings),
            intake=self._intake,
            keep=functools.partial(self._committer.keep, way="read"),
            progress_store=self._store,
            clock=self._clock,
            on_progress=on_progress,
            goes_on=lambda: not self._consolidator.is_stopping,
        )
        await self._consolidator.do(HIDE)
        self._consolidator.note_capture()
        return result

    async def export(self, path: str, on_progress: Callable[[int, int], object]) -> dict[str, int]:
        """Write everything into a file, in a thread of its own; the database has caught up with the log before."""
        from siftd.exchange.exporting import export

        await self._store.write(lambda _: None)
        snapshot = await asyncio.to_thread(file.find_readable, self._paths.knowledge)
        return await asyncio.to_thread(export, self._paths.database, path, self._clock.now_ms(), on_progress, snapshot)

    async def import_file(self, request: Import, on_progress: Callable[[int, int], object]) -> ImportResult:
        """Merge an exported file in, or what another memory keeps.

        The consolidator waits, so that no event is summarised before its own is read.
        """
        is_global = self._paths.key == GLOBAL
        if is_global and not request.yes:
            raise RequestInvalid("every project would be given what is imported here", hint="say --yes if you mean it")

        if request.dry_run and not request.source:
            raise RequestInvalid("an export has no rehearsal", hint="`--dry-run` goes with `--from`")

        from siftd.exchange.moving_in import take_in
        from siftd.exchange.run import Target, import_file
        from siftd.other_memories.registry import other_memory

        target = Target(
            intake=self._intake,
            keep=functools.partial(self._committer.keep, way="read"),
            store=self._store,
            clock=self._clock,
            on_progress=on_progress,
            goes_on=lambda: not self._consolidator.is_stopping,
            own=request.own,
            is_global=is_global,
            snapshot="" if is_global else self._paths.knowledge,
        )
        async with self._consolidator.paused():
            if request.source:
                other = other_memory(request.source)
                result = await take_in(other, request.path, target, is_rehearsal=request.dry_run)
            else:
                result = await import_file(request.path, target)
        if not request.dry_run:
            self._consolidator.note_capture()
            await self._embed_facts()
        return result
