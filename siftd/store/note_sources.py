"""What a distil of notes reads of captured events: the main conversations, in the order in which they came."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from siftd.model import Action, Kind, Outcome, SaidBy
from siftd.store.payload import find_object

_NEW = """
SELECT e.id, e.ts, e.session_id, e.kind, e.tool, e.action, e.outcome, e.said_by, e.payload_json FROM events e
WHERE e.id > ?1 AND e.agent_id IS NULL AND e.kind IN ('prompt', 'tool', 'turn_end', 'assistant_text')
AND (?2 IS NULL OR EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = e.session_id
    AND (s.cwd = ?2 OR substr(s.cwd, 1, length(?2) + 1) = ?2 || '/')))
ORDER BY e.id
"""
_BACKLOG = """
SELECT coalesce(sum(length(e.payload_json)), 0), max(e.ts) FROM events e
WHERE e.id > ?1 AND e.agent_id IS NULL AND e.kind IN ('prompt', 'tool', 'turn_end', 'assistant_text')
AND (?2 IS NULL OR EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = e.session_id
    AND (s.cwd = ?2 OR substr(s.cwd, 1, length(?2) + 1) = ?2 || '/')))
"""


class CapturedEvent(NamedTuple):
    """An event, redacted."""

    id: int
    ts: int
    session_id: str
    kind: Kind
    tool: str
    action: Action | None
    outcome: Outcome | None
    said_by: SaidBy
    payload: dict[str, Any]


class Place(NamedTuple):
    """How far a store was read. Ids can change when the database is built anew; the event's uid does not."""

    event_id: int = 0
    uid: str | None = None
    ts: int = 0


class Backlog(NamedTuple):
    """What was not read yet: its size, and when the latest of it happened."""

    size: int
    latest_ts: int | None


def iter_new(connection: sqlite3.Connection, after: int, within: str | None) -> Iterator[CapturedEvent]:
    """Yield the events after one, of sessions that ran in a folder or below it; of all where that is None."""
    for row in connection.execute(_NEW, (after, within)):
        yield CapturedEvent._make((*row[:-1], find_object(row[-1]) or {}))


def backlog(connection: sqlite3.Connection, after: int, within: str | None) -> Backlog:
    """Return how much came after an event, and when the latest of it happened."""
    return Backlog(*connection.execute(_BACKLOG, (after, within)).fetchone())


def end(connection: sqlite3.Connection) -> Place:
    """Return the place behind every event."""
    row = connection.execute("SELECT id, uid, ts FROM events ORDER BY id DESC LIMIT 1").fetchone()
    return Place(*row) if row else Place()


def find_place(connection: sqlite3.Connection, place: Place) -> int:
    """Return the id behind which to go on: of the event itself; where it is gone, of the last that came before it."""
    if place.event_id == 0:
        return 0
    if place.uid is not None:
        row = connection.execute("SELECT id FROM events WHERE uid = ?", (place.uid,)).fetchone()
        if row:
            return int(row[0])
    row = connection.execute("SELECT uid FROM events WHERE id = ?", (place.event_id,)).fetchone()
    if row and place.uid is None and row[0] is None:
        return place.event_id
    before = "SELECT coalesce(max(id), 0) FROM events WHERE ts <= ? AND id <= ?"
    return int(connection.execute(before, (place.ts, place.event_id)).fetchone()[0])


def list_sessions(connection: sqlite3.Connection) -> set[str]:
    """Return every session of which the store has events."""
    return {row[0] for row in connection.execute("SELECT DISTINCT session_id FROM events")}


def stamp(connection: sqlite3.Connection) -> str:
    """Return what changes with every event, summary and fact that comes, and every change of a fact."""
    tables = ("events", "summaries", "facts", "fact_history")
    newest = [connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0] for table in tables]  # noqa: S608 - ours
    return ".".join(map(str, newest))
