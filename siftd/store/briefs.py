"""What a brief is made of: standing instructions, how a session ended, commands that failed and were not mended."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple

from siftd.config import MS_PER_DAY
from siftd.store import facts
from siftd.store.answers import as_rows
from siftd.store.commands import command_key
from siftd.store.payload import HEAD_CHARS, branch_of, client_of, find_object

_RECENT = 2_000
"""Events that are looked through for the end of the last session. Arbitrary: a brief must not read a whole store."""
_LAST = """
SELECT id, session_id, kind, ts FROM
(SELECT id, session_id, kind, ts FROM events ORDER BY ts DESC, id DESC LIMIT ?2)
WHERE ?1 IS NULL OR session_id <> ?1
"""
_PROMPTS = "SELECT count(*) FROM events WHERE session_id = ? AND kind = 'prompt'"
_FOLDER = "SELECT cwd FROM sessions WHERE session_id = ?"
_HEAD = "SELECT substr(payload_json, 1, ?2) FROM events WHERE id = ?1"
_STORY = """
SELECT s.id FROM events e JOIN summaries s ON s.event_id = e.id AND s.scope = 'session'
WHERE e.session_id = ? AND NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)
ORDER BY e.id DESC LIMIT 1
"""
_TASKS = """
SELECT payload_json FROM events WHERE session_id = ? AND action = 'todo' AND outcome IS NOT 'failed'
ORDER BY id DESC LIMIT 1
"""
_COMMANDS = """
SELECT id, outcome, json_extract(payload_json, '$.tool_input.command') AS command FROM
(SELECT * FROM events WHERE ts >= ?1 ORDER BY ts DESC, id DESC LIMIT ?3)
WHERE action = 'run' AND outcome IN ('ok', 'failed') AND json_valid(payload_json) AND (?2 IS NULL OR session_id <> ?2)
ORDER BY ts DESC, id DESC
"""
_FAILURES_DAYS = 7
_FAILURE_COMMANDS = 600


def list_pinned(connection: sqlite3.Connection, now_ms: int) -> list[dict[str, Any]]:
    """Return the standing instructions that hold now, the most important first."""
    return as_rows(connection.execute(facts.PINNED, (now_ms, now_ms)))


@dataclass(frozen=True, slots=True)
class Ending:
    """The latest session, as facts."""

    session_id: str
    id: str
    """What tells of it: the summary of the session, else its last turn's end, as cited."""
    event_id: int
    ts: int
    prompts: int
    cwd: str | None
    branch: str | None
    """That was checked out when it ended."""
    client: str | None
    """Whose agent's program it was."""


def list_endings(connection: sqlite3.Connection, except_session: str | None, limit: int) -> list[Ending]:
    """Return the latest sessions, the latest first."""
    rows = connection.execute(_LAST, (except_session, _RECENT)).fetchall()
    sessions = list(dict.fromkeys(str(row[1]) for row in rows))[:limit]
    return [_ending(connection, each, rows) for each in sessions]


def _ending(connection: sqlite3.Connection, session: str, rows: list[Any]) -> Ending:
    last = next((row for row in rows if row[1] == session and row[2] == "turn_end"), None)
    last = last or next(row for row in rows if row[1] == session)
    story = connection.execute(_STORY, (session,)).fetchone()
    folder = connection.execute(_FOLDER, (session,)).fetchone()
    head = str(connection.execute(_HEAD, (int(last[0]), HEAD_CHARS)).fetchone()[0])
    return Ending(
        session,
        f"e{last[0]}" if story is None else f"s{story[0]}",
        int(last[0]),
        int(last[3]),
        int(connection.execute(_PROMPTS, (session,)).fetchone()[0]),
        folder[0] if folder else None,
        branch_of(head),
        client_of(head),
    )


def count_tasks_left(connection: sqlite3.Connection, session_id: str) -> tuple[int, int]:
    """Return how many tasks of the last list that a session's agent kept are not done, and how many there were."""
    row = connection.execute(_TASKS, (session_id,)).fetchone()
    given = (find_object(row[0]) or {}).get("tool_input") if row else None
    tasks = given.get("todos") if isinstance(given, dict) else None
    states = [each.get("status") for each in tasks if isinstance(each, dict)] if isinstance(tasks, list) else []
    return sum(state in ("pending", "in_progress") for state in states), len(states)


class Returned(NamedTuple):
    """A command that fails again: it had failed before, and succeeded since."""

    failed: int
    mended: int


def list_returned(
    connection: sqlite3.Connection, now_ms: int, except_session: str | None, limit: int
) -> list[Returned]:
    """Return the latest commands that fail as they did before somebody mended them, newest first: the events of the
    last failure, and of the success after the one before.

    One that failed once says nothing: it was mended by another command, is moot, or the failure was the answer.
    """
    since = now_ms - _FAILURES_DAYS * MS_PER_DAY
    open_since: dict[str, int] = {}
    mended: dict[str, int] = {}
    resolved: set[str] = set()
    found: list[Returned] = []
    for event_id, outcome, command in connection.execute(_COMMANDS, (since, except_session, _FAILURE_COMMANDS)):
        key = command_key(command) if isinstance(command, str) else ""
        if not key or key in resolved:
            continue
        if outcome == "ok":
            if key in open_since:
                mended[key] = int(event_id)
            else:
                resolved.add(key)
        elif key in mended:
            resolved.add(key)
            found.append(Returned(open_since[key], mended[key]))
        else:
            open_since.setdefault(key, int(event_id))
    return sorted(found, reverse=True)[:limit]
