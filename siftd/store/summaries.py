"""Summaries and what hangs on them: the queue of raw events, the cache, vectors, superseding, provenance."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from siftd.model import Action, Kind
from siftd.store.bulk_insert import insert_rows
from siftd.store.turn_summaries import cite

_RAW_SESSIONS = """
WITH RECURSIVE raw (session_id) AS (
    SELECT min(session_id) FROM events WHERE status = 'raw' UNION ALL
    SELECT (SELECT min(e.session_id) FROM events e WHERE e.status = 'raw' AND e.session_id > raw.session_id) FROM raw
    WHERE raw.session_id IS NOT NULL)
SELECT s.last_ts AS moment, s.session_id, NULL FROM raw JOIN sessions s ON s.session_id = raw.session_id
UNION ALL
SELECT e.ts, e.session_id, e.id FROM raw CROSS JOIN events e ON e.session_id = raw.session_id AND e.status = 'raw'
WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = raw.session_id)
ORDER BY moment DESC, 2, 3
"""
_RAW_OF_SESSION = "SELECT id FROM events WHERE session_id = ? AND status = 'raw' ORDER BY id LIMIT ?"
_EVENTS = """
SELECT e.id, e.ts, e.session_id, e.kind, e.tool, e.action, e.payload_json, e.input_hash, e.outcome, e.agent_id,
       e.spawned_agent_id, e.attempts, s.cwd, e.prompt_id, p.payload_json, p.id, e.said_by
FROM json_each(?) j CROSS JOIN events e ON e.id = j.value LEFT JOIN sessions s ON s.session_id = e.session_id
LEFT JOIN events p ON p.id = (SELECT q.id FROM events q WHERE q.session_id = e.session_id
    AND q.prompt_id = e.prompt_id AND q.kind = 'prompt' AND q.id <> e.id LIMIT 1)
"""
_INSERT = """
INSERT INTO summaries (event_id, ts, model, prompt_hash, text, tokens_in, tokens_out, confidence, words, scope,
                       waits_for, said_by)
"""
_INSERT_COLUMNS = 12
_LIVE = """
SELECT s.id, s.event_id, e.ts, s.text, e.outcome
FROM json_each(?) j CROSS JOIN summaries s ON s.id = j.value JOIN events e ON e.id = s.event_id
WHERE NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)
"""
_CACHED = """
SELECT c.cache_key, c.text, c.tokens_in, c.tokens_out, c.confidence, c.model
FROM json_each(?) j CROSS JOIN summary_cache c ON c.cache_key = j.value
"""
_CACHE = """
INSERT OR REPLACE INTO summary_cache (cache_key, text, tokens_in, tokens_out, confidence, ts, model)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_EDGE = """
INSERT OR IGNORE INTO provenance_edges (src_kind, src_id, dst_kind, dst_id, edge, ts)
VALUES ('event', ?, 'event', ?, 'caused_by', ?)
"""
_STARTERS = "SELECT id FROM events WHERE session_id = ? AND spawned_agent_id = ?"
_CHILDREN = "SELECT id FROM events WHERE session_id = ? AND agent_id = ?"


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event that waits for its summary, with the context it happened in."""

    id: int
    ts: int
    session_id: str
    kind: Kind
    tool: str
    action: Action | None
    payload_json: str
    input_hash: str
    outcome: str | None
    agent_id: str | None
    spawned_agent_id: str | None
    attempts: int
    cwd: str | None
    prompt_id: str | None
    prompt_json: str | None
    prompt_event_id: int | None
    said_by: str


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary to be stored, with its place in the cache."""

    event_id: int
    model: str
    prompt_hash: str
    cache_key: str
    text: str
    words: str
    tokens_in: int
    tokens_out: int
    confidence: float
    said_by: str
    """Whose words it is made of: the worst of what it stands on."""
    scope: str = "event"
    cites: tuple[int, ...] = ()
    """The events that it stands on, beside its own."""
    waits_for: str | None = None
    """The backend that is to write a better one: what stands in is not what the cache keeps for it."""


@dataclass(frozen=True, slots=True)
class Cached:
    """A text that was paid for before."""

    text: str
    tokens_in: int
    tokens_out: int
    confidence: float
    model: str | None
    """Who wrote it, where that is not the backend that was asked."""


def list_raw_ids(connection: sqlite3.Connection, limit: int) -> list[int]:
    """Return the ids of raw events, newest sessions first, in order within a session.

    An event that a person inserted for a session that is not there counts as a session of its own. Session by session
    in the index of raw events, so that a large backlog is not sorted for each piece of it.
    """
    ids: list[int] = []
    for _, session_id, event_id in connection.execute(_RAW_SESSIONS):
        if len(ids) >= limit:
            break
        if event_id is not None:
            ids.append(event_id)
        else:
            ids += [row[0] for row in connection.execute(_RAW_OF_SESSION, (session_id, limit - len(ids)))]
    return ids


def list_raw_events(connection: sqlite3.Connection, event_ids: Iterable[int]) -> list[RawEvent]:
    """Return those of these events that are still raw, in this order."""
    rows = connection.execute(f"{_EVENTS} WHERE e.status = 'raw'", (json.dumps(list(event_ids)),))
    return [RawEvent(*row) for row in rows]


def find_event(connection: sqlite3.Connection, event_id: int) -> RawEvent | None:
    """Return an event as it is summarised, whatever its status."""
    row = connection.execute(_EVENTS, (f"[{event_id}]",)).fetchone()
    return RawEvent(*row) if row else None


def last_event(connection: sqlite3.Connection, session_id: str) -> int:
    """Return the last event of a session; 0 where there is none."""
    row = connection.execute("SELECT max(id) FROM events WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0] or 0)


def find_cached(connection: sqlite3.Connection, cache_keys: Iterable[str]) -> dict[str, Cached]:
    """Return what the cache holds under these keys."""
    rows = connection.execute(_CACHED, (json.dumps(list(cache_keys)),))
    return {row[0]: Cached(*row[1:]) for row in rows}


def insert_summaries(connection: sqlite3.Connection, new: Sequence[NewSummary], now_ms: int) -> list[int]:
    """Store summaries, flip their events' status and fill the cache; return the new summary ids."""
    flip = "UPDATE events SET status = 'summarized', last_error = NULL WHERE id = ? AND status = 'raw'"
    # One that is not flipped was deleted, or summarised by hand meanwhile.
    return _insert(connection, [each for each in new if connection.execute(flip, (each.event_id,)).rowcount], now_ms)


def insert_fallback(connection: sqlite3.Connection, new: NewSummary, now_ms: int) -> None:
    """Store what stands in for a skipped event's summary; why it was skipped stays with it."""
    flip = "UPDATE events SET status = 'summarized' WHERE id = ? AND status = 'skipped'"
    if connection.execute(flip, (new.event_id,)).rowcount:
        insert_summary(connection, new, now_ms)


def insert_summary(connection: sqlite3.Connection, new: NewSummary, now_ms: int) -> int:
    """Store a summary of an event that exists, what it cites, and its place in the cache; return its id."""
    return _insert(connection, [new], now_ms)[0]


def _insert(connection: sqlite3.Connection, new: Sequence[NewSummary], now_ms: int) -> list[int]:
    """Store summaries in one statement, what they cite, and their places in the cache; return their ids."""
    rows = [
        (
            each.event_id,
            now_ms,
            each.model,
            each.prompt_hash,
            *_values(each),
            each.words,
            each.scope,
            each.waits_for,
            each.said_by,
        )
        for each in new
    ]
    ids = insert_rows(connection, _INSERT, _INSERT_COLUMNS, rows)
    for summary_id, each in zip(ids, new, strict=True):
        if each.cites:
            cite(connection, summary_id, each.cites, now_ms)
    cached = [(each.cache_key, *_values(each), now_ms, each.model) for each in new if each.waits_for is None]
    connection.executemany(_CACHE, cached)
    return ids


def _values(new: NewSummary) -> tuple[str, int, int, float]:
    return new.text, new.tokens_in, new.tokens_out, new.confidence


def has_event(connection: sqlite3.Connection, event_id: int) -> bool:
    return connection.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone() is not None


def is_repeat(connection: sqlite3.Connection, session_id: str, event_id: int, input_hash: str) -> bool:
    """Whether the session holds an equal event before this one."""
    sql = "SELECT 1 FROM events WHERE session_id = ? AND id < ? AND input_hash = ? LIMIT 1"
    return connection.execute(sql, (session_id, event_id, input_hash)).fetchone() is not None


def insert_edges(connection: sqlite3.Connection, raw: Iterable[RawEvent], now_ms: int) -> None:
    """Link calls to the prompt they served, and a subagent's calls to the call that started it."""
    for event in raw:
        if event.prompt_event_id is not None:
            connection.execute(_EDGE, (event.id, event.prompt_event_id, now_ms))
        if event.agent_id is not None:
            for (starter,) in connection.execute(_STARTERS, (event.session_id, event.agent_id)).fetchall():
                connection.execute(_EDGE, (event.id, starter, now_ms))
        if event.spawned_agent_id is not None:
            for (child,) in connection.execute(_CHILDREN, (event.session_id, event.spawned_agent_id)).fetchall():
                connection.execute(_EDGE, (child, event.id, now_ms))


def note_cannot(connection: sqlite3.Connection, event_id: int, reason: str, attempts_max: int) -> bool:
    """Count one attempt that failed for good; return whether the event is now skipped."""
    connection.execute(
        "UPDATE events SET attempts = attempts + 1, last_error = ?2,"
        " status = CASE WHEN attempts + 1 >= ?3 THEN 'skipped' ELSE status END WHERE id = ?1 AND status = 'raw'",
        (event_id, reason, attempts_max),
    )
    row = connection.execute("SELECT status FROM events WHERE id = ?", (event_id,)).fetchone()
    return bool(row and row[0] == "skipped")


def note_without_summary(connection: sqlite3.Connection, event_ids: Sequence[int]) -> int:
    """Note that events need no summary; return how many that were raw."""
    sql = "UPDATE events SET status = 'summarized' WHERE status = 'raw' AND id IN (SELECT value FROM json_each(?))"
    return connection.execute(sql, (json.dumps(list(event_ids)),)).rowcount


def note_parked(connection: sqlite3.Connection, event_ids: Iterable[int], reason: str) -> None:
    """Remember why events wait; their attempts are not used up."""
    connection.executemany(
        "UPDATE events SET last_error = ? WHERE id = ? AND status = 'raw'", [(reason, each) for each in event_ids]
    )


def count_skipped(connection: sqlite3.Connection, event_id: int | None) -> int:
    """Return how many events are skipped, of all or of one."""
    sql = "SELECT count(*) FROM events WHERE status = 'skipped' AND (?1 IS NULL OR id = ?1)"
    return int(connection.execute(sql, (event_id,)).fetchone()[0])


def retry(connection: sqlite3.Connection, event_id: int | None) -> int:
    """Make skipped events raw again: one, or all of them. Returns how many."""
    cursor = connection.execute(
        "UPDATE events SET status = 'raw', attempts = 0, last_error = NULL"
        " WHERE status = 'skipped' AND (?1 IS NULL OR id = ?1)",
        (event_id,),
    )
    return cursor.rowcount


# Superseding


@dataclass(frozen=True, slots=True)
class LiveSummary:
    """A summary that search shows, with the time of its fact."""

    id: int
    event_id: int
    event_ts: int
    text: str
    outcome: str | None


def find_live(connection: sqlite3.Connection, summary_ids: Iterable[int]) -> dict[int, LiveSummary]:
    """Return those of `summary_ids` that exist and are not superseded, by id."""
    rows = connection.execute(_LIVE, (json.dumps(list(summary_ids)),))
    return {row[0]: LiveSummary(*row) for row in rows}


def are_held_apart(connection: sqlite3.Connection, a_event: int, b_event: int) -> bool:
    """Whether a person took the summaries of these two events apart."""
    pair = (min(a_event, b_event), max(a_event, b_event))
    sql = "SELECT 1 FROM kept_apart WHERE a_event = ? AND b_event = ?"
    return connection.execute(sql, pair).fetchone() is not None


def was_brought_back(connection: sqlite3.Connection, event_id: int) -> bool:
    """Whether a person took this event's summaries out from behind a newer event's: nothing hides them again."""
    sql = """
        SELECT 1 FROM kept_apart k JOIN events mine ON mine.id = ?1
        JOIN events other ON other.id = CASE WHEN k.a_event = ?1 THEN k.b_event ELSE k.a_event END
        WHERE (k.a_event = ?1 OR k.b_event = ?1) AND (other.ts, other.id) > (mine.ts, mine.id)
    """
    return connection.execute(sql, (event_id,)).fetchone() is not None


def keep_apart(connection: sqlite3.Connection, a_event: int, b_event: int) -> None:
    """Take the summaries of two events apart for good."""
    connection.execute(
        "INSERT OR IGNORE INTO kept_apart SELECT ?, ? WHERE EXISTS (SELECT 1 FROM events WHERE id = ?1)"
        " AND EXISTS (SELECT 1 FROM events WHERE id = ?2)",
        (min(a_event, b_event), max(a_event, b_event)),
    )
    connection.execute(
        "DELETE FROM summary_supersedes WHERE (newer_id, older_id) IN (SELECT a.id, b.id FROM summaries a, summaries b"
        " WHERE a.event_id IN (?1, ?2) AND b.event_id IN (?1, ?2))",
        (a_event, b_event),
    )


def superseding_events(connection: sqlite3.Connection, summary_id: int) -> list[tuple[int, int]]:
    """Return (event of the newer, event of the older) of what hides a summary."""
    rows = connection.execute(
        "SELECT n.event_id, o.event_id FROM summary_supersedes x JOIN summaries n ON n.id = x.newer_id"
        " JOIN summaries o ON o.id = x.older_id WHERE x.older_id = ?",
        (summary_id,),
    )
    return [(int(newer), int(older)) for newer, older in rows]


def supersede(connection: sqlite3.Connection, newer: int, older: int, cosine: float | None, now_ms: int) -> None:
    """Hide `older` behind `newer`; nothing is deleted."""
    connection.execute("INSERT OR IGNORE INTO summary_supersedes VALUES (?, ?, ?, ?)", (newer, older, cosine, now_ms))


def sweep_orphans(connection: sqlite3.Connection) -> None:
    """Delete what a person left behind with foreign keys off."""
    connection.execute("DELETE FROM summaries WHERE event_id NOT IN (SELECT id FROM events)")
    for table, column in (
        ("summary_embeddings", "summary_id"),
        ("summary_supersedes", "newer_id"),
        ("summary_supersedes", "older_id"),
    ):
        connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM summaries)")  # noqa: S608
