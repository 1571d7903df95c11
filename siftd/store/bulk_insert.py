"""Many rows in one statement.

A statement that fires a trigger into full text begins a savepoint, and at a savepoint FTS5 writes what it has gathered
as a segment of its own, to be merged with the others later. Row by row that is three times the work of many at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_ROWS_MAX = 64
"""Of one statement: its values stay below 999, which is what an old SQLite takes."""


def insert_rows(
    connection: sqlite3.Connection, insert: str, columns: int, rows: Sequence[tuple[object, ...]], then: str = ""
) -> list[int]:
    """Run `insert` (without its VALUES) for all `rows`, then `then` (an upsert's clause); return the new rowids.

    They are right for a table with AUTOINCREMENT, of which every row is new.
    """
    ids: list[int] = []
    for start in range(0, len(rows), _ROWS_MAX):
        piece = rows[start : start + _ROWS_MAX]
        values = ", ".join([f"({', '.join('?' * columns)})"] * len(piece))
        cursor = connection.execute(f"{insert} VALUES {values} {then}", [value for row in piece for value in row])
        last = int(cursor.lastrowid or 0)
        ids += range(last - len(piece) + 1, last + 1)
    return ids
