"""What a candidate for a fact stands beside: the events that it was taken from, the facts that it may be judged by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from siftd.facts.model import Known
from siftd.store.fact_scope import LIVE, VALID

_ORIGIN = """
SELECT e.id, e.uid, e.session_id, s.source FROM json_each(?) j CROSS JOIN events e ON e.id = j.value
LEFT JOIN sessions s ON s.session_id = e.session_id ORDER BY j.key
"""
_KNOWN = f"""
SELECT m.id, m.text, m.category, m.topic, m.said_by, m.importance, m.confidence, coalesce(m.valid_from, m.ts),
       m.said_by = 'person' OR EXISTS (
           SELECT 1 FROM fact_history h WHERE h.fact_id = m.id AND h.who = 'person' AND h.what = 'confirm')
FROM json_each(?) j CROSS JOIN facts m ON m.id = j.value WHERE m.project IS NULL AND {VALID} AND {LIVE} ORDER BY j.key
"""  # noqa: S608 - constants only
_OF_TOPIC = f"SELECT m.id FROM facts m WHERE m.topic = ? AND m.project IS NULL AND {VALID} AND {LIVE}"  # noqa: S608
_SAME = f"""
SELECT m.id FROM facts m WHERE m.text = ? AND m.project IS NULL AND m.topic IS ?
AND (m.status = 'archived' OR {VALID} AND {LIVE}) ORDER BY m.status = 'archived', m.id LIMIT 1
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class Evidence:
    """The events of a candidate that are stored, and where they are from."""

    events: tuple[int, ...]
    uid: str
    """Of the first."""
    session_id: str
    client: str | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live fact beside a candidate."""

    known: Known
    since: int
    """Since when it holds."""
    is_a_persons: bool
    """Whether a person said it, or said that it holds."""


def find_evidence(connection: sqlite3.Connection, sources: Sequence[int]) -> Evidence | None:
    """Return what of the sources is stored; None where nothing is."""
    rows = connection.execute(_ORIGIN, (json.dumps(list(sources)),)).fetchall()
    if not rows:
        return None
    event_id, uid, session_id, client = rows[0]
    return Evidence(tuple(int(row[0]) for row in rows), str(uid or f"id:{event_id}"), str(session_id), client)


def find_neighbours(connection: sqlite3.Connection, near: Sequence[tuple[int, float]], now_ms: int) -> list[Neighbour]:
    """Return those of (fact, cosine) that hold now for the whole project, the nearest first."""
    cosines = dict(near)
    rows = connection.execute(_KNOWN, (json.dumps(list(cosines)), now_ms, now_ms))
    return [
        Neighbour(
            Known(
                id=fact_id,
                text=text,
                category=category,
                topic=topic,
                said_by=said_by,
                importance=importance,
                confidence=confidence,
                cosine=cosines[fact_id],
            ),
            since,
            bool(is_a_persons),
        )
        for fact_id, text, category, topic, said_by, importance, confidence, since, is_a_persons in rows
    ]


def list_of_topic(connection: sqlite3.Connection, topic: str, now_ms: int) -> list[int]:
    """Return the facts that hold now of a topic."""
    return [int(row[0]) for row in connection.execute(_OF_TOPIC, (topic, now_ms, now_ms))]


def find_same(connection: sqlite3.Connection, text: str, topic: str | None, now_ms: int) -> int | None:
    """Return the fact that says exactly this, of the same topic: one that holds, or that was archived."""
    row = connection.execute(_SAME, (text, topic, now_ms, now_ms)).fetchone()
    return int(row[0]) if row else None


def is_cited(connection: sqlite3.Connection, fact_id: int, events: Sequence[int]) -> bool:
    """Whether a fact that is live was taken from all of these events already."""
    sql = "SELECT count(*) FROM fact_sources s JOIN facts f ON f.id = s.fact_id WHERE s.fact_id = ?"
    sql += " AND f.status = 'active' AND s.event_id IN (SELECT value FROM json_each(?))"
    return bool(connection.execute(sql, (fact_id, json.dumps(list(events)))).fetchone()[0] == len(events))
