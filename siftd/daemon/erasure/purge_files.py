"""Taking what is forgotten out of every file of a workspace.

    rows (and all that hangs on them) -> log segments -> files set aside -> session ids in the daemon's log
    -> what lies free in the database's pages, and SQLite's own log -> snapshots

The tombstones are safe in the log before; only the last step says that it is done. Any crash between leaves it pending,
and everything is done again. Out of reach: files made by `mem backup`, and the clients' own transcripts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from siftd.daemon.erasure import leftovers
from siftd.daemon.logs import unname
from siftd.log import sealing
from siftd.log.recovery import iter_records
from siftd.store import erasing
from siftd.store.connection import open_reader, translate
from siftd.store.forget_reach import Reach, reach_of
from siftd.store.tombstones import Keys, Tombstones, first_pending_seq, note_done, pending_seq
from siftd.workspace.paths import WorkspacePaths

T = TypeVar("T")


class FilePurger:
    """Erases for one workspace. One call at a time, in any thread, never in the event loop."""

    def __init__(self, paths: WorkspacePaths, secret: bytes) -> None:
        self._paths = paths
        self._secret = secret
        self._waits_for_reader: int | None = None

    def is_pending(self) -> bool:
        return self._ask(pending_seq) is not None

    def is_active_segment_concerned(self) -> bool:
        """Whether the log's active segment has to be sealed before `erase`, so that it can be rewritten."""

        def concerns(connection: sqlite3.Connection) -> bool:
            return sealing.holds(self._paths.wal, Tombstones(connection, self._secret).left_of)

        return self._ask(concerns)

    def erase(self, now_ms: int) -> list[str]:
        """Erase and return what still holds something; empty when it is done. Raises StoreError or OSError."""
        try:
            connection = erasing.open_eraser(self._paths.database)
            try:
                return self._erase(connection, now_ms)
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise translate(error) from error

    def _erase(self, connection: sqlite3.Connection, now_ms: int) -> list[str]:
        seq = pending_seq(connection)
        if seq is None:
            return []
        if seq != self._waits_for_reader:
            tombstones = Tombstones(connection, self._secret)
            reach = self._reach(connection)
            erasing.erase_rows(connection, tombstones, reach, now_ms)
            sealing.rewrite(self._paths.wal, tombstones.left_of, reach.needles)
            leftovers.remove_set_aside(self._paths)
            unname(
                self._paths.daemon_log,
                lambda session: erasing.has_session(connection, session),
                lambda tool: erasing.has_tool(connection, tool),
            )
        if not erasing.clean_pages(connection, self._paths.database):
            self._waits_for_reader = seq
            programs = erasing.holders(self._paths.database) or ["another program"]
            return [f"a reader of the database: {each}" for each in programs]
        leftovers.renew_snapshots(self._paths)
        note_done(connection, seq, now_ms)
        return []

    def _reach(self, connection: sqlite3.Connection) -> Reach:
        first = first_pending_seq(connection)
        records = () if first is None else iter_records(self._paths.wal, after=first - 1)
        return reach_of(connection, records, Keys(self._secret))

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = open_reader(self._paths.database)
            try:
                return question(connection)
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise translate(error) from error
