"""Opening the database: one writer, any number of read-only readers.

`journal_mode=WAL` with `synchronous=NORMAL` is safe only because the log is synced before every acknowledgement
and replayed at start.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from siftd.errors import StoreCorrupt, StoreError
from siftd.store.access import Database

BUSY_MS = 100
"""How long a writer waits for a person's lock before it goes on with the log alone."""

PAGE_BYTES = 8192
"""Of a database that is made; one that is there keeps its own. Five vectors of 384 numbers fill such a page, of which
pages of 4,096 bytes hold two and stay a quarter empty."""

READER_CACHE_KB = 4_000
"""Of pages. Every commit of the writer empties a reader's cache and the next search fills it; with 16 MB or 64 searches
are as quick as with 4, because the system keeps the file in memory anyway."""

SET_ASIDE = "it is set aside and rebuilt at the next start"
"""What becomes of a damaged database."""

_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def open_writer(path: str) -> Database:
    """Open the database for writing, made if missing, of mode 0600. Raises StoreCorrupt for a damaged one."""
    file = Path(path)
    file.touch(mode=0o600)
    if not file.stat().st_mode & 0o200:
        file.chmod(0o600)  # somebody was careful; without the right to write nothing would be captured any more
    return _open(
        path,
        f"PRAGMA page_size = {PAGE_BYTES}",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA foreign_keys = ON",
        "PRAGMA wal_autocheckpoint = 2000",
        "PRAGMA cache_size = -8000",
        seconds=BUSY_MS / 1000,
    )


def open_reader(path: str) -> Database:
    """Open the database read-only. Raises StoreError when there is none."""
    connection = _open(
        f"file:{quote(path)}?mode=ro",
        "PRAGMA query_only = ON",
        f"PRAGMA cache_size = -{READER_CACHE_KB}",
        "SELECT 1 FROM sqlite_master LIMIT 1",
        seconds=1.0,
    )
    connection.text_factory = _decode
    return connection


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has written to the database."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def begin(connection: sqlite3.Connection) -> None:
    """Take the write lock, as long as the connection waits for one."""
    connection.execute("BEGIN IMMEDIATE")


def commit(connection: sqlite3.Connection) -> None:
    """Make what was written since `begin` part of the database."""
    connection.execute("COMMIT")


def rollback(connection: sqlite3.Connection) -> None:
    """Take back what was written since `begin`, if anything is open."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def wait_for_locks(connection: sqlite3.Connection, *, waits: bool) -> None:
    """Let a writer wait for a person's lock, or not."""
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS if waits else 0}")


def hold_snapshot(connection: sqlite3.Connection) -> None:
    """Let a reader see the database as it is at its next query, until it is closed."""
    connection.execute("BEGIN")


@contextmanager
def reading(path: str) -> Iterator[Database]:
    """Give a reader of the database for a moment. Raises StoreError, or StoreCorrupt for a damaged one."""
    try:
        with closing(open_reader(path)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise translate(error) from error


def _open(target: str, *statements: str, seconds: float) -> Database:
    """Connect and run `statements`; a database that refuses one is closed again, so that it can be set aside."""
    try:
        connection = sqlite3.connect(
            target, uri=target.startswith("file:"), isolation_level=None, check_same_thread=False, timeout=seconds
        )
    except sqlite3.Error as error:
        raise translate(error) from error
    try:
        for statement in statements:
            connection.execute(statement)
    except sqlite3.Error as error:
        connection.close()
        raise translate(error) from error
    except UnicodeDecodeError as error:  # SQLite's message names what is malformed, and the name itself is
        connection.close()
        raise _corrupt("its schema is not text") from error
    return Database(connection)


def _decode(text: bytes) -> str:
    """Text that a person stored need not be UTF-8; one such row must not stop every read that meets it."""
    return text.decode("utf-8", "replace")


def translate(error: sqlite3.Error) -> StoreError:
    """Return our error for one of sqlite3's. Its message may quote values, so only its name goes on."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code in _CORRUPT or (isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)):
        return _corrupt(name)
    return StoreError(f"the database refused ({name})", hint="see `mem doctor`")


def is_damage(error: StoreError | sqlite3.Error) -> bool:
    """Whether an error says that the file is no database any more, and not that it cannot be read now."""
    return isinstance(error if isinstance(error, StoreError) else translate(error), StoreCorrupt)


def _corrupt(reason: str) -> StoreCorrupt:
    return StoreCorrupt(f"the database is damaged ({reason})", hint=SET_ASIDE)
