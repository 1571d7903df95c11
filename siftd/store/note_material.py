"""What the notes of a project are distilled from: facts and what became of them, telling events of sessions, runs.

Bounded by sessions: the latest ones that are looked at, each by an index. Nothing is ranked or worded here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from siftd.model import Action, Kind, SaidBy
from siftd.store.fact_scope import LIVE_FOR_OTHERS, VALID

SESSIONS_MAX = 150
"""The latest sessions that are looked at. Arbitrary: notes tell how things stand, and a first distil of years of
sessions takes no longer than one of some weeks."""
_EVENTS_MAX = 3_000
"""Telling events of one session."""
_PAYLOAD_CHARS_MAX = 131_072
_RUN_CHARS_MAX = 32_768
"""Of a command with what it printed; `git commit` prints little."""
_FACTS_MAX = 2_000
_RUNS_MAX = 4_000
_SESSIONS = """
SELECT s.session_id, s.cwd, s.last_ts, s.ended_ts,
       (SELECT x.id FROM events e JOIN summaries x ON x.event_id = e.id AND x.scope = 'session'
        WHERE e.session_id = s.session_id AND NOT EXISTS (SELECT 1 FROM summary_supersedes o WHERE o.older_id = x.id)
        ORDER BY e.id DESC LIMIT 1)
FROM sessions s ORDER BY s.last_ts DESC, s.session_id LIMIT ?
"""
_EVENTS = """
SELECT id, ts, kind, tool, action, outcome, said_by, payload_json FROM events
WHERE session_id = ?1 AND agent_id IS NULL AND length(payload_json) < ?2 AND (
    kind IN ('prompt', 'turn_end') OR action IN ('ask', 'todo')
    OR (action = 'run' AND length(payload_json) < ?4 AND (
        instr(payload_json, 'commit') OR instr(payload_json, 'gh issue create') OR instr(payload_json, 'rm ')
        OR instr(payload_json, 'git restore') OR instr(payload_json, 'git reset')
        OR instr(payload_json, 'git checkout') OR instr(payload_json, 'git stash')))
    OR (kind = 'tool' AND (tool LIKE '%create%issue' OR tool LIKE '%update%issue')))
ORDER BY ts, id LIMIT ?3
"""
_CHANGED = """
SELECT e.id, e.ts, f.value FROM events e JOIN event_facets f ON f.event_id = e.id AND f.facet = 'file'
WHERE e.session_id = ?1 AND e.action = 'edit' AND e.outcome IS NOT 'failed' ORDER BY e.ts, e.id LIMIT ?2
"""
_RUNS = """
SELECT e.id, e.ts, e.session_id, e.outcome, f.value FROM event_facets f JOIN events e ON e.id = f.event_id
WHERE f.facet = 'ran' ORDER BY e.ts DESC, e.id DESC LIMIT ?
"""
_FACTS = f"""
SELECT m.id, m.text, m.category, m.said_by, m.origin, m.topic, m.importance, coalesce(m.valid_from, m.ts),
       m.session_id, (SELECT min(s.event_id) FROM fact_sources s WHERE s.fact_id = m.id)
FROM facts m WHERE NOT m.waits AND {VALID} AND {LIVE_FOR_OTHERS}
ORDER BY m.importance DESC, coalesce(m.valid_from, m.ts) DESC, m.id DESC LIMIT ?
"""  # noqa: S608 - constants only
_SUCCESSORS = """
SELECT j.value, coalesce(m.superseded_by, (SELECT x.from_id FROM fact_links x JOIN facts n ON n.id = x.from_id
    WHERE x.to_id = m.id AND x.relation = 'supersedes' AND NOT n.waits ORDER BY x.ts DESC LIMIT 1))
FROM json_each(?) j JOIN facts m ON m.id = j.value
"""
_SOURCES = """
SELECT s.fact_id, e.id, e.session_id, substr(e.payload_json, 1, 300) FROM json_each(?) j
JOIN fact_sources s ON s.fact_id = j.value JOIN events e ON e.id = s.event_id ORDER BY s.fact_id, e.id
"""


class SessionRow(NamedTuple):
    """A session, and the summary that tells it."""

    session_id: str
    cwd: str | None
    last_ts: int
    ended_ts: int | None
    story_id: int | None


class EventRow(NamedTuple):
    """One telling event."""

    id: int
    ts: int
    kind: Kind
    tool: str
    action: Action | None
    outcome: str | None
    said_by: SaidBy
    payload_json: str


class RunRow(NamedTuple):
    """What a command did for the project, and how that ended, as it was noted."""

    event_id: int
    ts: int
    session_id: str
    topic: str
    result: str
    command: str


class FactRow(NamedTuple):
    """A fact that holds and waits for nobody."""

    id: int
    text: str
    category: str
    said_by: SaidBy
    origin: str
    topic: str | None
    importance: int
    since_ts: int
    session_id: str | None
    first_source: int | None


class SourceRow(NamedTuple):
    """An event that a fact was taken from, with the beginning of its payload."""

    fact_id: int
    event_id: int
    session_id: str
    head: str


def list_sessions(connection: sqlite3.Connection, limit: int = SESSIONS_MAX) -> list[SessionRow]:
    """Return the latest sessions, the latest first."""
    return [SessionRow(*row) for row in connection.execute(_SESSIONS, (limit,))]


def list_main_events(connection: sqlite3.Connection, session_id: str) -> list[EventRow]:
    """Return what a session was asked, how its turns closed, what it committed, took back, listed, asked: by time."""
    rows = connection.execute(_EVENTS, (session_id, _PAYLOAD_CHARS_MAX, _EVENTS_MAX, _RUN_CHARS_MAX))
    return [EventRow(*row) for row in rows]


def list_changed(connection: sqlite3.Connection, session_id: str) -> list[tuple[int, int, str]]:
    """Return (event, when, file) of what a session changed, by time."""
    return [
        (int(event), int(ts), str(path)) for event, ts, path in connection.execute(_CHANGED, (session_id, _EVENTS_MAX))
    ]


def list_runs(connection: sqlite3.Connection) -> list[RunRow]:
    """Return the latest noted runs, the latest first; one that its session's file tells as failed is a failure."""
    found: list[RunRow] = []
    for event_id, ts, session_id, outcome, value in connection.execute(_RUNS, (_RUNS_MAX,)):
        parts = str(value).split("\t")
        if len(parts) == 3:
            result = "failed" if parts[1] == "ok" and outcome == "failed" else parts[1]
            found.append(RunRow(event_id, ts, session_id, parts[0], result, parts[2]))
    return found


def list_facts(connection: sqlite3.Connection, now_ms: int) -> list[FactRow]:
    """Return the facts that hold, whoever may see them, the most important first."""
    return [FactRow(*row) for row in connection.execute(_FACTS, (now_ms, now_ms, _FACTS_MAX))]


def list_successors(connection: sqlite3.Connection, fact_ids: Iterable[int]) -> dict[int, int | None]:
    """Return, of those of the facts that are still there, what took their place."""
    rows = connection.execute(_SUCCESSORS, (json.dumps(list(fact_ids)),))
    return {int(fact_id): None if newer is None else int(newer) for fact_id, newer in rows}


def list_sources(connection: sqlite3.Connection, fact_ids: Iterable[int]) -> list[SourceRow]:
    """Return the events that facts were taken from."""
    return [SourceRow(*row) for row in connection.execute(_SOURCES, (json.dumps(list(fact_ids)),))]
