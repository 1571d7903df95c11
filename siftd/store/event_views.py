"""Reading for people and agents: one thing by its id, what happened around it, the sessions, the counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from siftd.store.answers import as_rows
from siftd.store.clients import OF_A_CLIENT
from siftd.store.muted import find_muted_since
from siftd.store.payload import branch_of, client_of, find_object
from siftd.wire.requests.finding import Event, EventLine, Session, Summary, SupersedingPair
from siftd.wire.requests.living import Counts, Parked, Rejection

_BEST = """
(SELECT s.text FROM summaries s WHERE s.event_id = e.id
 ORDER BY EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id), s.confidence DESC, s.id DESC LIMIT 1)
"""
_HITS = """
WITH wanted AS (
    SELECT key AS place, json_extract(value, '$[0]') AS event_id, json_extract(value, '$[1]') AS summary_id
    FROM json_each(?1)
), chosen AS (
    SELECT w.place, w.event_id,
           (SELECT s.id FROM summaries s WHERE s.event_id = w.event_id
            AND (?2 OR NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id))
            ORDER BY s.confidence DESC, s.id DESC LIMIT 1) AS best,
           (SELECT s.id FROM summaries s WHERE s.id = w.summary_id) AS found
    FROM wanted w
)
SELECT e.id AS event_id, e.session_id, e.kind AS event_kind, e.tool, e.action, e.ts, e.outcome,
       s.id AS summary_id, s.text, s.scope,
       coalesce(s.said_by, e.said_by) AS said_by, substr(e.payload_json, 1, 300) AS payload_head
FROM chosen c CROSS JOIN events e ON e.id = c.event_id
LEFT JOIN summaries s ON s.id = CASE WHEN ?2 THEN coalesce(c.found, c.best) ELSE coalesce(c.best, c.found) END
ORDER BY c.place
"""
_LINE = f"""
SELECT e.id AS event_id, e.session_id, e.kind AS event_kind, e.tool, e.action, e.ts, e.outcome, e.status,
       {_BEST} AS text, e.said_by,
       substr(e.payload_json, 1, 300) AS payload_head FROM events e
"""  # noqa: S608 - constants only
_SESSIONS = f"""
SELECT s.session_id, s.cwd, s.started_ts, s.last_ts, s.ended_ts, s.source,
       (SELECT count(*) FROM events e WHERE e.session_id = s.session_id) AS events,
       (SELECT substr(e.payload_json, 1, 300) FROM events e WHERE e.session_id = s.session_id ORDER BY e.id LIMIT 1)
       AS payload_head,
       (SELECT substr(json_extract(e.payload_json, '$.prompt'), 1, 200) FROM events e
        WHERE e.session_id = s.session_id AND e.kind = 'prompt' ORDER BY e.id LIMIT 1) AS asked,
       (SELECT x.text FROM summaries x JOIN events e ON e.id = x.event_id
        WHERE e.session_id = s.session_id AND x.scope = 'session' ORDER BY x.id DESC LIMIT 1) AS summary
FROM sessions s WHERE (?1 IS NULL OR (s.last_ts, s.session_id) < (?1, ?2))
AND (?4 IS NULL OR s.session_id IN ({OF_A_CLIENT.replace("?", "?4")}))
ORDER BY s.last_ts DESC, s.session_id DESC LIMIT ?3
"""  # noqa: S608 - constants only
_NAMED = """
SELECT session_id FROM sessions WHERE session_id >= ?1 AND session_id < ?1 || char(1114111)
AND substr(session_id, 1, length(?1)) = ?1 ORDER BY session_id LIMIT 2
"""
_COUNTS = """
WITH n (events, raw, skipped) AS (SELECT (SELECT count(*) FROM events),
       (SELECT count(*) FROM events WHERE status = 'raw'), (SELECT count(*) FROM events WHERE status = 'skipped'))
SELECT events, raw, events - raw - skipped, skipped,
       (SELECT count(*) FROM summaries), (SELECT count(*) FROM summary_embeddings),
       (SELECT count(DISTINCT older_id) FROM summary_supersedes), (SELECT count(*) FROM facts) FROM n
"""
"""Each count is answered by an index alone: `mem info` is asked by agents and slash commands."""
_PARKED = """
SELECT status, last_error AS reason, count(*) AS count FROM (
    SELECT status, last_error FROM events WHERE status = 'raw'
    UNION ALL SELECT status, last_error FROM events WHERE status = 'skipped')
WHERE last_error IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20
"""


def counts(connection: sqlite3.Connection) -> Counts:
    """Return how many rows of each kind there are, as `mem info` shows them."""
    names = ("events", "raw", "summarized", "skipped", "summaries", "embeddings", "superseded", "memories")
    return cast("Counts", dict(zip(names, connection.execute(_COUNTS).fetchone(), strict=True)))


def counters(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the captures' counters."""
    values = dict(connection.execute("SELECT name, value FROM counters"))
    return {name: values.get(name, 0) for name in ("accepted", "duplicates", "rejected", "spooled", "forgotten", "off")}


def redactions(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many secrets were replaced in what was kept, by rule, the most frequent first."""
    rows = connection.execute(
        "SELECT substr(name, 10), value FROM counters WHERE name GLOB 'redacted:*' ORDER BY value DESC, name"
    )
    return {str(name): int(value) for name, value in rows}


def rejections(connection: sqlite3.Connection) -> list[Rejection]:
    """Return what was rejected, by reason."""
    return as_rows(connection.execute("SELECT reason, count, last_ts FROM rejections ORDER BY count DESC"), Rejection)


def list_hits(
    connection: sqlite3.Connection, wanted: Sequence[tuple[int, int | None]], *, superseded: bool = False
) -> list[dict[str, Any]]:
    """Return what hits show, in order: each event that exists, with its best live summary, else the one given.

    With `superseded` the one given comes first.
    """
    return _with_stamps(as_rows(connection.execute(_HITS, (json.dumps(wanted), superseded))))


def find_payload(connection: sqlite3.Connection, event_id: int) -> str | None:
    """Return an event's payload as it is stored."""
    row = connection.execute("SELECT payload_json FROM events WHERE id = ?", (event_id,)).fetchone()
    return str(row[0]) if row else None


def _with_stamps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    heads = [row.pop("payloadHead") for row in rows]
    return [row | {"branch": branch_of(head), "client": client_of(head)} for row, head in zip(rows, heads, strict=True)]


def _lines(rows: list[dict[str, Any]]) -> list[EventLine]:
    return cast("list[EventLine]", _with_stamps(rows))


def find_event(connection: sqlite3.Connection, event_id: int) -> Event | None:
    """Return an event whole: its payload, its summaries, what they supersede, its provenance."""
    rows = as_rows(connection.execute("SELECT * FROM events WHERE id = ?", (event_id,)))
    if not rows:
        return None
    event = rows[0]
    event["eventKind"] = event.pop("kind")
    payload_json = event.pop("payloadJson")
    payload = find_object(payload_json)
    event["payload"] = payload_json if payload is None else payload
    named = connection.execute("SELECT id FROM summaries WHERE event_id = ? ORDER BY id", (event_id,)).fetchall()
    event["summaries"] = [find_summary(connection, int(row[0])) for row in named]
    event["mutedSince"] = find_muted_since(connection, event_id)
    event["causedBy"] = _edges(
        connection,
        "SELECT dst_id FROM provenance_edges WHERE src_kind = 'event'"
        " AND src_id = ? AND dst_kind = 'event' AND edge = 'caused_by'",
        event_id,
    )
    event["caused"] = _edges(
        connection,
        "SELECT src_id FROM provenance_edges WHERE dst_kind = 'event'"
        " AND dst_id = ? AND src_kind = 'event' AND edge = 'caused_by'",
        event_id,
    )
    return cast("Event", event)


_FACTS_OF_SESSION = """
SELECT f.id FROM summaries s JOIN events e ON e.id = s.event_id JOIN facts f ON f.session_id = e.session_id
WHERE s.id = ? AND s.scope = 'session' AND f.origin = 'extracted' AND f.scope = 'project' AND f.status = 'active'
ORDER BY f.id
"""
"""What a session's story tells besides its events: the facts that it left to the project."""


def find_summary(connection: sqlite3.Connection, summary_id: int) -> Summary | None:
    """Return a summary with what it supersedes and what supersedes it."""
    rows = as_rows(
        connection.execute(
            "SELECT s.id, s.event_id, s.ts, s.model, s.prompt_hash, s.text, s.tokens_in, s.tokens_out, s.confidence,"
            " s.scope, s.waits_for, s.said_by, v.embedder, v.dim"
            " FROM summaries s LEFT JOIN summary_embeddings v ON v.summary_id = s.id WHERE s.id = ?",
            (summary_id,),
        ),
        Summary,
    )
    if not rows:
        return None
    pairs = "SELECT newer_id, older_id, cosine, ts FROM summary_supersedes"
    supersedes = as_rows(connection.execute(f"{pairs} WHERE newer_id = ?", (summary_id,)), SupersedingPair)
    superseded_by = as_rows(connection.execute(f"{pairs} WHERE older_id = ?", (summary_id,)), SupersedingPair)
    cites = _edges(
        connection,
        "SELECT dst_id FROM provenance_edges WHERE src_kind = 'summary' AND src_id = ? AND dst_kind = 'event'"
        " AND edge = 'derives_from' ORDER BY dst_id",
        summary_id,
    )
    taken = [f"m{row[0]}" for row in connection.execute(_FACTS_OF_SESSION, (summary_id,))]
    return {
        **rows[0],
        "supersedes": supersedes,
        "supersededBy": superseded_by,
        "derivesFrom": cites + taken,
        "mutedSince": find_muted_since(connection, rows[0]["eventId"]),
    }


def timeline_around(connection: sqlite3.Connection, event_id: int, before: int, after: int) -> list[EventLine]:
    """Return the events of the same session before and after an event, it included, in order of time."""
    found = connection.execute("SELECT session_id, ts, id FROM events WHERE id = ?", (event_id,)).fetchone()
    if found is None:
        return []
    earlier = as_rows(
        connection.execute(
            f"{_LINE} WHERE e.session_id = ? AND (e.ts, e.id) < (?, ?) ORDER BY e.ts DESC, e.id DESC LIMIT ?",
            (*found, before),
        )
    )
    later = as_rows(
        connection.execute(
            f"{_LINE} WHERE e.session_id = ? AND (e.ts, e.id) >= (?, ?) ORDER BY e.ts, e.id LIMIT ?",
            (*found, after + 1),
        )
    )
    return _lines([*reversed(earlier), *later])


def timeline_latest(
    connection: sqlite3.Connection,
    session: str | None,
    limit: int,
    asking: Asking | None = None,
    before: tuple[int | None, int | None] = (None, None),
    client: str | None = None,
) -> list[EventLine]:
    """Return the latest events in order of time, of one session, or of all but what the session that asks knows; with
    `before` those before an event, of which it is the time and the id; with `client` those of its sessions."""
    rows = as_rows(
        connection.execute(
            f"{_LINE} WHERE (?1 IS NULL OR e.session_id = ?1)"
            " AND (?1 IS NOT NULL OR ?3 IS NULL OR e.session_id <> ?3 OR e.ts < ?4)"
            " AND (?5 IS NULL OR (e.ts, e.id) < (?5, ?6))"
            f" AND (?7 IS NULL OR e.session_id IN ({OF_A_CLIENT.replace('?', '?7')}))"
            " ORDER BY e.ts DESC, e.id DESC LIMIT ?2",
            (session, limit, asking and asking.session_id, asking and asking.since, *before, client),
        )
    )
    return _lines(rows[::-1])


def timeline_since(connection: sqlite3.Connection, event_id: int, limit: int) -> list[EventLine]:
    """Return the events that were captured after one, in that order."""
    rows = as_rows(connection.execute(f"{_LINE} WHERE e.id > ? ORDER BY e.id LIMIT ?", (event_id, limit)))
    return _lines(rows)


@dataclass(frozen=True, slots=True)
class Asking:
    """The session that asks, and since when what it did is in its context: from its last compaction on."""

    session_id: str
    since: int


def find_asking(connection: sqlite3.Connection, session_id: str | None) -> Asking | None:
    """Return the session that asks; None for one that is over, which its client may still name."""
    sql = "SELECT ended_ts, compacted_ts FROM sessions WHERE session_id = ?"
    row = connection.execute(sql, (session_id,)).fetchone()
    return None if row is None or row[0] is not None or session_id is None else Asking(session_id, row[1] or 0)


def list_named(connection: sqlite3.Connection, beginning: str) -> list[str]:
    """Return the sessions whose id begins so: the one whose id this is alone, else two at most."""
    found = [str(row[0]) for row in connection.execute(_NAMED, (beginning,))]
    return [beginning] if beginning in found else found


def sessions(
    connection: sqlite3.Connection,
    limit: int,
    behind: tuple[int | None, str | None] = (None, None),
    client: str | None = None,
) -> list[Session]:
    """Return the sessions, or those of one client, newest first, with what was asked first; `behind` is when one was
    active, and its id."""
    rows = as_rows(connection.execute(_SESSIONS, (*behind, limit, client)))
    return [cast("Session", row | {"client": client_of(row.pop("payloadHead") or "")}) for row in rows]


def parked(connection: sqlite3.Connection) -> list[Parked]:
    """Return why raw and skipped events have no summary, by reason."""
    return as_rows(connection.execute(_PARKED), Parked)


def _edges(connection: sqlite3.Connection, sql: str, event_id: int) -> list[str]:
    rows: Iterable[tuple[int]] = connection.execute(sql, (event_id,))
    return [f"e{row[0]}" for row in rows]
