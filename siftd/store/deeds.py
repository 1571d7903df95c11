"""What was done, read for what can be learnt of it: commands and how they ended, which files were changed together.

What a command did for the project is noted once an event, as a facet `ran`: topic, result and command, parted by tabs.
It goes with its event, as every facet does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from siftd.store import meta
from siftd.store.access import Database
from siftd.store.ids import ID_MAX

SPAN = 200
"""Events that are looked at in one turn of the reading thread, their payloads among them: some 20 ms."""
READ_UPTO = "deeds_read_upto"
LEARNT_UPTO = "deeds_learnt_upto"
"""Where the database notes up to which event was read, and learnt from."""
RUNS_MAX = 60
_FACET = "ran"
_TAB = "\t"
_UPTO = "SELECT max(id) FROM (SELECT id FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)"
_RUNS = """
SELECT e.id, e.session_id, e.agent_id, e.outcome, e.payload_json, s.cwd
FROM events e LEFT JOIN sessions s ON s.session_id = e.session_id
WHERE e.id > ? AND e.id <= ? AND e.action = 'run' AND json_valid(e.payload_json) ORDER BY e.id
"""
_COMMANDS_BEFORE = """
SELECT json_extract(payload_json, '$.tool_input.command') FROM events
WHERE session_id = ? AND agent_id IS ? AND id < ? AND action = 'run' AND json_valid(payload_json)
ORDER BY id DESC LIMIT ?
"""
_PUT = "INSERT OR IGNORE INTO event_facets SELECT ?, ?, id FROM events WHERE id = ?"
_TOPICS = """
SELECT DISTINCT substr(value, 1, instr(value, char(9)) - 1) FROM event_facets
WHERE event_id > ? AND event_id <= ? AND facet = 'ran' ORDER BY 1
"""
_RUNS_OF = """
SELECT e.id, e.session_id, e.ts, e.outcome, f.value FROM event_facets f JOIN events e ON e.id = f.event_id
WHERE f.facet = 'ran' AND f.value > ?1 || char(9) AND f.value < ?1 || char(10) ORDER BY e.ts DESC, e.id DESC LIMIT ?2
"""
_FAILED = """
SELECT id, session_id, json_extract(payload_json, '$.tool_input.command'),
       substr(json_extract(payload_json, '$.error'), 1, 8000)
FROM events WHERE id > ? AND id <= ? AND outcome = 'failed' AND action = 'run' AND json_valid(payload_json)
ORDER BY id DESC LIMIT ?
"""
_LATEST_EDITS = """
SELECT l.session_id, s.cwd FROM (SELECT session_id, action, ts FROM events ORDER BY ts DESC LIMIT 20000) l
LEFT JOIN sessions s ON s.session_id = l.session_id
WHERE l.action = 'edit' GROUP BY l.session_id ORDER BY max(l.ts) DESC LIMIT ?
"""
"""By an index alone: of the latest events, whatever there are more."""
_STEPS = """
SELECT e.id, e.ts, CASE e.action WHEN 'edit' THEN f.value END,
       CASE e.action WHEN 'run' THEN json_extract(e.payload_json, '$.tool_input.command') END
FROM events e LEFT JOIN event_facets f ON f.event_id = e.id AND f.facet = 'file'
WHERE e.session_id = ? AND e.outcome = 'ok' AND (e.action = 'edit' OR (e.action = 'run' AND json_valid(e.payload_json)))
ORDER BY e.id LIMIT ?
"""
_STEPS_MAX = 2_000


class RunRow(NamedTuple):
    """A command that was run."""

    event_id: int
    session_id: str
    agent_id: str | None
    outcome: str | None
    payload_json: str
    cwd: str | None
    """Where its session began."""


class Noted(NamedTuple):
    """What an event did for the project."""

    event_id: int
    topic: str
    result: str
    command: str


class NotedRun(NamedTuple):
    """The same with when and where, read back."""

    event_id: int
    session_id: str
    ts: int
    outcome: str | None
    result: str
    command: str


class Failure(NamedTuple):
    """A command that failed."""

    event_id: int
    session_id: str
    command: str
    error: str


class EditStep(NamedTuple):
    """A change of a file, or a command, as a session went on."""

    event_id: int
    ts: int
    path: str | None
    command: str | None


def list_runs_after(connection: Database, event_id: int) -> tuple[list[RunRow], int]:
    """Return the commands after an event, in order, and the id up to which these are all."""
    upto = connection.execute(_UPTO, (event_id, ID_MAX, SPAN)).fetchone()[0]
    if upto is None:
        return [], event_id
    return [RunRow(*row) for row in connection.execute(_RUNS, (event_id, upto))], int(upto)


def commands_before(
    connection: Database, session_id: str, agent_id: str | None, event_id: int, limit: int
) -> list[str]:
    """Return the commands of a conversation before an event, in order."""
    rows = connection.execute(_COMMANDS_BEFORE, (session_id, agent_id, event_id, limit)).fetchall()
    return [row[0] for row in reversed(rows) if isinstance(row[0], str)]


def note(connection: Database, rows: Iterable[Noted], upto: int) -> None:
    """Note what events did, and up to which they were read. Within the caller's transaction."""
    values = [(_FACET, _TAB.join((row.topic, row.result, row.command)), row.event_id) for row in rows]
    connection.executemany(_PUT, values)
    meta.put(connection, READ_UPTO, str(upto))


def topics_between(connection: Database, after: int, upto: int) -> list[str]:
    """Return the topics that something was run of."""
    return [str(row[0]) for row in connection.execute(_TOPICS, (after, upto)) if row[0]]


def list_runs_of(connection: Database, topic: str) -> list[NotedRun]:
    """Return the latest runs of a topic, the newest first."""
    found: list[NotedRun] = []
    for event_id, session_id, ts, outcome, value in connection.execute(_RUNS_OF, (topic, RUNS_MAX)):
        parts = str(value).split(_TAB)
        if len(parts) == 3:
            found.append(NotedRun(event_id, session_id, ts, outcome, parts[1], parts[2]))
    return found


def list_failures(connection: Database, after: int, upto: int, limit: int) -> list[Failure]:
    """Return the commands that failed, the newest first."""
    rows = connection.execute(_FAILED, (after, upto, limit))
    return [Failure(*row) for row in rows if isinstance(row[2], str) and isinstance(row[3], str)]


def latest_edits(connection: Database, sessions: int) -> dict[tuple[str, str], list[EditStep]]:
    """Return the changes of files and the commands of the sessions that changed files last, in order.

    By session and the folder in which it began.
    """
    names = connection.execute(_LATEST_EDITS, (sessions,)).fetchall()
    return {
        (name, cwd or ""): [EditStep(*row) for row in connection.execute(_STEPS, (name, _STEPS_MAX))]
        for name, cwd in names
    }
