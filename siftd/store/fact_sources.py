"""The events that facts were taken from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

_QUOTES = """
SELECT f.id, f.quote, s.event_id FROM json_each(?) j CROSS JOIN facts f ON f.id = j.value
JOIN fact_sources s ON s.fact_id = f.id WHERE f.quote IS NOT NULL
"""


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


def quotes_of(connection: sqlite3.Connection, facts: Sequence[int]) -> dict[int, tuple[str, set[int]]]:
    """Return, for those of the facts that were taken from words, (the words, the events that say them)."""
    found: dict[int, tuple[str, set[int]]] = {}
    for fact_id, quote, event_id in connection.execute(_QUOTES, (json.dumps(list(facts)),)):
        found.setdefault(fact_id, (quote, set()))[1].add(event_id)
    return found
