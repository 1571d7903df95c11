"""The events that facts were taken from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def cite(connection: sqlite3.Connection, fact_id: int, sources: Iterable[int]) -> None:
    """Note the events that a fact was taken from, those of them that are there."""
    connection.executemany(
        "INSERT OR IGNORE INTO fact_sources SELECT ?1, id FROM events WHERE id = ?2",
        [(fact_id, each) for each in sources],
    )


def list_sources(connection: sqlite3.Connection, fact_id: int) -> list[int]:
    """Return the events that a fact was taken from, the first first."""
    sql = "SELECT event_id FROM fact_sources WHERE fact_id = ? ORDER BY event_id"
    return [int(row[0]) for row in connection.execute(sql, (fact_id,))]
