"""Verdicts on facts: what a person, a rule, a model or use has said of one, applied from the log's records.

    {"fact": 31, "what": "merge", "by": 40 | null, "sources": [7], "confidence": 0.9, "who": "rule", "why": "..."}

    merge       said again: sources added, confidence raised
    supersede   another value holds now; `by` is the fact that tells it, or null where that was forgotten
    correct     the same, by a person's words
    contradict  it does not hold, and nothing took its place
    outdate     as contradict, by a person
    confirm     it holds, whatever was said before
    archive     nobody has used it: it is found no more until something brings it up again
    revive      something has
    promote     what one session said becomes the project's
    rewrite     it was worded anew (of an imported history; `update` does so itself)

What is said stays in `fact_history`, by the seq of its record, so that applying a record twice changes nothing. Nothing
is deleted.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Literal, get_args

from siftd.log.record import Record
from siftd.store import pods
from siftd.store.answers import as_rows
from siftd.store.fact_sources import cite
from siftd.wire.requests.memories import FactVerdict

What = Literal[
    "merge", "supersede", "correct", "contradict", "outdate", "confirm", "archive", "revive", "promote", "rewrite"
]  # fmt: skip
WHATS: tuple[str, ...] = get_args(What)
GENTLE = frozenset({"merge", "confirm", "revive", "promote", "rewrite"})
"""What hides nothing."""
_ENDS = {"supersede": "superseded", "correct": "superseded", "contradict": "contradicted", "outdate": "superseded"}
_NOTE = """
INSERT OR IGNORE INTO fact_history (id, fact_id, ts, what, by_id, who, why, old_text)
SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, ?8 FROM facts WHERE id = ?2
"""
_END = """
UPDATE facts SET status = ?2, superseded_by = (SELECT id FROM facts n WHERE n.id = ?3),
    valid_to = CASE WHEN valid_to < ?4 THEN valid_to ELSE ?4 END, updated_ts = max(updated_ts, ?4) WHERE id = ?1
"""
_LINK = """
INSERT OR IGNORE INTO fact_links SELECT n.id, o.id, 'supersedes', ?3 FROM facts n, facts o
WHERE n.id = ?1 AND o.id = ?2 AND n.id <> o.id
"""
_MOVE = "UPDATE facts SET status = ?3, updated_ts = max(updated_ts, ?4) WHERE id = ?1 AND status = ?2"
_MERGE = """
UPDATE facts SET confidence = CASE WHEN ?2 > coalesce(confidence, 0) THEN ?2 ELSE confidence END,
    updated_ts = max(updated_ts, ?3), status = CASE status WHEN 'archived' THEN 'active' ELSE status END WHERE id = ?1
"""
_CONFIRM = """
UPDATE facts SET confidence = CASE WHEN ?2 > coalesce(confidence, 0) THEN ?2 ELSE confidence END, status = 'active',
    superseded_by = NULL, valid_to = CASE WHEN status IN ('active', 'archived') AND (valid_to IS NULL OR valid_to > ?3)
                                     THEN valid_to END, updated_ts = max(updated_ts, ?3) WHERE id = ?1
"""
_HISTORY = "SELECT ts, what, by_id AS by, who, why, old_text FROM fact_history WHERE fact_id = ? ORDER BY id"


def apply(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Do what a `verdict` record says. One on a fact that is gone, or of a kind of a later siftd, does nothing."""
    fact_id, what = payload["fact"], payload["what"]
    if what not in WHATS:
        return
    ts = payload.get("ts", record.ts)
    if not note(connection, record.seq, fact_id, ts, what, payload):
        return
    if what in _ENDS:
        connection.execute(_END, (fact_id, _ENDS[what], payload.get("by"), ts))
        if _ENDS[what] == "superseded":
            connection.execute(_LINK, (payload.get("by"), fact_id, ts))
            pods.inherit(connection, payload.get("by"), fact_id)
    elif what == "merge":
        connection.execute(_MERGE, (fact_id, payload.get("confidence"), ts))
    elif what == "confirm":
        _confirm(connection, fact_id, payload.get("confidence"), ts)
    elif what == "archive":
        connection.execute(_MOVE, (fact_id, "active", "archived", ts))
    elif what == "revive":
        connection.execute(_MOVE, (fact_id, "archived", "active", ts))
    elif what == "promote":
        connection.execute("UPDATE facts SET scope = 'project' WHERE id = ?", (fact_id,))
    cite(connection, fact_id, payload.get("sources", ()))


def note(connection: sqlite3.Connection, seq: int, fact_id: int, ts: int, what: str, said: dict[str, Any]) -> bool:
    """Note in a fact's history what the record `seq` did to it; False where that is noted, or the fact gone."""
    values = seq, fact_id, ts, what, said.get("by"), said.get("who", "rule"), said.get("why"), said.get("oldText")
    return connection.execute(_NOTE, values).rowcount > 0


def list_history(connection: sqlite3.Connection, fact_id: int) -> list[FactVerdict]:
    """Return the verdicts on a fact, the first first."""
    return as_rows(connection.execute(_HISTORY, (fact_id,)), FactVerdict)


def _confirm(connection: sqlite3.Connection, fact_id: int, confidence: float | None, ts: int) -> None:
    connection.execute(_CONFIRM, (fact_id, confidence, ts))
    connection.execute("DELETE FROM fact_links WHERE to_id = ? AND relation = 'supersedes'", (fact_id,))
    connection.execute(
        "INSERT INTO fact_uses (fact_id, confirmed, last_ts) VALUES (?1, 1, ?2) ON CONFLICT (fact_id)"
        " DO UPDATE SET confirmed = confirmed + 1, last_ts = max(coalesce(last_ts, 0), ?2)",
        (fact_id, ts),
    )
