"""Rows as an export tells them, and what an import has to ask and to insert.

A summary is derived, so a rebuild gives it another id: records name it by its event and the hash of its text.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from siftd.log.record import Record
from siftd.model import Scope
from siftd.store import summaries, turn_summaries
from siftd.store.answers import as_rows
from siftd.store.bulk_insert import insert_rows
from siftd.store.event_columns import EXPORTED
from siftd.store.turn_summaries import cite

_ROWS = {
    "events": f"SELECT {', '.join(EXPORTED)} FROM events ORDER BY id",  # noqa: S608 - names of our own
    "sessions": "SELECT session_id, started_ts, last_ts, ended_ts, cwd, source FROM sessions ORDER BY started_ts",
    "summaries": "SELECT id, event_id, ts, model, prompt_hash, text, tokens_in, tokens_out, confidence, scope,"
    " (SELECT json_group_array(dst_id) FROM provenance_edges p WHERE p.src_kind = 'summary' AND p.src_id = s.id"
    " AND p.dst_kind = 'event' AND p.edge = 'derives_from') AS cites FROM summaries s ORDER BY id",
    "supersedes": "SELECT newer_id AS newer, older_id AS older, cosine, ts FROM summary_supersedes"
    " ORDER BY newer_id, older_id",
    "apart": "SELECT a_event AS a, b_event AS b FROM kept_apart ORDER BY a_event, b_event",
    "muted": "SELECT event_id AS event, ts FROM muted_events ORDER BY event_id",
    "memories": "SELECT id, ts, updated_ts, category AS type, text, tags, importance, confidence, valid_from, valid_to,"
    " session_id, source, pinned, uid, project, said_by, (SELECT p.external_id FROM pod_members x JOIN pods p"
    " ON p.id = x.pod_id WHERE x.fact_id = facts.id AND p.type = 'person' AND x.role <> 'left out' LIMIT 1) AS person,"
    " status, scope, origin, topic, quote, client, (SELECT json_group_array(event_id) FROM fact_sources s"
    " WHERE s.fact_id = facts.id) AS sources FROM facts ORDER BY id",
    "verdicts": "SELECT fact_id AS fact, ts, what, by_id AS by, who, why, old_text FROM fact_history ORDER BY id",
    "links": "SELECT from_id, to_id, relation, ts FROM fact_links ORDER BY from_id, to_id, relation",
    "pods": "SELECT id, type, external_id, title, status = 'archived' AS is_archived, ts FROM pods ORDER BY id",
    "members": "SELECT pod_id AS pod, fact_id AS fact, role FROM pod_members ORDER BY pod_id, position, fact_id",
    "conversations": "SELECT session_id, ts, title, parent_id, relation, branches_from, project FROM conversations"
    " ORDER BY ts, session_id",
    "injections": "SELECT i.ts, i.session_id, i.hook, i.event_id, i.fact_id AS memory_id, i.after_id, i.why,"
    " s.id AS summary_id FROM injections i LEFT JOIN summaries s ON i.piece = 's' || s.id AND s.event_id = i.event_id"
    " WHERE i.event_id IS NOT NULL OR i.fact_id IS NOT NULL ORDER BY i.id",
    "documents": "SELECT d.id, d.path, d.url, d.title, d.type, d.ingested_ts AS ts, d.metadata, t.text"
    " FROM documents d JOIN document_texts t ON t.document_id = d.id ORDER BY d.id",
    "merges": "SELECT m.ts, s.type AS src_type, s.name AS src_name, d.type AS dst_type, d.name AS dst_name"
    " FROM entity_merges m JOIN entities s ON s.id = (SELECT min(e.id) FROM entities e WHERE e.mark = m.src_mark)"
    " JOIN entities d ON d.id = (SELECT min(e.id) FROM entities e WHERE e.mark = m.dst_mark)"
    " WHERE m.undone_ts IS NULL ORDER BY m.id",
}


def iter_rows(connection: sqlite3.Connection, what: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table by column name, without the columns that are NULL."""
    cursor = connection.execute(_ROWS[what])
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many rows of each table there are to tell."""
    return {
        what: int(connection.execute(f"SELECT count(*) FROM ({sql})").fetchone()[0])  # noqa: S608 - constants only
        for what, sql in _ROWS.items()
    }


def text_hash(text: str) -> str:
    """Return what names a summary among those of its event; too short to prove to anybody what a text was."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# What an import asks


def has_unnamed_event(connection: sqlite3.Connection, event_id: int, ts: int, session_id: str, tool: str) -> bool:
    """Whether this very row, which a person inserted and nothing else can name, is there."""
    sql = "SELECT 1 FROM events WHERE id = ? AND uid IS NULL AND ts = ? AND session_id = ? AND tool = ?"
    return connection.execute(sql, (event_id, ts, session_id, tool)).fetchone() is not None


def find_session(connection: sqlite3.Connection, session_id: str) -> dict[str, Any] | None:
    rows = as_rows(connection.execute("SELECT * FROM sessions WHERE session_id = ?", (session_id,)))
    return rows[0] if rows else None


def find_summary(connection: sqlite3.Connection, event_id: int, text_sha: str) -> int | None:
    """Return the summary of an event that has this text."""
    rows = connection.execute("SELECT id, text FROM summaries WHERE event_id = ? ORDER BY id", (event_id,))
    return next((int(row[0]) for row in rows if text_hash(row[1]) == text_sha), None)


def is_superseding(connection: sqlite3.Connection, newer: list[Any], older: list[Any]) -> bool:
    """Whether one summary hides the other, or a person keeps the two apart; each is [event id, hash of its text]."""
    sql = "SELECT 1 FROM summary_supersedes WHERE newer_id = ? AND older_id = ?"
    ids = find_summary(connection, *newer), find_summary(connection, *older)
    return (
        summaries.are_held_apart(connection, newer[0], older[0]) or connection.execute(sql, ids).fetchone() is not None
    )


def find_fact(connection: sqlite3.Connection, uid: str) -> int | None:
    row = connection.execute("SELECT id FROM facts WHERE uid = ?", (uid,)).fetchone()
    return int(row[0]) if row else None


def is_forgotten_fact(connection: sqlite3.Connection, uid: str) -> bool:
    sql = "SELECT 1 FROM tombstones WHERE kind = 'memory' AND key = ?"
    return connection.execute(sql, (uid,)).fetchone() is not None


def has_unnamed_fact(connection: sqlite3.Connection, fact_id: int, ts: int) -> bool:
    """Whether this very row, which a person inserted and nothing else can name, is there."""
    sql = "SELECT 1 FROM facts WHERE id = ? AND uid IS NULL AND ts = ?"
    return connection.execute(sql, (fact_id, ts)).fetchone() is not None


def is_judged(connection: sqlite3.Connection, fact_id: int, ts: int, what: str) -> bool:
    """Whether this was said of a fact already, or something was said of it later, which holds."""
    sql = "SELECT 1 FROM fact_history WHERE fact_id = ?1 AND (ts > ?2 OR (ts = ?2 AND what = ?3))"
    return connection.execute(sql, (fact_id, ts, what)).fetchone() is not None


def has_link(connection: sqlite3.Connection, from_id: int, to_id: int, relation: str) -> bool:
    sql = "SELECT 1 FROM fact_links WHERE from_id = ? AND to_id = ? AND relation = ?"
    return connection.execute(sql, (from_id, to_id, relation)).fetchone() is not None


def has_injection(connection: sqlite3.Connection, payload: dict[str, Any]) -> bool:
    """Whether the ledger has this already: a piece, however it is cited, that a session was given at that moment."""
    sql = "SELECT 1 FROM injections WHERE ts = ? AND session_id = ? AND event_id IS ? AND fact_id IS ?"
    names = payload["ts"], payload["session"], payload.get("event"), payload.get("memory")
    return connection.execute(sql, names).fetchone() is not None


# What an import's records do


_SUMMARY = """
INSERT INTO summaries (event_id, ts, model, prompt_hash, text, tokens_in, tokens_out, confidence, scope, said_by)
"""
_SUMMARY_COLUMNS = 10


def insert_summaries(connection: sqlite3.Connection, given: Sequence[tuple[dict[str, Any], Record]]) -> None:
    """Give events the summaries that were told of them elsewhere, save those that they have already.

    In one statement: for each statement full text writes a segment, which took half of an import's time.
    """
    rows: list[tuple[Any, ...]] = []
    taken: list[tuple[dict[str, Any], Record]] = []
    seen: set[tuple[int, str]] = set()
    for payload, record in given:
        event_id, text = payload["event"], payload["text"]
        name = event_id, text_hash(text)
        event = summaries.find_event(connection, event_id)
        if event is None or name in seen or find_summary(connection, *name) is not None:
            continue
        seen.add(name)
        taken.append((payload, record))
        scope: Scope = payload.get("scope", "event")
        rows.append(
            (
                event_id,
                payload["ts"],
                payload["model"],
                payload["promptHash"],
                text,
                payload.get("tokensIn"),
                payload.get("tokensOut"),
                payload.get("confidence"),
                scope,
                # Whose words it is made of, by what is here: the file may say anything.
                turn_summaries.said_of(connection, event, scope),
            )
        )
        raw = summaries.list_raw_events(connection, [event_id])
        summaries.insert_edges(connection, raw, record.ts)
        if scope != "session":  # that one tells nothing of the event that it hangs on
            connection.execute("UPDATE events SET status = 'summarized', last_error = NULL WHERE id = ?", (event_id,))
    ids = insert_rows(connection, _SUMMARY, _SUMMARY_COLUMNS, rows)
    for summary_id, (payload, record) in zip(ids, taken, strict=True):
        cite(connection, summary_id, payload.get("cites", ()), record.ts)


def supersede(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Hide one summary behind another, as it was elsewhere; summaries that are gone hide nothing."""
    newer, older = (find_summary(connection, *payload[name]) for name in ("newer", "older"))
    if newer is None or older is None or newer == older:
        return
    connection.execute(
        "INSERT OR IGNORE INTO summary_supersedes VALUES (?, ?, ?, ?)",
        (newer, older, payload.get("cosine"), payload.get("ts", record.ts)),
    )


def insert_injection(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Note in the ledger what an agent was given elsewhere, unless it is there or what was given is gone."""
    event_id, fact_id = payload.get("event"), payload.get("memory")
    owner = ("events", event_id) if fact_id is None else ("facts", fact_id)
    is_there = connection.execute(f"SELECT 1 FROM {owner[0]} WHERE id = ?", owner[1:]).fetchone()  # noqa: S608 - ours
    if is_there is None or has_injection(connection, payload):
        return
    summary_id = find_summary(connection, event_id, payload["text"]) if event_id and "text" in payload else None
    piece = f"m{fact_id}" if fact_id is not None else f"s{summary_id}" if summary_id else f"e{event_id}"
    connection.execute(
        "INSERT INTO injections (ts, session_id, hook, piece, event_id, fact_id, after_id, why)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            payload["ts"],
            payload["session"],
            payload["hook"],
            piece,
            event_id,
            fact_id,
            payload["after"],
            json.dumps(payload["why"], separators=(",", ":")),
        ),
    )
