"""Which ids have been given."""

from __future__ import annotations

import sqlite3

ID_MAX = 2**53
"""The highest id that is given. Arbitrary: JSON carries it, and nobody captures so much."""


def last_id(connection: sqlite3.Connection) -> int:
    """Return the highest id ever given in `events` or `facts`, rows inserted and deleted by hand included.

    One above ID_MAX is a person's: to go on from it would soon leave no number for what is captured.
    """
    sql = "SELECT max(seq) FROM sqlite_sequence WHERE name IN ('events', 'facts')"
    given = int(connection.execute(sql).fetchone()[0] or 0)
    if given <= ID_MAX:
        return given
    sql = "SELECT max((SELECT coalesce(max(id), 0) FROM events WHERE id <= ?1),"
    sql += " (SELECT coalesce(max(id), 0) FROM facts WHERE id <= ?1))"
    return int(connection.execute(sql, (ID_MAX,)).fetchone()[0])
