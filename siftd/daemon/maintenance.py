"""The long life of log and store: compressing, snapshots, retention, what is still to be erased, the repository's root
commit, full text in few pieces; and memory that is needed no more. At every tick."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import structlog

from siftd.clock import Clock
from siftd.config import MS_PER_DAY, Settings
from siftd.daemon.erasure.forget import Forgetter
from siftd.daemon.erasure.scrub import Scrubber
from siftd.daemon.group_commit import Committer
from siftd.daemon.malloc_trim import give_back
from siftd.daemon.store_access import StoreAccess
from siftd.errors import SiftdError, StoreCorrupt
from siftd.log import sealing
from siftd.store import fulltext, meta, snapshots
from siftd.store.connection import SET_ASIDE
from siftd.workspace.paths import WorkspacePaths
from siftd.workspace.repository import find_root_commit

log = structlog.get_logger()

SNAPSHOT_MS = MS_PER_DAY
"""How often a store that changes is copied, counted from its making."""
MERGES_MAX = 64
"""Pieces of full text that are merged at one tick: some 4 MB are rewritten, in 0.2 s."""
GIVE_BACK_SECONDS = 30
"""How often free memory goes back at most: the default period of ticks, which may be set to a fraction of a second."""


class Maintenance:
    """Keeps one workspace's files in order, off the event loop."""

    def __init__(
        self,
        *,
        root: str,
        paths: WorkspacePaths,
        settings: Settings,
        clock: Clock,
        store: StoreAccess,
        committer: Committer,
        forgetter: Forgetter,
        scrubber: Scrubber,
        is_database_in_place: Callable[[], bool],
        end: Callable[[], object],
    ) -> None:
        """`end` ends the daemon in good order."""
        self._root = root
        self._is_database_in_place = is_database_in_place
        self._end = end
        self._store = store
        self._committer = committer
        self._has_asked_git = False
        self._gave_back_at = -math.inf
        self._paths = paths
        self._folder = paths.snapshots
        self._keep_ms: int | None = settings.log_keep_days and settings.log_keep_days * MS_PER_DAY
        self._clock = clock
        self._forgetter = forgetter
        self._scrubber = scrubber

    async def run(self) -> None:
        """Do what is due. What fails is told, and tried again at the next tick.

        A daemon whose database is gone from its path would look well and keep everything where nobody finds it, so it
        ends; whatever starts the next one has it made anew from the log.
        """
        if not await asyncio.to_thread(self._is_database_in_place):
            log.warning("database_gone", hint="the daemon ends; the next one builds it again from the log")
            self._end()
            return
        try:
            if await self._committer.leave_lost_log():
                log.warning("log_gone", hint="a new one is begun, and what it held is copied with the database")
            await asyncio.to_thread(self.keep_log)
            await asyncio.to_thread(self._keep_snapshot)
            await self._forgetter.prune_if_due()
            await self._forgetter.finish()
            await self._scrubber.finish()
            await self._keep_root_commit()
            await self._merge_full_text()
        except StoreCorrupt as error:
            log.warning("database_damaged", error=error.code, hint=SET_ASIDE)
            self.note_damage()
        except (SiftdError, OSError) as error:
            log.warning("maintenance_failed", error=type(error).__name__)
        if (now := self._clock.monotonic()) - self._gave_back_at >= GIVE_BACK_SECONDS:
            self._gave_back_at = now
            await asyncio.to_thread(give_back)

    def note_damage(self) -> None:
        """Have the database set aside at the next start: it was found damaged."""
        Path(self._paths.rebuild).touch(mode=0o600)

    async def prune_log(self) -> int:
        """Remove the segments that are older than `log.keepDays` now; return how many."""
        return await asyncio.to_thread(self.keep_log)

    async def _keep_root_commit(self) -> None:
        """Note the repository's root commit, once: by it a moved repository is known again."""
        if self._has_asked_git:
            return
        self._has_asked_git = True
        if await self._store.read(lambda c: meta.get(c, "root_commit")) is None:
            commit = await asyncio.to_thread(find_root_commit, self._root)
            if commit is not None:
                await self._store.write(lambda c: meta.put(c, "root_commit", commit))

    async def _merge_full_text(self) -> None:
        """Merge the pieces that this tick's work has left; of more than a tick's part the rest at the next."""
        for _ in range(MERGES_MAX):
            if not await self._store.write(fulltext.merge_some):
                return

    def keep_log(self) -> int:
        compressed = sealing.compress(self._paths.wal)
        pruned = self._prune()
        if compressed or pruned:
            log.info("log_kept", compressed=compressed, pruned=pruned)
        return pruned

    def _prune(self) -> int:
        if self._keep_ms is None:
            return 0
        oldest = self._clock.now_ms() - self._keep_ms
        old = [each for each in sealing.list_sealed(self._paths.wal) if each.modified_ms < oldest]
        if not old:
            return 0
        covering = snapshots.find_verified(self._folder)
        if covering is None or covering.seq < old[-1].last_seq:
            covering = snapshots.make_snapshot(self._paths.database, self._folder)
        return sealing.prune(self._paths.wal, old, covering.seq)

    def _keep_snapshot(self) -> None:
        """Copy the store once a day while it changes, so that a rebuild has little to recompute.

        And at once when the log was lost: a rebuild finds what it held nowhere else.
        """
        newest = snapshots.list_snapshots(self._folder)[:1]
        state = snapshots.read_state(self._paths.database)
        since = newest[0].modified_ms if newest else state.made_at
        is_changed = not newest or newest[0].seq < state.applied
        is_due = self._clock.now_ms() - since >= SNAPSHOT_MS
        is_alone = (newest[0].seq if newest else 0) < state.lost_seq
        if state.applied and is_changed and (is_due or is_alone):
            snapshot = snapshots.make_snapshot(self._paths.database, self._folder)
            log.info("snapshot_made", seq=snapshot.seq)
