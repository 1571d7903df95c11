"""Taking what is forgotten out of every file of a workspace (`siftd.daemon.erasure.procedure`)."""

from __future__ import annotations

from siftd.daemon.erasure.procedure import Erasure
from siftd.log import sealing
from siftd.log.recovery import iter_records
from siftd.notes.entries import said, without
from siftd.store import erasing
from siftd.store.access import Database
from siftd.store.connection import reading
from siftd.store.forget_reach import Reach, reach_of
from siftd.store.tombstones import Keys, Tombstones, first_pending_seq, note_done, notes_to_go, pending_seq
from siftd.workspace.paths import WorkspacePaths


class FilePurger:
    """Erases for one workspace. One call at a time, in any thread, never in the event loop."""

    def __init__(self, paths: WorkspacePaths, secret: bytes) -> None:
        self._paths = paths
        self._secret = secret
        self._erasure = Erasure(paths)

    def is_pending(self) -> bool:
        with reading(self._paths.database) as connection:
            return pending_seq(connection) is not None

    def is_active_segment_concerned(self) -> bool:
        """Whether the log's active segment has to be sealed before `erase`, so that it can be rewritten."""
        with reading(self._paths.database) as connection:
            return sealing.holds(self._paths.wal, Tombstones(connection, self._secret).left_of)

    def erase(self, now_ms: int, *, is_resumed: bool = False) -> list[str]:
        """Erase and return what still holds something; empty when it is done. Raises SiftdError or OSError."""
        with reading(self._paths.database) as connection:
            seq = pending_seq(connection)
        if seq is None:
            return []
        removal = _Forgotten(self._paths, self._secret, seq, now_ms)
        return self._erasure.take_out(seq, removal, is_resumed=is_resumed)


class _Forgotten:
    """What the tombstones cover up to a record of the log."""

    is_of_all = True
    is_by_rules = False

    def __init__(self, paths: WorkspacePaths, secret: bytes, seq: int, now_ms: int) -> None:
        self._paths = paths
        self._secret = secret
        self._seq = seq
        self._now_ms = now_ms
        self._needles: tuple[bytes, ...] | None = None
        self._keys = Keys(secret)
        self._notes: frozenset[str] | None = None

    def from_rows(self, connection: Database) -> None:
        reach = self._reach(connection)
        erasing.erase_rows(connection, Tombstones(connection, self._secret), reach, self._now_ms)
        self._needles = reach.needles

    def from_log(self, connection: Database) -> None:
        sealing.rewrite(self._paths.wal, Tombstones(connection, self._secret).left_of, self._needles)

    def renewed_note(self, connection: Database, text: str) -> str:
        if self._notes is None:
            self._notes = notes_to_go(connection)
        gone = self._notes
        if not gone:
            return text
        return without(text, lambda each: self._keys.note(said(each)) in gone)

    def note_renewed(self, files: int) -> None:
        """How many entries that is was counted before."""

    def stays(self, connection: Database, session: str | None, tool: str | None) -> bool:
        is_known = session is None or erasing.has_session(connection, session)
        return is_known and (tool is None or erasing.has_tool(connection, tool))

    def is_done(self, connection: Database) -> None:
        note_done(connection, self._seq, self._now_ms)

    def _reach(self, connection: Database) -> Reach:
        first = first_pending_seq(connection)
        records = () if first is None else iter_records(self._paths.wal, after=first - 1)
        return reach_of(connection, records, self._keys)
