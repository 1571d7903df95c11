"""Conversations: sessions that somebody named, and what they follow up on or branch from.

A conversation is known by a session's id. One that was started here and did nothing yet has no row in `sessions`.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from siftd.log.record import Record
from siftd.store.answers import as_rows
from siftd.wire.requests.conversations import Conversation

_KNOWN = "SELECT session_id FROM conversations UNION SELECT session_id FROM sessions"
_LIST = f"""
SELECT k.session_id AS id, c.title, c.parent_id, c.relation, c.branches_from, c.project,
       coalesce(c.ts, s.started_ts) AS started_ts,
       coalesce((SELECT max(m.updated_ts) FROM facts m WHERE m.session_id = k.session_id), 0) AS remembered_ts,
       coalesce(s.last_ts, c.ts) AS last_ts,
       (SELECT count(*) FROM facts m WHERE m.session_id = k.session_id) AS memories,
       (SELECT count(*) FROM events e WHERE e.session_id = k.session_id) AS events,
       (SELECT substr(json_extract(e.payload_json, '$.prompt'), 1, 200) FROM events e
        WHERE e.session_id = k.session_id AND e.kind = 'prompt' ORDER BY e.id LIMIT 1) AS asked
FROM ({_KNOWN}) k LEFT JOIN conversations c USING (session_id) LEFT JOIN sessions s USING (session_id)
"""  # noqa: S608 - constants only
_THREADS = f"""
SELECT * FROM ({_LIST}) WHERE (?1 IS NULL OR project = ?1)
AND (?3 IS NULL OR max(last_ts, remembered_ts) < ?3 OR (max(last_ts, remembered_ts) = ?3 AND id > ?4))
ORDER BY max(last_ts, remembered_ts) DESC, id LIMIT ?2
"""  # noqa: S608 - as above
_STALE = f"""
SELECT * FROM ({_LIST}) WHERE max(last_ts, remembered_ts) <= ? ORDER BY max(last_ts, remembered_ts) LIMIT ?
"""  # noqa: S608 - as above
_TREE = f"""
WITH RECURSIVE tree (id) AS (
    SELECT ?1 UNION SELECT j.value FROM tree t
    JOIN conversations c ON t.id = c.session_id OR t.id = c.parent_id OR t.id = c.branches_from
    JOIN json_each(json_array(c.session_id, c.parent_id, c.branches_from)) j ON j.value IS NOT NULL)
SELECT l.* FROM ({_LIST}) l JOIN tree USING (id) ORDER BY l.started_ts, l.id
"""  # noqa: S608 - as above


def insert(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Make the row that a `conversation` record asks for; a second time changes nothing."""
    ts = payload.get("ts", record.ts)
    connection.execute(
        "INSERT OR IGNORE INTO conversations (session_id, title, parent_id, relation, ts, project, branches_from)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(payload.get(name) for name in ("id", "title", "parent", "relation")),
            ts,
            payload.get("label"),
            payload.get("branchesFrom"),
        ),
    )


def is_named(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether somebody named it or began it here."""
    return connection.execute("SELECT 1 FROM conversations WHERE session_id = ?", (session_id,)).fetchone() is not None


def is_known(connection: sqlite3.Connection, session_id: str) -> bool:
    return connection.execute(f"SELECT 1 FROM ({_KNOWN}) WHERE session_id = ?", (session_id,)).fetchone() is not None  # noqa: S608


def threads(
    connection: sqlite3.Connection,
    limit: int,
    label: str | None = None,
    behind: tuple[int | None, str | None] = (None, None),
) -> list[Conversation]:
    """Return the conversations (under a label), the latest first, with how much was done and remembered in each.

    `behind` is how late one is, and its id.
    """
    return as_rows(connection.execute(_THREADS, (label, limit, *behind)), Conversation)


def stale(connection: sqlite3.Connection, before: int, limit: int) -> list[Conversation]:
    """Return the conversations in which nothing happened after `before`, the oldest first."""
    return as_rows(connection.execute(_STALE, (before, limit)), Conversation)


def tree(connection: sqlite3.Connection, session_id: str) -> list[Conversation]:
    """Return the whole tree that a conversation belongs to, from its root on."""
    return as_rows(connection.execute(_TREE, (session_id,)), Conversation)
