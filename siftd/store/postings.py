"""Postings: which rows of a full-text index hold an expression, newest first, without any score.

FTS5's own bm25 takes 4 to 5 microseconds a row; the ids alone, joined to one text inside SQLite, take 0.1.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

_NEWEST = """
SELECT group_concat(id) FROM
    (SELECT rowid AS id FROM {table} WHERE {table} MATCH ?1{within} ORDER BY rowid DESC LIMIT ?2)
"""
_WITHIN = " AND rowid BETWEEN ?3 AND ?4"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
_LAST = 2**62


def newest(
    connection: sqlite3.Connection, table: str, expression: str, limit: int, *, first: int = 0, last: int = _LAST
) -> str:
    """Return the ids from `first` to `last` that match, joined by commas: the newest `limit` of them, newest first."""
    is_bounded = first > 0 or last < _LAST  # bounds cost 10 microseconds even where they leave nothing out
    sql = _NEWEST.format(table=table, within=_WITHIN if is_bounded else "")
    row = connection.execute(sql, (expression, limit, first, last) if is_bounded else (expression, limit)).fetchone()
    return str(row[0] or "")


def count(connection: sqlite3.Connection, table: str, expressions: Iterable[str], limit: int) -> list[int]:
    """Return how many rows match each expression; `limit` stands for that many or more."""
    sql = _COUNT.format(table=table)
    return [int(connection.execute(sql, (each, limit)).fetchone()[0]) for each in expressions]


def last_id(connection: sqlite3.Connection, table: str) -> int:
    """Return the highest id that `table` has had, about the number of its rows; never slow."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0
