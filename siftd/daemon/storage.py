"""What a daemon holds open: the rules of intake, the log and the database. Captures need no more than this.

It is opened first and alone, so that a daemon takes captures before everything that works on them is imported
(`siftd.daemon.services`).

Whatever can be wrong with the configuration is found here: a daemon that cannot work takes nothing.

settings -> intake -> store (database and log, recovered: `opening`) -> committer
"""

from __future__ import annotations

import functools
import os
import uuid

from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.config import Settings
from siftd.crash_guard import CrashGuard
from siftd.daemon.group_commit import Committer
from siftd.daemon.store_recovery import leave_out, open_store
from siftd.embed.embedder import make_embedder
from siftd.file_identity import identify
from siftd.log.writer import LogWriter
from siftd.store import meta
from siftd.store.access import Database
from siftd.summarise import check_backend
from siftd.workspace.home import LoadedSettings, read_api_key
from siftd.workspace.identity import Workspace, path_as_text
from siftd.workspace.paths import WorkspacePaths
from siftd.workspace.secret import ensure_secret, fingerprint_of

VALUES_SECONDS = 0.25
"""How long a start waits for the files of settings in folders that lie deep. It has begun with the start."""


class Storage:
    """One workspace, open for captures."""

    def __init__(self, workspace: Workspace, paths: WorkspacePaths, loaded: LoadedSettings, clock: Clock) -> None:
        """Open everything; may take as long as replaying the log does. Raises SiftdError."""
        self.workspace = workspace
        self.paths = paths
        self.clock = clock
        self.pid = os.getpid()
        self.loaded = loaded
        self.settings: Settings = loaded.settings
        self._started = clock.monotonic()
        self.embedder = make_embedder(self.settings.memory_embedder, self.settings.memory_embedder_url)
        self.api_key = read_api_key(self.settings.memory_api_key_file)
        check_backend(
            self.settings.memory_backend,
            base_url=self.settings.memory_base_url or None,
            command=self.settings.memory_command,
        )
        self.intake = Intake(paths, self.settings, root=workspace.root, in_background=True)
        self.secret = ensure_secret(paths)
        self.crash_guard = CrashGuard(paths)
        opened = open_store(paths, self.crash_guard, secret=self.secret, now_ms=clock.now_ms())
        self.connection: Database = opened.connection
        self._database_file = identify(paths.database)
        self.tombstones = opened.tombstones
        self.recovery = opened.recovery
        writer = LogWriter(paths.wal, store=self._identify(), now_ms=clock.now_ms(), secret=fingerprint_of(self.secret))
        self.committer = Committer(
            writer,
            paths.wal,
            opened.connection,
            clock,
            tombstones=opened.tombstones,
            leave_out=functools.partial(leave_out, paths, self.crash_guard),
        )
        self.committer.start(opened.last_seq)
        self.intake.wait_for_values(VALUES_SECONDS)

    def uptime_ms(self) -> int:
        return int((self.clock.monotonic() - self._started) * 1000)

    def is_database_in_place(self) -> bool:
        """Whether the database under its path is the open one: nobody deleted or replaced it, or moved the home."""
        return identify(self.paths.database) == self._database_file

    async def close(self) -> None:
        """Finish the captures in flight and close log and database."""
        await self.committer.stop()
        self.crash_guard.close()

    def _identify(self) -> str:
        """Return the store's UUID; a database made anew takes the one that the log names."""
        known = meta.get(self.connection, "store") or self.recovery.store or str(uuid.uuid4())
        self._note("store", known)
        if "[REDACTED:" not in (meta.get(self.connection, "root") or ""):  # a scrub's word stands
            self._note("root", path_as_text(self.workspace.root))
        return known

    def _note(self, key: str, value: str) -> None:
        """Note what is not noted yet: a person may hold the lock while we start."""
        if meta.get(self.connection, key) != value:
            meta.put(self.connection, key, value)
