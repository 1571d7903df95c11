"""What the graph is made of, read item by item: new events in order, and facts and documents that wait in the queue.

Whoever has read an item writes what it says a moment later: by then its text may be another one, or gone. Writing asks
first whether the item still is what was read (`is_as_read`), in the same transaction.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from siftd.model import Action, Kind
from siftd.store import meta
from siftd.store.graph_writing import READ_UPTO
from siftd.store.ids import ID_MAX

SPAN = 100
"""Events that are looked at in one turn of the reading thread, their payloads among them: some 10 ms."""
_UPTO = "SELECT max(id) FROM (SELECT id FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)"
_COLUMNS = "e.id, e.ts, e.action, e.outcome, e.tool, e.kind, e.payload_json, s.cwd"
_EVENTS = f"""
SELECT {_COLUMNS} FROM events e LEFT JOIN sessions s ON s.session_id = e.session_id
WHERE e.id > ? AND e.id <= ? AND e.action IN ('edit', 'run', 'read') ORDER BY e.id
"""  # noqa: S608 - constants only
_EVENT = f"""
SELECT {_COLUMNS} FROM events e LEFT JOIN sessions s ON s.session_id = e.session_id
WHERE e.id = ? AND e.action IN ('edit', 'run', 'read')
"""  # noqa: S608 - constants only
_QUEUED = "SELECT item FROM graph_queue WHERE item > ? AND item NOT GLOB 'x*' ORDER BY item LIMIT ?"
_FACT = """
SELECT id, coalesce(valid_from, ts), CASE WHEN status IN ('active', 'archived') THEN valid_to
    ELSE coalesce(valid_to, updated_ts) END, text FROM facts WHERE id = ? AND waits = 0 AND scope = 'project'
"""
_DOCUMENT = """
SELECT d.id, d.ingested_ts, d.path, d.type, d.content_hash, t.text, g.content_hash
FROM documents d JOIN document_texts t ON t.document_id = d.id
LEFT JOIN graph_documents g ON g.document_id = d.id WHERE d.id = ?
"""
_KEEP_UNREAD = """
INSERT INTO graph_unread (document_id, ts, type, text)
SELECT d.id, d.ingested_ts, d.type, t.text FROM documents d JOIN document_texts t ON t.document_id = d.id
LEFT JOIN graph_documents g ON g.document_id = d.id
WHERE d.id = ? AND g.content_hash IS NOT d.content_hash AND length(t.text) <= ?
"""
UNREAD_CHARS_MAX = 262_144
"""A longer reading that was replaced before the graph read it is no history: its text would be kept twice for it."""
_UNREAD = """
SELECT u.id, u.ts, d.path, u.type, u.text FROM graph_unread u JOIN documents d ON d.id = u.document_id
WHERE u.document_id = ? ORDER BY u.id LIMIT 1
"""
_SAME = {
    "e": "SELECT 1 FROM events WHERE id = ? AND payload_json = ?",
    "m": "SELECT 1 FROM facts WHERE id = ? AND text = ?",
    "d": "SELECT 1 FROM document_texts WHERE document_id = ? AND text = ?",
    "u": "SELECT 1 FROM graph_unread WHERE id = ? AND text = ?",
}


class EventRow(NamedTuple):
    """An event that may say something."""

    event_id: int
    ts: int
    action: Action
    outcome: str | None
    tool: str
    kind: Kind
    payload_json: str
    cwd: str | None
    """Where its session began."""


class FactRow(NamedTuple):
    """A fact, and how long it held."""

    fact_id: int
    since: int
    until: int | None
    text: str


class DocumentRow(NamedTuple):
    """A document with its text."""

    document_id: int
    ts: int
    path: str | None
    type: str
    content_hash: str
    text: str
    read_hash: str | None
    """Of the reading that the graph holds; None where it holds none."""


def list_events_after(connection: sqlite3.Connection, event_id: int) -> tuple[list[EventRow], int]:
    """Return the events after one that may say something, in order, and the id up to which these are all."""
    upto = connection.execute(_UPTO, (event_id, ID_MAX, SPAN)).fetchone()[0]
    if upto is None:
        return [], event_id
    return [EventRow(*row) for row in connection.execute(_EVENTS, (event_id, upto))], int(upto)


def read_upto(connection: sqlite3.Connection) -> int:
    """Return the event up to which all were read."""
    return meta.number(connection, READ_UPTO)


def note_upto(connection: sqlite3.Connection, event_id: int) -> None:
    """Note up to which event all were read. Within the caller's transaction."""
    meta.put(connection, READ_UPTO, str(event_id))


def list_queued(connection: sqlite3.Connection, after: str, limit: int) -> list[str]:
    """Return the items that wait to be read again, behind one of them in the order of their names."""
    return [str(row[0]) for row in connection.execute(_QUEUED, (after, limit))]


def find_event(connection: sqlite3.Connection, event_id: int) -> EventRow | None:
    row = connection.execute(_EVENT, (event_id,)).fetchone()
    return None if row is None else EventRow(*row)


def find_fact(connection: sqlite3.Connection, fact_id: int) -> FactRow | None:
    """Return a fact; None where there is none, or one that waits for a person, or that is of one session alone.

    One that nobody used for long, and is archived, holds as before.
    """
    row = connection.execute(_FACT, (fact_id,)).fetchone()
    return None if row is None else FactRow(*row)


def is_waiting(connection: sqlite3.Connection, fact_id: int) -> bool:
    """Whether a fact waits for a person: it stays in the queue until one has accepted it."""
    return connection.execute("SELECT 1 FROM facts WHERE id = ? AND waits", (fact_id,)).fetchone() is not None


def find_document(connection: sqlite3.Connection, document_id: int) -> DocumentRow | None:
    row = connection.execute(_DOCUMENT, (document_id,)).fetchone()
    return None if row is None else DocumentRow(*row)


class UnreadRow(NamedTuple):
    """What a document said before it was read in anew."""

    id: int
    ts: int
    path: str | None
    type: str
    text: str


def keep_unread(connection: sqlite3.Connection, document_id: int) -> None:
    """Keep what a document says, which is about to be replaced, unless the graph holds it. Within the caller's
    transaction."""
    connection.execute(_KEEP_UNREAD, (document_id, UNREAD_CHARS_MAX))


def find_unread(connection: sqlite3.Connection, document_id: int) -> UnreadRow | None:
    """Return the oldest reading of a document that the graph does not hold; None where there is none."""
    row = connection.execute(_UNREAD, (document_id,)).fetchone()
    return None if row is None else UnreadRow(*row)


def drop_unread(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("DELETE FROM graph_unread WHERE id = ?", (number,))


def is_as_read(connection: sqlite3.Connection, item: str, text: str) -> bool:
    """Whether an item still says what was read."""
    return connection.execute(_SAME[item[0]], (int(item[1:]), text)).fetchone() is not None


def take_from_queue(connection: sqlite3.Connection, item: str) -> None:
    connection.execute("DELETE FROM graph_queue WHERE item = ?", (item,))


def note_document(connection: sqlite3.Connection, document_id: int, content_hash: str) -> None:
    """Note of which reading of a document the graph holds what it says."""
    connection.execute(
        "INSERT INTO graph_documents VALUES (?, ?) ON CONFLICT DO UPDATE SET content_hash = excluded.content_hash",
        (document_id, content_hash),
    )


def list_rewritten(connection: sqlite3.Connection) -> list[int]:
    """Return the documents whose text has changed without having been read in anew: something was taken out of it."""
    rows = connection.execute(
        "SELECT d.id FROM graph_queue q JOIN documents d ON q.item = 'd' || d.id"
        " JOIN graph_documents g ON g.document_id = d.id AND g.content_hash = d.content_hash"
    )
    return [int(row[0]) for row in rows]
