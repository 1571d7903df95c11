"""Copies of the database, made while it is in use, that a rebuild can begin from.

`snapshots/<applied seq>-<digest>.sqlite`: everything the log says up to that seq is in it. A copy gets its name only
after SQLite's own check has found it whole and it was synced, so a file with such a name was good when it was made. The
digest (the first 16 hex digits of the file's SHA-256) tells whether it still is: SQLite's check knows trees and pages,
and would not see one changed letter in a payload.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from siftd.errors import StoreCorrupt, StoreError
from siftd.log.files import sync_folder
from siftd.store import meta
from siftd.store.connection import open_reader, translate
from siftd.store.events import applied_seq
from siftd.store.migrate import check_complete
from siftd.workspace.home import ensure_folder

SNAPSHOTS_MAX = 2
"""Snapshots that are kept at most: the newest, and the one before should that be damaged."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the database that has everything up to record `seq`."""

    path: Path
    seq: int

    @property
    def is_whole(self) -> bool:
        """Whether every byte is as it was made. Takes as long as reading the file."""
        try:
            return self.path.stem.partition("-")[2] == digest(self.path)
        except OSError:
            return False

    @property
    def modified_ms(self) -> int:
        return int(self.path.stat().st_mtime * 1000)


def list_snapshots(folder: str) -> list[Snapshot]:
    """Return the snapshots, newest first."""
    found = [
        Snapshot(each, int(seq))
        for each in Path(folder).glob("[0-9]*-*.sqlite")
        if (seq := each.stem.partition("-")[0]).isdigit()
    ]
    return sorted(found, key=lambda each: each.seq, reverse=True)


class State(NamedTuple):
    """What decides whether a database is to be copied."""

    applied: int
    made_at: int
    """Milliseconds since the epoch."""
    lost_seq: int
    """Up to this seq the log was lost: the database alone has what it held; 0 if it never was."""


def read_state(database: str) -> State:
    """Return the state of a database. Raises StoreError."""
    connection = open_reader(database)
    try:
        made_at = connection.execute("SELECT min(ts) FROM migrations").fetchone()[0]
        return State(applied_seq(connection), int(made_at or 0), int(meta.get(connection, "log_lost_seq") or 0))
    except sqlite3.Error as error:
        raise translate(error) from error
    finally:
        connection.close()


def make_snapshot(database: str, folder: str) -> Snapshot:
    """Make a snapshot and remove those beyond the newest two. Raises StoreError or OSError; none is then made."""
    ensure_folder(folder)
    remove_leftovers(folder)
    fresh = Path(folder) / ".snapshot.new"
    seq = copy_database(database, fresh)
    snapshot = Snapshot(fresh.rename(Path(folder) / f"{seq}-{digest(fresh)}.sqlite"), seq)
    sync_folder(folder)
    for each in list_snapshots(folder)[SNAPSHOTS_MAX:]:
        each.path.unlink(missing_ok=True)
    return snapshot


def find_verified(folder: str) -> Snapshot | None:
    """Return the newest snapshot that is as it was made."""
    return next((snapshot for snapshot in list_snapshots(folder) if snapshot.is_whole), None)


def restore(snapshot: Snapshot, database: str) -> None:
    """Put a copy of a snapshot where the database was; there must be none."""
    for suffix in ("-wal", "-shm"):  # of another database: SQLite would take them for this one's
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    fresh = Path(f"{database}.new")
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    shutil.copyfile(snapshot.path, fresh)
    _sync(fresh)
    fresh.rename(database)
    sync_folder(str(fresh.parent))


def copy_database(database: str, target: Path) -> int:
    """Copy the database into the new file `target` (mode 0600), check and sync it; return its applied seq.

    Other connections read and write meanwhile. Raises StoreError or OSError; there is then no such file.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        seq = _copy(database, target)
        _sync(target)
    except sqlite3.Error as error:
        target.unlink()
        raise translate(error) from error
    except (StoreError, OSError):
        target.unlink()
        raise
    return seq


def remove_leftovers(folder: str) -> None:
    """Remove the half-made copies of a crash."""
    for each in Path(folder).glob(".snapshot.new*"):
        each.unlink(missing_ok=True)


def _copy(database: str, target: Path) -> int:
    source = open_reader(database)
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a write-ahead log beside it
        return _verified_seq(copy)
    finally:
        copy.close()
        source.close()


def _verified_seq(connection: sqlite3.Connection) -> int:
    row = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if row is None or row[0] != "ok":
        raise StoreCorrupt("the copy of the database is damaged", hint="see `mem doctor`")
    check_complete(connection)
    return applied_seq(connection)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
