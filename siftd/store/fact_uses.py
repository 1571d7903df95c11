"""What came of facts: how often each was given, and how often its session then worked on what it names.

Counted anew from the ledger once a session is over, so that counting twice changes nothing. To be listed, or found by a
search, is no use.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from siftd.store.answers import as_rows
from siftd.store.injection_ledger import touched_by
from siftd.wire.requests.finding import Injection

USED_IMPORTANCE = 4
"""From here on a fact is the project's without having been used."""
_STALE = """
SELECT i.fact_id FROM injections i JOIN sessions s ON s.session_id = i.session_id
WHERE i.fact_id IS NOT NULL AND (s.last_ts < ?1 OR s.ended_ts >= s.last_ts) GROUP BY i.fact_id
HAVING count(*) <> coalesce((SELECT u.given FROM fact_uses u WHERE u.fact_id = i.fact_id), 0) LIMIT ?2
"""
_GIVEN = """
SELECT i.piece, i.session_id, i.event_id, i.after_id, f.text FROM injections i JOIN facts f ON f.id = i.fact_id
JOIN sessions s ON s.session_id = i.session_id
WHERE i.fact_id = ?1 AND (s.last_ts < ?2 OR s.ended_ts >= s.last_ts)
"""
_COUNT = """
INSERT INTO fact_uses (fact_id, given, used, last_ts) VALUES (?1, ?2, ?3, (SELECT max(ts) FROM events WHERE id = ?4))
ON CONFLICT (fact_id) DO UPDATE SET given = excluded.given, used = excluded.used,
    last_ts = CASE WHEN excluded.last_ts > coalesce(last_ts, 0) THEN excluded.last_ts ELSE last_ts END
"""
_PROMOTED = """
SELECT f.id, f.importance >= ?2, coalesce(u.confirmed, 0) > 0, coalesce(u.used, 0) > 0 FROM facts f
JOIN sessions s ON s.session_id = f.session_id LEFT JOIN fact_uses u ON u.fact_id = f.id
WHERE f.scope = 'session' AND f.status = 'active' AND (s.last_ts < ?1 OR s.ended_ts >= s.last_ts)
AND (f.importance >= ?2 OR u.confirmed > 0 OR u.used > 0
     OR EXISTS (SELECT 1 FROM fact_history h WHERE h.fact_id = f.id AND h.what = 'merge')) LIMIT ?3
"""
_UNUSED = """
SELECT f.id FROM facts f LEFT JOIN fact_uses u ON u.fact_id = f.id
WHERE f.status = 'active' AND f.origin <> 'kept' AND NOT f.pinned AND f.importance <= 2
AND f.category NOT IN ('instruction', 'preference') AND f.updated_ts < ?1 AND coalesce(u.last_ts, 0) < ?1
ORDER BY f.id LIMIT ?2
"""


class Promotion(NamedTuple):
    """A fact of a session that is to become the project's, and why."""

    fact_id: int
    why: str


def count_uses(connection: sqlite3.Connection, idle_since: int, limit: int) -> int:
    """Count what came of facts that were given in sessions which are over; return of how many facts."""
    stale = [int(row[0]) for row in connection.execute(_STALE, (idle_since, limit))]
    for fact_id in stale:
        given = as_rows(connection.execute(_GIVEN, (fact_id, idle_since)), Injection)
        touched = [each for row in given if (each := touched_by(connection, row)) is not None]
        connection.execute(_COUNT, (fact_id, len(given), len(touched), max(touched, default=None)))
    return len(stale)


def list_promotions(connection: sqlite3.Connection, idle_since: int, limit: int) -> list[Promotion]:
    """Return the facts of sessions which are over that are the project's from now on."""
    rows = connection.execute(_PROMOTED, (idle_since, USED_IMPORTANCE, limit))
    return [
        Promotion(
            int(fact_id),
            "important" if is_important else "confirmed" if is_confirmed else "used again" if is_used else "said again",
        )
        for fact_id, is_important, is_confirmed, is_used in rows
    ]


def list_unused(connection: sqlite3.Connection, since: int, limit: int) -> list[int]:
    """Return the facts of little importance that nobody has said again, used or confirmed since then. What was kept on
    purpose, and what somebody wants of every session, is none of them."""
    return [int(row[0]) for row in connection.execute(_UNUSED, (since, limit))]
