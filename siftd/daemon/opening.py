"""Opening the store of a workspace, whatever happened to it: set aside, restored, replayed, and nothing forgotten back.

A database that is damaged, missing, or older than its newest snapshot is replaced by that snapshot, or by nothing, and
the log is replayed onto it: every event gets the id it had, and the consolidator recomputes what was derived since.
`mem rebuild` leaves the mark that asks for the same. Each step may be cut short: the next start begins again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from siftd.at_work import AtWork
from siftd.daemon.eraser import Eraser
from siftd.errors import SiftdError, StoreCorrupt
from siftd.log.record import Record, encode
from siftd.log.recovery import Recovery, recover, set_aside
from siftd.log.sealing import seal_file
from siftd.log.segments import segments
from siftd.paths import WorkspacePaths
from siftd.store import events, meta, snapshots
from siftd.store.connection import open_writer, translate
from siftd.store.migrate import migrate
from siftd.store.tombstones import Tombstones

log = structlog.get_logger()

_RECORDS_FAULT = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError)
"""What a record is to blame for; a lock, a full disk and a damaged database are nobody's."""


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """A database that has everything the log has."""

    connection: sqlite3.Connection
    recovery: Recovery
    tombstones: Tombstones
    last_seq: int
    """The highest seq that log, database or a snapshot knows."""


def open_store(paths: WorkspacePaths, at_work: AtWork, *, secret: bytes, now_ms: int) -> OpenedStore:
    """Open the database and bring it up to the log; may take as long as replaying the log does."""
    mark = Path(paths.rebuild)
    has_log = bool(segments(paths.wal))
    is_missing = not Path(paths.database).exists() and has_log
    if mark.exists():
        log.info("rebuild_asked")
        set_database_aside(paths, now_ms)
        at_work.acquit_all("replay")
        for left_out in Path(paths.quarantine).glob("condemned-*"):
            left_out.unlink()
        mark.unlink()
    try:
        opened = _open(paths, at_work, secret, now_ms)
    except StoreCorrupt as error:
        log.warning("database_set_aside", error=error.code)
        set_database_aside(paths, now_ms)
        opened = _open(paths, at_work, secret, now_ms)
    if is_missing:
        log.warning("database_missing", hint="it was made anew, with every event under its id")
        meta.put(opened.connection, "made_anew", str(now_ms))
    if not has_log and events.applied_seq(opened.connection):
        log.warning("log_missing", hint="the database is copied at the next tick")
        events.note_lost_log(opened.connection, now_ms)
    _finish_forgetting(Eraser(paths, secret), paths, now_ms)
    return opened


def set_database_aside(paths: WorkspacePaths, now_ms: int) -> None:
    """Move the database out of the way; nothing of it is deleted.

    Its own log first: left behind alone, SQLite would take it for that of the database which comes in its place.
    """
    for suffix in ("-wal", "-shm", ""):
        file = Path(f"{paths.database}{suffix}")
        if file.exists():
            file.rename(f"{paths.database}.damaged-{now_ms}{suffix}")


def _open(paths: WorkspacePaths, at_work: AtWork, secret: bytes, now_ms: int) -> OpenedStore:
    if not Path(paths.database).exists():
        _restore(paths)
    connection = open_writer(paths.database)
    try:
        migrate(connection, now_ms)
        connection.execute("SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)")
        _check_age(connection, paths)
        tombstones = Tombstones(connection, secret)
        recovery = _replay(connection, tombstones, paths, at_work)
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, _RECORDS_FAULT):
            at_work.end("replay")
        raise translate(error) from error
    except SiftdError:
        connection.close()
        at_work.end("replay")
        raise
    last_seq = max(recovery.last_seq, events.applied_seq(connection), events.last_id(connection))
    return OpenedStore(connection, recovery, tombstones, last_seq)


def _restore(paths: WorkspacePaths) -> None:
    snapshot = snapshots.find_verified(paths.snapshots)
    if snapshot is not None:
        snapshots.restore(snapshot, paths.database)
        log.info("snapshot_restored", seq=snapshot.seq)
    elif snapshots.list_snapshots(paths.snapshots):
        log.warning("snapshots_damaged", hint="the log alone is replayed; what was pruned from it is lost")


def _check_age(connection: sqlite3.Connection, paths: WorkspacePaths) -> None:
    """Raise StoreCorrupt for a database that is older than a snapshot of it: the log may not bridge the gap."""
    applied = events.applied_seq(connection)
    newest = snapshots.list_snapshots(paths.snapshots)[:1]
    if newest and newest[0].seq > applied:
        verified = snapshots.find_verified(paths.snapshots)
        if verified is not None and verified.seq > applied:
            raise StoreCorrupt("the database is older than its snapshot")


def _replay(connection: sqlite3.Connection, tombstones: Tombstones, paths: WorkspacePaths, at_work: AtWork) -> Recovery:
    """Bring the database up to the log."""
    recovery = recover(paths.wal, applied=events.applied_seq(connection), quarantine=paths.quarantine)
    connection.execute("BEGIN IMMEDIATE")
    added = events.replay_records(connection, _watched(tombstones.iter_left(recovery.records), paths, at_work))
    if recovery.last_seq > events.applied_seq(connection):  # the last record was forgotten, or left out
        meta.put(connection, "applied_seq", str(recovery.last_seq))
    connection.execute("COMMIT")
    tombstones.reload()
    if added or recovery.torn_bytes or recovery.corrupt_lines:
        log.info("log_replayed", added=added, torn_bytes=recovery.torn_bytes, corrupt_lines=recovery.corrupt_lines)
    return recovery


def _watched(records: Iterable[Record], paths: WorkspacePaths, at_work: AtWork) -> Iterator[Record]:
    """Yield records, each marked while it is applied; one that has ended two starts is quarantined instead."""
    for record in records:
        if at_work.is_condemned("replay", record.seq):
            set_aside(Path(paths.quarantine), f"condemned-{record.seq}", encode(record))
            log.error("record_left_out", seq=record.seq, kind=record.kind, hint="`mem rebuild` tries it again")
            continue
        at_work.begin("replay", [record.seq])
        yield record
        at_work.acquit("replay", [record.seq])
    at_work.end("replay")


def _finish_forgetting(eraser: Eraser, paths: WorkspacePaths, now_ms: int) -> None:
    """Erase what a crash left of something forgotten before anybody is served. What holds it is told at ticks."""
    try:
        if eraser.is_pending():
            if eraser.is_active_segment_concerned():
                seal_file(paths.wal)
            eraser.erase(now_ms)
    except (SiftdError, OSError) as error:
        log.warning("forget_pending", error=type(error).__name__)
