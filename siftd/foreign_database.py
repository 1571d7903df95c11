"""A client's SQLite database, read so that nothing it is can harm, and so that its owner does not notice.

It and what lies beside it (the write-ahead log and its index) are regular files of this user's, none a link. Nothing is
written: with a log there it is opened for reading alone, beside whoever writes; without one it stands still, and is
read as it is, because SQLite would leave an empty log behind. A statement may do no more than read named tables,
compute, and run for so many steps: what a database calls a table may be a view, with functions in it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from urllib.parse import quote

VALUE_BYTES_MAX = 32 * 1024 * 1024
"""No text of a row is longer, or its statement fails: as long as a line of JSON may be."""
STEPS_MAX = 100_000_000
"""What all statements of one opening may do together, in SQLite's steps: some ten seconds at most. Arbitrary."""
WAIT_SECONDS = 1.0
_STEPS = 10_000
_COMPUTE = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION)
_FUNCTIONS = frozenset("count coalesce length max min sum substr json_object json_extract".split())


@contextmanager
def open_database(path: str, tables: Collection[str]) -> Generator[sqlite3.Connection, None, None]:
    """Open a database for statements that read `tables`. Whatever is wrong with it, now or later, is an OSError."""
    has_log = _check(path)
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    before = _when(path)
    try:
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?{mode}", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
        try:
            _confine(connection, frozenset(tables))
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"it cannot be read: {_reason(error)}", path) from None
    if not has_log and _when(path) != before:
        raise OSError(errno.EAGAIN, "it was changed while it was read", path)


def _check(path: str) -> bool:
    """Return whether a log with anything in it lies beside the database. Raises OSError for what may not be opened."""
    log_bytes = 0
    for suffix in ("", "-wal", "-shm"):
        try:
            found = os.lstat(path + suffix)
        except FileNotFoundError:
            if suffix:
                continue
            raise
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path + suffix)
        if found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it is another user's", path + suffix)
        if suffix == "-wal":
            log_bytes = found.st_size
    return log_bytes > 0


def _when(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns


def _confine(connection: sqlite3.Connection, tables: frozenset[str]) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
    left = STEPS_MAX

    def step() -> bool:
        nonlocal left
        left -= _STEPS
        return left < 0

    def authorize(action: int, first: str | None, second: str | None, _: str | None, view: str | None) -> int:
        if view is not None:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_OK if first in tables else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK if action in _COMPUTE else sqlite3.SQLITE_DENY

    connection.set_progress_handler(step, _STEPS)
    connection.set_authorizer(authorize)


def _reason(error: sqlite3.Error) -> str:
    """Return why, in words that quote nothing of the database."""
    return getattr(error, "sqlite_errorname", None) or type(error).__name__


def text_of(value: object) -> str:
    """Return a row's value as text: SQLite keeps anything in any column."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def rows_of(connection: sqlite3.Connection, sql: str) -> Iterator[dict[str, str]]:
    """Yield what a statement finds, as texts by the names of the columns."""
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, map(text_of, row), strict=True))
