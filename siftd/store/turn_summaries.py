"""What the summaries of turns and sessions stand on, whose words they are, and which sessions wait for theirs.

A turn is what happened in a session after the `Stop` before, with what the agent said on its way, by the time of it; a
session's summary hangs on its last event. Who closes a turn has read what came in it: so a turn's story, and a
session's, is as little to be believed as the worst of that. What an earlier turn brought is still in the agent's
context and counts no more: there would be nothing left.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from siftd.model import Action, Kind, Scope
from siftd.store.payload import find_object

if TYPE_CHECKING:
    from siftd.store.summaries import RawEvent

MAX_EVENTS = 400
_FIRST_EVENTS = 40
"""Of a longer story its beginning and its end are told."""
MAX_BYTES = 4_000_000
_COMMANDS_MAX = 12
_FILES = """
SELECT e.action, f.value FROM events e JOIN event_facets f ON f.event_id = e.id AND f.facet = 'file'
WHERE e.session_id = ? AND e.id > ? AND e.id <= ? AND e.outcome IS NOT 'failed' ORDER BY e.id
"""
_COMMANDS = """
SELECT id FROM events WHERE session_id = ? AND id > ? AND id <= ? AND action = 'run' ORDER BY id DESC LIMIT ?
"""
_PROMPTS = """
SELECT json_extract(payload_json, '$.prompt') FROM events WHERE session_id = ? AND id > ? AND id <= ?
AND kind = 'prompt' AND json_valid(payload_json) ORDER BY id
"""
_PROMPT = """
SELECT json_extract(payload_json, '$.prompt'), said_by FROM events WHERE session_id = ? AND id > ? AND id <= ?
AND kind = 'prompt' AND json_valid(payload_json) ORDER BY id LIMIT 1
"""
_TASK = """
SELECT id FROM events WHERE session_id = ?1 AND id < ?2 AND action = 'todo' AND json_valid(payload_json)
AND json_extract(payload_json, '$.tool_input.subject') IS NOT NULL
AND CAST(json_extract(payload_json, '$.tool_response.task.id') AS TEXT) = ?3 ORDER BY id DESC LIMIT 1
"""
_TURN_END = """
SELECT s.id FROM events p JOIN events s ON s.session_id = p.session_id AND s.kind = 'turn_end' AND s.id > p.id
WHERE p.id = ?1 AND (s.status <> 'summarized' OR EXISTS (SELECT 1 FROM summaries x WHERE x.event_id = s.id
    AND NOT EXISTS (SELECT 1 FROM summary_supersedes o WHERE o.older_id = x.id)))
ORDER BY s.prompt_id IS p.prompt_id DESC, s.id LIMIT 1
"""
_STORIES_OF_TURNS = """
SELECT e.id, s.text FROM events e JOIN summaries s ON s.event_id = e.id AND s.scope = 'turn'
WHERE e.session_id = ? AND e.kind = 'turn_end'
AND NOT EXISTS (SELECT 1 FROM summary_supersedes o WHERE o.older_id = s.id)
GROUP BY e.id HAVING s.id = max(s.id) ORDER BY e.id
"""
_TURN_BEFORE = "SELECT id FROM events WHERE session_id = ? AND id < ? AND kind = 'turn_end' ORDER BY id DESC LIMIT 1"
_OWN_TEXT = "NOT (kind = 'assistant_text' AND agent_id IS NOT NULL)"
_TOOLS = f"""
SELECT id, kind, action FROM events
WHERE session_id = ?1 AND (id <= ?2 OR kind = 'assistant_text') AND {_OWN_TEXT} ORDER BY id
"""  # noqa: S608 - constants only
_TOOLS_OF_TURN = f"""
SELECT id, kind, action FROM events WHERE session_id = ?1 AND {_OWN_TEXT}
AND CASE WHEN kind = 'assistant_text' THEN ts > ?4 AND ts <= ?5 ELSE id > ?2 AND id < ?3 END ORDER BY ts, id
"""  # noqa: S608 - constants only
_STOP_BEFORE = "SELECT max(ts) FROM events WHERE session_id = ? AND kind = 'turn_end' AND ts < ?"
_SAID_BEFORE = "SELECT DISTINCT said_by FROM events WHERE session_id = ? AND ts > ? AND ts <= ?"
_READ_BEFORE = """
SELECT said_by, payload_json FROM events
WHERE session_id = ? AND ts > ? AND ts <= ? AND said_by IN ('output', 'outside')
"""
_TS = "SELECT ts FROM events WHERE id = ?"
_SAID = "SELECT DISTINCT said_by FROM events WHERE session_id = ? AND id > ? AND id <= ?"
_SAID_TO_AGENT = "SELECT DISTINCT said_by FROM events WHERE session_id = ? AND agent_id = ?"
_WORST_FIRST = ("outside", "output", "agent", "person")
_EVENT = "SELECT id, ts, kind, tool, action, payload_json, input_hash, outcome FROM events WHERE id = ?"
_SESSIONS_DUE = """
WITH last (session_id, id) AS (
    SELECT s.session_id, (SELECT e.id FROM events e WHERE e.session_id = s.session_id
        AND e.kind NOT IN ('assistant_text', 'compaction') ORDER BY e.id DESC LIMIT 1) FROM sessions s
    WHERE s.last_ts < ?1 OR s.ended_ts >= s.last_ts)
SELECT id FROM last
WHERE EXISTS (SELECT 1 FROM events p WHERE p.session_id = last.session_id AND p.kind = 'prompt')
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


IsRelevant = Callable[[Kind, "Action | None"], bool]
"""Whether events of a kind, calls with an action, are what a story is made of."""


@dataclass(frozen=True, slots=True)
class StoryEvent:
    """One event of a story."""

    id: int
    ts: int
    kind: Kind
    tool: str
    action: Action | None
    payload_json: str
    input_hash: str
    outcome: str | None


def list_turn(
    connection: sqlite3.Connection, session_id: str, stop_id: int, is_relevant: IsRelevant
) -> list[StoryEvent]:
    """Return the telling events of the turn that event `stop_id` ends, oldest first, without that event.

    What the agent said on the way is read from its transcript, often after the turn's end was told: its time says in
    which turn it was.
    """
    before = turn_before(connection, session_id, stop_id)
    ended = [_ts(connection, event_id) for event_id in (before, stop_id)]
    rows = connection.execute(_TOOLS_OF_TURN, (session_id, before, stop_id, *ended)).fetchall()
    return _chosen(connection, rows, is_relevant)


def list_turns(connection: sqlite3.Connection, session_id: str) -> list[tuple[int, str]]:
    """Return the turns of a session that have a story: the event that ends each, and its story, oldest first."""
    return [(int(row[0]), str(row[1])) for row in connection.execute(_STORIES_OF_TURNS, (session_id,))]


def closing_of(connection: sqlite3.Connection, stop_id: int) -> str:
    """Return what was said at a turn's end."""
    row = connection.execute("SELECT payload_json FROM events WHERE id = ?", (stop_id,)).fetchone()
    text = (find_object(row[0]) or {}).get("last_assistant_message") if row else None
    return text if isinstance(text, str) else ""


def turn_before(connection: sqlite3.Connection, session_id: str, event_id: int) -> int:
    """Return the event that ended the turn before; 0 where there is none."""
    row = connection.execute(_TURN_BEFORE, (session_id, event_id)).fetchone()
    return int(row[0]) if row else 0


def said_of(connection: sqlite3.Connection, event: RawEvent, scope: Scope) -> str:
    """Return whose words a summary of the event is made of.

    What a subagent brings back is as bad as the worst that it read; a plan or a list of the agent's, which may hold
    what it was told to write there, as the worst that its turn had read by then.
    """
    if event.kind in ("assistant_text", "compaction"):
        row = connection.execute(_STOP_BEFORE, (event.session_id, event.ts)).fetchone()
        since = 0 if row[0] is None or event.kind == "compaction" else row[0]
        return _worst(event.said_by, connection.execute(_SAID_BEFORE, (event.session_id, since, event.ts)))
    is_own = event.said_by == "agent" and event.kind != "prompt"
    if scope != "event" or is_own:
        after = 0 if scope == "session" else turn_before(connection, event.session_id, event.id)
        return _worst(event.said_by, connection.execute(_SAID, (event.session_id, after, event.id)))
    agent_id = event.spawned_agent_id or (event.agent_id if event.kind == "subagent_end" else None)
    if agent_id is None:
        return _worst(event.said_by, ())
    return _worst(event.said_by, connection.execute(_SAID_TO_AGENT, (event.session_id, agent_id)))


def read_before(connection: sqlite3.Connection, event: RawEvent, bytes_max: int) -> list[str] | None:
    """Return the payloads of what commands, files and subagents brought in the turn of an event before it; None where
    these are more than can be looked through, or any came from outside."""
    row = connection.execute(_STOP_BEFORE, (event.session_id, event.ts)).fetchone()
    found: list[str] = []
    for said_by, payload in connection.execute(_READ_BEFORE, (event.session_id, row[0] or 0, event.ts)):
        found.append(str(payload))
        bytes_max -= len(found[-1])
        if said_by == "outside" or bytes_max < 0:
            return None
    return found


def list_files(connection: sqlite3.Connection, session_id: str, after: int, upto: int) -> list[tuple[str, str]]:
    """Return (tool, file) of the calls of a part of a session that did not fail, oldest first."""
    rows = connection.execute(_FILES, (session_id, after, upto))
    return [(str(tool), str(file)) for tool, file in rows]


def list_commands(connection: sqlite3.Connection, session_id: str, after: int, upto: int) -> list[int]:
    """Return the last commands of a part of a session, the latest first."""
    return [int(row[0]) for row in connection.execute(_COMMANDS, (session_id, after, upto, _COMMANDS_MAX))]


def find_task(connection: sqlite3.Connection, session_id: str, task_id: str, before: int) -> list[StoryEvent]:
    """Return the call that made a task, in a list; an empty one where the session does not tell."""
    row = connection.execute(_TASK, (session_id, before, task_id)).fetchone()
    return _events(connection, [int(row[0])]) if row else []


def turn_end(connection: sqlite3.Connection, prompt_id: int) -> int | None:
    """Return the event that ends the turn of a prompt and may be shown; None while there is none.

    A prompt that was typed while the agent worked, or that was broken off for the next one, is answered by the end that
    comes then: its story tells everything since the end before.
    """
    row = connection.execute(_TURN_END, (prompt_id,)).fetchone()
    return int(row[0]) if row else None


def find_prompt(connection: sqlite3.Connection, session_id: str, after: int, upto: int) -> tuple[str, str]:
    """Return the first prompt of a part of a session and who said it; two empty texts where there is none."""
    row = connection.execute(_PROMPT, (session_id, after, upto)).fetchone()
    return (row[0], str(row[1])) if row and isinstance(row[0], str) else ("", "")


def list_prompts(connection: sqlite3.Connection, session_id: str, after: int, upto: int) -> list[str]:
    """Return the prompts of a part of a session, oldest first."""
    rows = connection.execute(_PROMPTS, (session_id, after, upto))
    return [row[0] if isinstance(row[0], str) else "" for row in rows]


def list_session(
    connection: sqlite3.Connection, session_id: str, last_id: int, is_relevant: IsRelevant
) -> list[StoryEvent]:
    """Return the telling events of a session up to event `last_id`, oldest first; that one always."""
    rows = connection.execute(_TOOLS, (session_id, last_id)).fetchall()
    return _chosen(connection, rows, is_relevant) or _events(connection, [last_id])


def list_sessions_due(connection: sqlite3.Connection, idle_since: int, limit: int) -> list[int]:
    """Return the last events of sessions that have ended, or did nothing after `idle_since`, and have no summary.

    What was said on the way is no last event: it is often read after the end, and has a summary of its own.
    A session without a prompt has no story. One with raw events waits until these are told.
    """
    return [int(row[0]) for row in connection.execute(_SESSIONS_DUE, (idle_since, limit))]


def cite(connection: sqlite3.Connection, summary_id: int, event_ids: Iterable[int], now_ms: int) -> None:
    """Note which events a summary stands on."""
    connection.executemany(_CITE, [(summary_id, event_id, now_ms) for event_id in event_ids])


def supersede_earlier(connection: sqlite3.Connection, summary_id: int, session_id: str, now_ms: int) -> None:
    """Hide what an earlier summary told of the same session behind the new one."""
    connection.execute(_SUPERSEDE_EARLIER, (summary_id, session_id, now_ms))


def _worst(own: str, rows: Iterable[tuple[str]]) -> str:
    """Return the least believed of these; what a damaged page says in their place is believed least."""
    said = {own, *(row[0] for row in rows)}
    return next(each for each in _WORST_FIRST if each in said) if said <= set(_WORST_FIRST) else _WORST_FIRST[0]


def _ts(connection: sqlite3.Connection, event_id: int) -> int:
    """Return when an event happened; 0 for none."""
    row = connection.execute(_TS, (event_id,)).fetchone()
    return int(row[0]) if row else 0


def _chosen(
    connection: sqlite3.Connection, rows: Sequence[tuple[int, Kind, Action | None]], is_relevant: IsRelevant
) -> list[StoryEvent]:
    ids = [int(event_id) for event_id, kind, action in rows if is_relevant(kind, action)]
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
