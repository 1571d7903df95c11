"""What SQLite can and whether a database is whole: asked before anything stands on it."""

from __future__ import annotations

import sqlite3

OLDEST_SQLITE = (3, 34)
"""The first with the trigram tokenizer."""
_SMALL = ("meta", "migrations", "sqlite_sequence", "counters", "rejections", "forgets", "opt_outs", "conversations")


def find_missing() -> str | None:
    """Return what this Python's SQLite lacks; None when it has all that the store needs."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return f"SQLite {sqlite3.sqlite_version} is older than 3.34"
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text, tokenize = 'trigram')")
    except sqlite3.Error:
        return f"SQLite {sqlite3.sqlite_version} was built without FTS5 and its trigrams"
    finally:
        connection.close()
    return None


def is_whole(connection: sqlite3.Connection) -> bool:
    """Whether the database's own check finds no damage. Takes as long as reading the whole file."""
    try:
        row = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError:
        return False
    return bool(row and row[0] == "ok")


def read_what_it_stands_on(connection: sqlite3.Connection) -> None:
    """Read the tables that a daemon stands on, and a page of events. Raises sqlite3.Error, or what Python says to a
    number or a text of ours that is damaged."""
    connection.execute("SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)")
    for table in _SMALL:
        connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - constants only
