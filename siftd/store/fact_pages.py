"""The page of the facts that hold, and what says each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from siftd.facts.model import CATEGORIES
from siftd.store.answers import as_rows
from siftd.store.fact_scope import COLUMNS, HELD_AT, LIVE, VALID
from siftd.store.facts import flags_of
from siftd.wire.requests.facts import ListedFact

_RANK = " ".join(f"WHEN '{name}' THEN {rank}" for rank, name in enumerate(CATEGORIES))
_ORDER = f"CASE m.category {_RANK} ELSE {len(CATEGORIES)} END"
_PAGE = """
SELECT {columns}, (SELECT count(*) FROM fact_sources s WHERE s.fact_id = m.id) AS sources,
       {order} AS rank, -coalesce(m.valid_from, m.ts) AS late FROM facts m
WHERE {held} AND (:category IS NULL OR m.category = :category) AND (:sessions OR m.scope = 'project')
AND (:rank IS NULL OR ({order}, -coalesce(m.valid_from, m.ts), -m.id) > (:rank, :late, -:id))
ORDER BY rank, late, m.id DESC LIMIT :limit
"""
_OF_SESSIONS = """
SELECT count(*) FROM facts m WHERE {held} AND m.scope = 'session' AND (:category IS NULL OR m.category = :category)
"""
_SOURCES = """
SELECT e.id, e.ts, e.session_id, e.said_by, s.source AS client, e.tool, e.payload_json FROM fact_sources f
JOIN events e ON e.id = f.event_id LEFT JOIN sessions s ON s.session_id = e.session_id
WHERE f.fact_id = ? ORDER BY e.ts, e.id LIMIT ?
"""
_ONCE_THERE = """
SELECT j.value FROM json_each(?) j WHERE EXISTS (
    SELECT 1 FROM event_facets f WHERE f.facet = 'file'
    AND (f.value = j.value OR substr(f.value, -length(j.value) - 1) = '/' || j.value))
"""
_USES = "SELECT given, used, confirmed, last_ts FROM fact_uses WHERE fact_id = ?"
_NOW = f"{VALID.replace('?', ':now')} AND {LIVE}"
_THEN = HELD_AT.replace("?", ":now")

Place = tuple[int | None, int | None, int | None]
"""Where a list goes on: behind a category's rank, a moment, an id."""


def list_page(
    connection: sqlite3.Connection,
    *,
    now_ms: int,
    as_of: int | None,
    category: str | None,
    sessions: bool,
    limit: int,
    behind: Place,
) -> tuple[list[ListedFact], list[Place]]:
    """Return facts that hold, by category, the newest first, each with its place in the list."""
    rank, late, last_id = behind
    sql = _PAGE.format(columns=COLUMNS, order=_ORDER, held=_NOW if as_of is None else _THEN)
    values = {
        "now": now_ms if as_of is None else as_of,
        "category": category,
        "sessions": sessions,
        "rank": rank,
        "late": late,
        "id": last_id,
        "limit": limit,
    }
    rows = as_rows(connection.execute(sql, values))
    places: list[Place] = [(row.pop("rank"), row.pop("late"), row["id"]) for row in rows]
    return [{**row, **flags_of(row), "gone": []} for row in rows], places  # type: ignore[typeddict-item]


def count_of_sessions(connection: sqlite3.Connection, now_ms: int, as_of: int | None, category: str | None) -> int:
    """Return how many facts hold that are no more than what one session said."""
    sql = _OF_SESSIONS.format(held=_NOW if as_of is None else _THEN)
    values = {"now": now_ms if as_of is None else as_of, "category": category}
    return int(connection.execute(sql, values).fetchone()[0])


def list_once_there(connection: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    """Return those of the paths that a captured call was about."""
    return {str(row[0]) for row in connection.execute(_ONCE_THERE, (json.dumps(list(paths)),))} if paths else set()


def list_sources(connection: sqlite3.Connection, fact_id: int, limit: int) -> list[dict[str, Any]]:
    """Return the events that a fact was taken from, with their payloads, the first first."""
    return as_rows(connection.execute(_SOURCES, (fact_id, limit)))


def find_uses(connection: sqlite3.Connection, fact_id: int) -> tuple[int, int, int, int | None]:
    """Return how often a fact was given, used and confirmed, and when last."""
    row = connection.execute(_USES, (fact_id,)).fetchone()
    return (0, 0, 0, None) if row is None else (int(row[0]), int(row[1]), int(row[2]), row[3])
