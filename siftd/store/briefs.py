"""What a brief is made of: standing instructions, how a session ended, commands that failed and were not mended."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from siftd.config import MS_PER_DAY
from siftd.store import memories
from siftd.store.payload import find_object
from siftd.store.read import list_hits
from siftd.store.summaries import as_rows

_RECENT = 2_000
"""Events that are looked through for the end of the last session. Arbitrary: a brief must not read a whole store."""
_LAST = """
SELECT id, session_id, tool, ts FROM
(SELECT id, session_id, tool, ts FROM events ORDER BY ts DESC, id DESC LIMIT ?2)
WHERE ?1 IS NULL OR session_id <> ?1
"""
_FIRST_PROMPT = """
SELECT id, ts, json_extract(payload_json, '$.prompt') AS text FROM events
WHERE session_id = ? AND tool = 'UserPromptSubmit' AND json_valid(payload_json) ORDER BY id LIMIT 1
"""
_STORY = """
SELECT s.id, e.id AS event_id, e.ts, s.text FROM events e JOIN summaries s ON s.event_id = e.id AND s.scope = 'session'
WHERE e.session_id = ? AND NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)
ORDER BY e.id DESC LIMIT 1
"""
_COMMANDS = """
SELECT id, ts, outcome, json_extract(payload_json, '$.tool_input.command') AS command FROM
(SELECT * FROM events WHERE ts >= ?1 ORDER BY ts DESC, id DESC LIMIT ?3)
WHERE tool = 'Bash' AND outcome IN ('ok', 'failed') AND json_valid(payload_json) AND (?2 IS NULL OR session_id <> ?2)
ORDER BY ts DESC, id DESC
"""
_FAILURES_DAYS = 7
_FAILURE_COMMANDS = 600
_LOOKING = frozenset(
    "[ awk cat cd cmp command curl diff echo fd find git-grep grep head jq ls pgrep ps rg sed sleep stat tail test"
    " timeout tree wc which".split()
)
"""Programs whose failure is an answer, not something that is broken."""


def list_pinned(connection: sqlite3.Connection, now_ms: int) -> list[dict[str, Any]]:
    """Return the standing instructions that hold now, the most important first."""
    return as_rows(connection.execute(memories.PINNED, (now_ms, now_ms)))


def find_ending(connection: sqlite3.Connection, except_session: str | None) -> list[dict[str, Any]]:
    """Return the story of the latest session, or else what was asked first and said last in it.

    Rows of `id` (as cited), `event_id`, `ts`, `text`.
    """
    rows = connection.execute(_LAST, (except_session, _RECENT)).fetchall()
    if not rows:
        return []
    session = rows[0][1]
    if story := as_rows(connection.execute(_STORY, (session,))):
        return [story[0] | {"id": f"s{story[0]['id']}"}]
    last = next((row for row in rows if row[1] == session and row[2] == "Stop"), rows[0])
    asked = as_rows(connection.execute(_FIRST_PROMPT, (session,)))
    found = [_shown(connection, row["id"], row["ts"], row["text"]) for row in asked if row["text"]]
    return [each for each in [*found, _shown(connection, last[0], last[3], "")] if each["text"]]


def list_open_failures(
    connection: sqlite3.Connection, now_ms: int, except_session: str | None, limit: int
) -> list[dict[str, Any]]:
    """Return the latest commands that failed and have not succeeded since, newest first."""
    since = now_ms - _FAILURES_DAYS * MS_PER_DAY
    settled: set[str] = set()
    found = []
    for event_id, ts, outcome, command in connection.execute(_COMMANDS, (since, except_session, _FAILURE_COMMANDS)):
        key = command_key(command) if isinstance(command, str) else ""
        if not key or key in settled:
            continue
        settled.add(key)
        if outcome == "failed":
            found.append(_shown(connection, event_id, ts, f"`{command}` failed"))
            if len(found) == limit:
                break
    return found


def command_key(command: str) -> str:
    """Return the program and its first word, flags left out: two runs with one key do the same. "" for a mere look."""
    last = re.split(r"&&|\|\||;|\n", command.strip())[-1].partition("|")[0]
    words = [word for word in last.split() if not word.startswith("-") and not re.fullmatch(r"\w+=.*", word)]
    if not words or words[0].rpartition("/")[2] in _LOOKING:
        return ""
    return " ".join(words[:2])


def _shown(connection: sqlite3.Connection, event_id: int, ts: int, otherwise: str) -> dict[str, Any]:
    """Return the event by its best live summary, else by its own words."""
    for hit in list_hits(connection, [(event_id, None)]):
        if hit["text"] is not None:
            return {"id": f"s{hit['summary_id']}", "event_id": event_id, "ts": ts, "text": hit["text"]}
    if not otherwise:
        row = connection.execute("SELECT payload_json FROM events WHERE id = ?", (event_id,)).fetchone()
        payload = (find_object(row[0]) if row else None) or {}
        otherwise = payload.get("last_assistant_message") or ""
    return {"id": f"e{event_id}", "event_id": event_id, "ts": ts, "text": otherwise}
