"""Opening the store of a workspace, whatever happened to it: set aside, restored, replayed, and nothing forgotten back.

A database that is damaged, missing, or older than its newest snapshot is replaced by that snapshot, or by nothing, and
the log is replayed onto it: every event gets the id it had, and the consolidator recomputes what was derived since.
`mem rebuild` leaves the mark that asks for the same. What only the database that was set aside has, because the log has
lost it, is taken over (`siftd.store.rescue`). Each step may be cut short: the next start begins again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from siftd.crash_guard import CrashGuard
from siftd.daemon.set_aside import list_set_aside, name_aside, set_database_aside, take_over
from siftd.errors import MigrationFailed, SiftdError, StoreCorrupt
from siftd.log.record import Record, encode
from siftd.log.recovery import Recovery, recover, set_aside, set_foreign_aside
from siftd.log.sealing import seal_file
from siftd.log.segments import find_fingerprint, find_store, last_seq, segments
from siftd.store import events, ids, meta, snapshots, sqlite_checks
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import begin, commit, open_writer, reading, translate
from siftd.store.event_ages import newest_time
from siftd.store.migrate import migrate
from siftd.store.opt_outs import OptOuts
from siftd.store.rescue import read_store
from siftd.store.tombstones import Tombstones, number_spans, pending_seq
from siftd.workspace.paths import WorkspacePaths
from siftd.workspace.secret import fingerprint_of, lost

log = structlog.get_logger()

_MISREAD = (ValueError, TypeError, OverflowError)
"""What Python says to numbers and text of ours that are damaged."""


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """A database that has everything the log has."""

    connection: Database
    recovery: Recovery
    tombstones: Tombstones
    last_seq: int
    """The highest seq that log, database or a snapshot knows."""


def open_store(paths: WorkspacePaths, crash_guard: CrashGuard, *, secret: bytes, now_ms: int) -> OpenedStore:
    """Open the database and bring it up to the log; may take as long as replaying the log does."""
    mark = Path(paths.rebuild)
    has_log = bool(segments(paths.wal))
    is_missing = not Path(paths.database).exists() and has_log
    if mark.exists():
        log.info("rebuild_asked")
        set_database_aside(paths, now_ms)
        crash_guard.clear_all("replay")
        crash_guard.clear_all("embed")  # a summary's id means another one from now on
        for left_out in Path(paths.quarantine).glob("condemned-*"):
            left_out.unlink()
        mark.unlink()
    try:
        opened = _open(paths, crash_guard, secret, now_ms)
    except StoreCorrupt as error:
        log.warning("database_set_aside", error=error.code)
        set_database_aside(paths, now_ms)
        opened = _open(paths, crash_guard, secret, now_ms)
    take_over(opened.connection, opened.tombstones, paths, now_ms)
    opened = replace(opened, last_seq=max(opened.last_seq, events.applied_seq(opened.connection)))
    if is_missing:
        log.warning("database_missing", hint="it was rebuilt, with every event under its id")
        meta.put(opened.connection, "made_anew", str(now_ms))
    if _is_log_behind(opened, paths):
        log.warning("log_missing", hint="the database is copied at the next tick")
        events.note_lost_log(opened.connection, now_ms)
    _finish_forgetting(paths, secret, now_ms)
    return opened


def _open(paths: WorkspacePaths, crash_guard: CrashGuard, secret: bytes, now_ms: int) -> OpenedStore:
    """Open the database, or make it from the newest snapshot that can be used, at last from the log alone."""
    if Path(paths.database).exists():
        return _open_database(paths, crash_guard, secret, now_ms)
    for snapshot in snapshots.list_snapshots(paths.snapshots):
        if not snapshot.is_whole:
            continue
        snapshots.restore(snapshot, paths.database)
        log.info("snapshot_restored", seq=snapshot.seq)
        try:
            return _open_database(paths, crash_guard, secret, now_ms)
        except (StoreCorrupt, MigrationFailed) as error:
            log.warning("snapshot_unusable", seq=snapshot.seq, error=error.code)
            remove_database(paths)
            snapshot.path.rename(name_aside(paths, now_ms))  # looked through like a database
    if snapshots.list_snapshots(paths.snapshots):
        log.warning("snapshots_damaged", hint="the log alone is replayed; what was pruned from it is lost")
    return _open_database(paths, crash_guard, secret, now_ms)


def remove_database(paths: WorkspacePaths) -> None:
    """Remove a database that is the copy of a snapshot, and nothing else yet."""
    for suffix in ("-wal", "-shm", ""):
        Path(f"{paths.database}{suffix}").unlink(missing_ok=True)


def _open_database(paths: WorkspacePaths, crash_guard: CrashGuard, secret: bytes, now_ms: int) -> OpenedStore:
    """Open the database, made if missing, and bring it up to the log. Raises StoreCorrupt, whatever is damaged."""
    connection = open_writer(paths.database)
    try:
        tombstones = _read_whole(connection, paths, secret, now_ms)
        recovery = _replay(connection, tombstones, paths, crash_guard)
        last = max(recovery.last_seq, events.applied_seq(connection), ids.last_id(connection))
    except DatabaseError as error:
        connection.close()
        crash_guard.end("replay")
        raise translate(error) from error
    except SiftdError:
        connection.close()
        crash_guard.end("replay")
        raise
    return OpenedStore(connection, recovery, tombstones, last)


def _read_whole(connection: Database, paths: WorkspacePaths, secret: bytes, now_ms: int) -> Tombstones:
    """Read everything that the daemon stands on, so that damage is found here and not once it serves."""
    try:
        migrate(connection, now_ms)
        sqlite_checks.read_what_it_stands_on(connection)
        _check_secret(connection, paths, secret)
        _check_age(connection, paths)
        ids.last_id(connection)
        OptOuts(connection)
        newest_time(connection)
        number_spans(connection)
        return Tombstones(connection, secret)
    except _MISREAD as error:
        raise StoreCorrupt("the database is damaged (a number of ours is none)") from error


def _check_secret(connection: Database, paths: WorkspacePaths, secret: bytes) -> None:
    """Raise HomeUnusable for another secret than the store was made with, StoreCorrupt for another's database.

    A store of an earlier siftd has no fingerprint yet: it gets that of its secret. A person's mark lets another one in.
    """
    own = fingerprint_of(secret)
    noted = meta.get(connection, "secret")
    if noted != own and not Path(paths.new_secret).exists():
        logged = {find_fingerprint(each) for each in segments(paths.wal)} - {None}
        if noted is not None and own in logged:
            raise StoreCorrupt("the database is another workspace's")
        if noted is not None or (logged and own not in logged):
            raise lost(paths)
    if noted != own:
        meta.put(connection, "secret", own)
        if Path(paths.new_secret).exists():
            seal_file(paths.wal)  # so that a segment names the new one
    Path(paths.new_secret).unlink(missing_ok=True)


def _is_log_behind(opened: OpenedStore, paths: WorkspacePaths) -> bool:
    """Whether the log has lost its end: neither it nor a snapshot has what the database has."""
    applied = events.applied_seq(opened.connection)
    newest = snapshots.list_snapshots(paths.snapshots)[:1]
    alone = int(meta.get(opened.connection, "log_lost_seq") or 0)
    known = max(opened.recovery.last_seq, newest[0].seq if newest else 0, alone)
    return applied > known and applied > last_seq(paths.wal)


def _check_age(connection: Database, paths: WorkspacePaths) -> None:
    """Raise StoreCorrupt for a database that is older than a snapshot of it: the log may not bridge the gap."""
    applied = events.applied_seq(connection)
    newest = snapshots.list_snapshots(paths.snapshots)[:1]
    if newest and newest[0].seq > applied:
        verified = snapshots.find_verified(paths.snapshots)
        if verified is not None and verified.seq > applied:
            raise StoreCorrupt("the database is older than its snapshot")


def _replay(connection: Database, tombstones: Tombstones, paths: WorkspacePaths, crash_guard: CrashGuard) -> Recovery:
    """Bring the database up to the log."""
    foreign = set_foreign_aside(paths.wal, _store_of(connection, paths), paths.quarantine)
    if foreign:
        log.error("foreign_segments", count=foreign, hint="another workspace's, set aside in the quarantine")
    recovery = recover(paths.wal, applied=events.applied_seq(connection), quarantine=paths.quarantine)
    recovery.foreign_segments = foreign
    if meta.get(connection, "store") is None and recovery.store is not None:
        meta.put(connection, "store", recovery.store)
    if recovery.last_seq <= events.applied_seq(connection):
        _log_recovery(recovery, added=0)
        return recovery  # nothing is written: a person who holds the lock keeps no daemon from its start
    begin(connection)
    records = _watched(tombstones.iter_left(recovery.records), paths, crash_guard)
    added = events.replay_records(connection, records, functools.partial(leave_out, paths, crash_guard))
    if recovery.last_seq > events.applied_seq(connection):  # the last record was forgotten, or left out
        meta.put(connection, "applied_seq", str(recovery.last_seq))
    commit(connection)
    tombstones.reload()
    _log_recovery(recovery, added)
    return recovery


def _log_recovery(recovery: Recovery, added: int) -> None:
    if added or recovery.torn_bytes or recovery.corrupt_lines:
        log.info("log_replayed", added=added, torn_bytes=recovery.torn_bytes, corrupt_lines=recovery.corrupt_lines)


def _store_of(connection: Database, paths: WorkspacePaths) -> str | None:
    """Return the store that this database is of; of a fresh one what the newest that was set aside says, if so does
    the log: it may have been set aside because it was another's.
    """
    if known := meta.get(connection, "store"):
        return known
    logged = {find_store(each) for each in segments(paths.wal)}
    named = (read_store(str(file)) for file in list_set_aside(paths))
    return next((store for store in named if store is not None and store in logged), None)


def _watched(records: Iterable[Record], paths: WorkspacePaths, crash_guard: CrashGuard) -> Iterator[Record]:
    """Yield records, each marked while it is applied; one that has ended two starts is quarantined instead."""
    for record in records:
        if crash_guard.is_quarantined("replay", record.seq):
            _quarantine(record, paths)
            continue
        crash_guard.begin("replay", [record.seq])
        yield record
        if not crash_guard.is_quarantined("replay", record.seq):
            crash_guard.clear("replay", [record.seq])
    crash_guard.end("replay")


def leave_out(paths: WorkspacePaths, crash_guard: CrashGuard, record: Record, error: Exception) -> None:
    """Quarantine a record that no table takes; it stays in the log, for a siftd that can apply it."""
    log.error("record_invalid", seq=record.seq, kind=record.kind, error=type(error).__name__)
    crash_guard.condemn("replay", record.seq)
    _quarantine(record, paths)


def _quarantine(record: Record, paths: WorkspacePaths) -> None:
    set_aside(Path(paths.quarantine), f"condemned-{record.seq}", encode(record))
    log.error("record_left_out", seq=record.seq, kind=record.kind, hint="`mem rebuild` tries it again")


def _finish_forgetting(paths: WorkspacePaths, secret: bytes, now_ms: int) -> None:
    """Erase what a crash left of something forgotten before anybody is served. What holds it is told at ticks."""
    try:
        with reading(paths.database) as connection:
            if pending_seq(connection) is None:
                return
        from siftd.daemon.erasure.purge_files import FilePurger  # a tenth of a start, and seldom needed

        purger = FilePurger(paths, secret)
        if purger.is_active_segment_concerned():
            seal_file(paths.wal)
        purger.erase(now_ms, is_resumed=True)
    except (SiftdError, OSError) as error:
        log.warning("forget_pending", error=type(error).__name__)
