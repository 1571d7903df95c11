"""A real log, store and committer in a folder of the test's, as the daemon opens them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from empty_store import place_empty_store

from siftd.capture.intake import Intake
from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.daemon.group_commit import Committer, Receipt
from siftd.log.files import LogFile, RealLogFile
from siftd.log.record import Record
from siftd.log.recovery import recover
from siftd.log.writer import LogWriter
from siftd.store.connection import open_reader, open_writer
from siftd.store.events import applied_seq, replay_records
from siftd.store.migrate import migrate
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home

T = TypeVar("T")
KEY = "0123456789abcdef"


def left_out(record: Record, error: Exception) -> None:
    """Take no record for one that no table takes."""
    raise AssertionError(record.seq) from error


class OpenedStore:
    """What the daemon opens for one workspace; `async with` starts and stops the committer."""

    def __init__(
        self,
        folder: Path,
        *,
        opener: Callable[[str], LogFile] = RealLogFile,
        values: dict[str, object] | None = None,
    ) -> None:
        self.paths = Home(str(folder)).for_workspace(KEY)
        self.opener = opener
        self.values = values or {}
        self._people: list[sqlite3.Connection] = []

    async def __aenter__(self) -> OpenedStore:
        ensure_workspace(self.paths)
        place_empty_store(self.paths, 1)
        self.intake = Intake(self.paths, Settings.of(self.values))
        connection = open_writer(self.paths.database)
        migrate(connection, 1)
        found = recover(self.paths.wal, applied=applied_seq(connection), quarantine=self.paths.quarantine)
        replay_records(connection, found.records, left_out)
        self.recovery = found
        writer = LogWriter(self.paths.wal, store="store", now_ms=1, opener=self.opener)
        self.committer = Committer(writer, self.paths.wal, connection, SystemClock())
        self.committer.start(found.last_seq)
        self.reader = open_reader(self.paths.database)
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in (*self._people, self.reader):
            connection.close()
        await self.committer.stop()

    async def keep(self, *events: Any, **options: Any) -> list[Receipt]:
        """Admit and keep events together."""
        admitted = [self.intake.admit(event, **options) for event in events]
        return list(await asyncio.gather(*map(self.committer.keep, admitted)))

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self.reader)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self.committer.run(work)

    def rows(self, sql: str = "SELECT id, session_id, tool FROM events ORDER BY id") -> list[Any]:
        return self.reader.execute(sql).fetchall()

    def by_hand(self) -> sqlite3.Connection:
        """A person's own connection; closed at the end, if not before."""
        self._people.append(sqlite3.connect(self.paths.database, isolation_level=None, timeout=0))
        return self._people[-1]
