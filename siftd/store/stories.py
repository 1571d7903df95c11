"""What the summaries of turns and sessions stand on, and which sessions wait for theirs.

A turn is what happened in a session after the `Stop` before; a session's summary hangs on its last event.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MAX_EVENTS = 400
_FIRST_EVENTS = 40
"""Of a longer story its beginning and its end are told."""
MAX_BYTES = 4_000_000
_TURN_BEFORE = "SELECT id FROM events WHERE session_id = ? AND id < ? AND tool = 'Stop' ORDER BY id DESC LIMIT 1"
_TOOLS = "SELECT id, tool FROM events WHERE session_id = ? AND id > ? AND id <= ? ORDER BY id"
_EVENT = "SELECT id, ts, tool, payload_json, input_hash, outcome FROM events WHERE id = ?"
_SESSIONS_DUE = """
WITH last (session_id, id) AS (
    SELECT s.session_id, (SELECT max(e.id) FROM events e WHERE e.session_id = s.session_id) FROM sessions s
    WHERE s.last_ts < ?1 OR s.ended_ts >= s.last_ts)
SELECT id FROM last
WHERE EXISTS (SELECT 1 FROM events p WHERE p.session_id = last.session_id AND p.tool = 'UserPromptSubmit')
AND NOT EXISTS (SELECT 1 FROM summaries x WHERE x.event_id = last.id AND x.scope = 'session')
AND NOT EXISTS (SELECT 1 FROM events r WHERE r.session_id = last.session_id AND r.status = 'raw')
ORDER BY id DESC LIMIT ?2
"""
_SUPERSEDE_EARLIER = """
INSERT OR IGNORE INTO summary_supersedes (newer_id, older_id, cosine, ts)
SELECT ?1, x.id, NULL, ?3 FROM summaries x JOIN events e ON e.id = x.event_id
WHERE x.scope = 'session' AND x.id <> ?1 AND e.session_id = ?2
AND e.id <= (SELECT event_id FROM summaries WHERE id = ?1)
"""
_CITE = """
INSERT OR IGNORE INTO provenance_edges (src_kind, src_id, dst_kind, dst_id, edge, ts)
VALUES ('summary', ?, 'event', ?, 'derives_from', ?)
"""


@dataclass(frozen=True, slots=True)
class StoryEvent:
    """One event of a story."""

    id: int
    ts: int
    tool: str
    payload_json: str
    input_hash: str
    outcome: str | None


def list_turn(
    connection: sqlite3.Connection, session_id: str, stop_id: int, is_telling: Callable[[str], bool]
) -> list[StoryEvent]:
    """Return the telling events of the turn that event `stop_id` ends, oldest first, without that event."""
    return _list(connection, session_id, turn_before(connection, session_id, stop_id), stop_id - 1, is_telling)


def turn_before(connection: sqlite3.Connection, session_id: str, event_id: int) -> int:
    """Return the event that ended the turn before; 0 where there is none."""
    row = connection.execute(_TURN_BEFORE, (session_id, event_id)).fetchone()
    return int(row[0]) if row else 0


def list_session(
    connection: sqlite3.Connection, session_id: str, last_id: int, is_telling: Callable[[str], bool]
) -> list[StoryEvent]:
    """Return the telling events of a session up to event `last_id`, oldest first; that one always."""
    return _list(connection, session_id, 0, last_id, is_telling) or _events(connection, [last_id])


def list_sessions_due(connection: sqlite3.Connection, idle_since: int, limit: int) -> list[int]:
    """Return the last events of sessions that have ended, or did nothing after `idle_since`, and have no summary.

    A session without a prompt has no story. One with raw events waits until these are told.
    """
    return [int(row[0]) for row in connection.execute(_SESSIONS_DUE, (idle_since, limit))]


def cite(connection: sqlite3.Connection, summary_id: int, event_ids: Iterable[int], now_ms: int) -> None:
    """Note which events a summary stands on."""
    connection.executemany(_CITE, [(summary_id, event_id, now_ms) for event_id in event_ids])


def supersede_earlier(connection: sqlite3.Connection, summary_id: int, session_id: str, now_ms: int) -> None:
    """Hide what an earlier summary told of the same session behind the new one."""
    connection.execute(_SUPERSEDE_EARLIER, (summary_id, session_id, now_ms))


def _list(
    connection: sqlite3.Connection, session_id: str, after: int, upto: int, is_telling: Callable[[str], bool]
) -> list[StoryEvent]:
    rows = connection.execute(_TOOLS, (session_id, after, upto)).fetchall()
    ids = [int(event_id) for event_id, tool in rows if is_telling(tool)]
    if len(ids) > MAX_EVENTS:
        ids = ids[:_FIRST_EVENTS] + ids[_FIRST_EVENTS - MAX_EVENTS :]
    return _events(connection, ids)


def _events(connection: sqlite3.Connection, ids: list[int]) -> list[StoryEvent]:
    """Return these events; when they are too large together, the last of them."""
    found: list[StoryEvent] = []
    room = MAX_BYTES
    for event_id in reversed(ids):
        row = connection.execute(_EVENT, (event_id,)).fetchone()
        if row is None:
            continue
        event = StoryEvent(*row)
        room -= len(event.payload_json)
        if room < 0:
            break
        found.append(event)
    return found[::-1]
