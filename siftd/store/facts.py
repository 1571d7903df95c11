"""Facts: statements that hold until something newer replaces them. Rows, and what a record makes of them.

A fact was kept on purpose (`origin` kept), taken from somebody's words (extracted), or from what happened (learnt). Its
id is the seq of the record that made it, so that a rebuild gives it the same one.

One that `waits` was pinned, or is for every project, without a person's doing: it stands in no brief, and no other
project sees it, until a person has accepted it (`mem pins --accept`).
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any, TypedDict

from siftd.log.record import Record
from siftd.store import fact_verdicts, pods
from siftd.store.answers import as_rows
from siftd.store.fact_scope import LIVE, LIVE_FOR_OTHERS, SHOWN, VALID
from siftd.store.fact_sources import cite, list_sources
from siftd.store.ids import last_id
from siftd.wire.requests.memories import Memory, MemoryFields, MemoryLink

_INSERT = """
INSERT OR IGNORE INTO facts (id, ts, updated_ts, category, text, tags, importance, confidence, valid_from, valid_to,
    session_id, source, pinned, uid, project, status, superseded_by, scope, origin, topic, quote, client, said_by,
    waits)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM facts n WHERE n.id = ?), ?, ?, ?, ?, ?, ?, ?)
"""
_SETTLE = """
UPDATE facts SET status = 'superseded', superseded_by = x.from_id,
    valid_to = CASE WHEN facts.valid_to < x.ts THEN facts.valid_to ELSE x.ts END
FROM fact_links x JOIN facts n ON n.id = x.from_id
WHERE x.from_id = ? AND x.to_id = facts.id AND x.relation = 'supersedes' AND NOT n.waits
AND (facts.status = 'active' OR (facts.status = 'superseded' AND facts.superseded_by IS NULL))
"""
PINNED = f"""
{SHOWN} WHERE m.pinned AND NOT m.waits AND {VALID} AND {LIVE_FOR_OTHERS}
ORDER BY m.importance DESC, m.updated_ts DESC, m.id DESC LIMIT 50
"""
"""The standing instructions that hold at a moment, given twice. One whose successor still waits for a person stands."""
_COUNT_WAITING = f"SELECT count(*) FROM facts m WHERE m.waits AND {VALID} AND {LIVE}"  # noqa: S608 - constants only


def insert(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Make the row that a `remember` record asks for; its uid makes a second time harmless."""
    fact_id = payload.get("as", record.seq)
    if "as" in payload:  # said again without its quote, which is to be forgotten
        connection.execute("UPDATE facts SET quote = NULL WHERE id = ? AND uid = ?", (fact_id, payload["uid"]))
    if connection.execute("SELECT 1 FROM facts WHERE uid = ?", (payload["uid"],)).fetchone():
        return
    _make_way(connection, fact_id)
    ts = payload.get("ts", record.ts)
    connection.execute(
        _INSERT,
        (
            fact_id,
            ts,
            payload.get("updatedTs", ts),
            category_of(payload),
            payload["text"],
            json.dumps(payload.get("tags", []), ensure_ascii=False),
            payload.get("importance", 3),
            payload.get("confidence"),
            payload.get("from"),
            payload.get("until"),
            record.session_id or None,
            payload.get("source"),
            int(payload.get("pin", False)),
            payload["uid"],
            payload.get("label"),
            payload.get("status", "active"),
            payload.get("supersededBy"),
            payload.get("scope", "project"),
            payload.get("origin", "kept"),
            payload.get("topic"),
            payload.get("quote"),
            payload.get("client"),
            *_said_and_waits(payload),
        ),
    )
    cite(connection, fact_id, payload.get("sources", ()))
    if "supersedes" in payload:
        link(connection, fact_id, payload["supersedes"], "supersedes", ts)


def _said_and_waits(payload: dict[str, Any]) -> tuple[str, bool]:
    """Return whose words a record's fact is, and whether it waits; for old records by the rule of migration 0003."""
    if "saidBy" in payload:
        return payload["saidBy"], payload.get("waits", False)
    is_typed = payload.get("source") == "mem"
    return "person" if is_typed else "agent", bool(payload.get("pin")) and not is_typed


def category_of(payload: dict[str, Any]) -> str:
    """Return the category that a record tells, which was called `type` once."""
    return str(payload["category"] if "category" in payload else payload["type"])


def link(connection: sqlite3.Connection, from_id: int, to_id: int, relation: str, ts: int) -> None:
    """Link two facts that exist. What is superseded by one that does not wait holds no more."""
    connection.execute(
        "INSERT OR IGNORE INTO fact_links SELECT ?1, ?2, ?3, ?4 WHERE ?1 <> ?2"
        " AND EXISTS (SELECT 1 FROM facts WHERE id = ?1) AND EXISTS (SELECT 1 FROM facts WHERE id = ?2)",
        (from_id, to_id, relation, ts),
    )
    if relation == "supersedes":
        pods.inherit(connection, from_id, to_id)
        settle_superseded(connection, from_id)


def settle_superseded(connection: sqlite3.Connection, fact_id: int) -> None:
    """End what a fact supersedes, unless it waits for a person: a link may be undone with it, a status stays."""
    connection.execute(_SETTLE, (fact_id,))


def find_fact(connection: sqlite3.Connection, fact_id: int) -> Memory | None:
    """Return a fact with its tags, its links, the events that it was taken from, and the verdicts on it."""
    rows = as_rows(connection.execute(f"{SHOWN} WHERE m.id = ?", (fact_id,)), Memory)
    if not rows:
        return None
    links = "SELECT from_id, to_id, relation, ts FROM fact_links WHERE ?1 IN (from_id, to_id) ORDER BY ts"
    found = connection.execute(links, (fact_id,))
    return {
        **rows[0],
        **flags_of(rows[0]),
        "links": as_rows(found, MemoryLink),
        "sources": list_sources(connection, fact_id),
        "history": fact_verdicts.list_history(connection, fact_id),
    }


def find_repeat(connection: sqlite3.Connection, text: str, label: str | None, now_ms: int) -> int | None:
    """Return the live fact that says exactly this under the same label."""
    row = connection.execute(
        f"SELECT m.id FROM facts m WHERE m.text = ? AND m.project IS ? AND {VALID} AND {LIVE}"  # noqa: S608
        " ORDER BY m.id LIMIT 1",
        (text, label, now_ms, now_ms),
    ).fetchone()
    return int(row[0]) if row else None


def count_waiting(connection: sqlite3.Connection, now_ms: int) -> int:
    """Return how many facts that hold now wait for a person's word."""
    return int(connection.execute(_COUNT_WAITING, (now_ms, now_ms)).fetchone()[0])


def shows_waiting(connection: sqlite3.Connection) -> bool:
    """Whether the database says which facts wait: that of another daemon may be of an older siftd."""
    return any(row[1] == "waits" for row in connection.execute("PRAGMA table_info(facts)"))


def list_live_texts(connection: sqlite3.Connection, now_ms: int) -> dict[str, int]:
    """Return the live facts by what they say."""
    sql = f"SELECT m.text, m.id FROM facts m WHERE {VALID} AND {LIVE} ORDER BY m.id DESC"  # noqa: S608
    return {str(row[0]): int(row[1]) for row in connection.execute(sql, (now_ms, now_ms))}


def count_texts(connection: sqlite3.Connection) -> int:
    """Return about how many summaries and facts there are; never slow."""
    sql = "SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name = 'summaries'"
    return int(connection.execute(sql).fetchone()[0])


def _make_way(connection: sqlite3.Connection, seq: int) -> None:
    """Give a row that a person inserted under this id another one: the log's seq is not to be changed."""
    if connection.execute("SELECT 1 FROM facts WHERE id = ?", (seq,)).fetchone() is None:
        return
    free = max(last_id(connection), seq) + 1
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for column in ("from_id", "to_id"):
        connection.execute(f"UPDATE fact_links SET {column} = ? WHERE {column} = ?", (free, seq))  # noqa: S608
    connection.execute("UPDATE injections SET fact_id = ?1, piece = 'm' || ?1 WHERE fact_id = ?2", (free, seq))
    connection.execute("UPDATE facts SET id = ? WHERE id = ?", (free, seq))
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'facts'", (free,))


class Flags(TypedDict):
    """The fields that a row of the database has in another form."""

    tags: list[str]
    pinned: bool
    waits: bool


def flags_of(row: MemoryFields) -> Flags:
    """Return the fields of a row, as the database has it, that answers have in another form."""
    tags: Any = row["tags"]
    return {"tags": tags_of(tags), "pinned": bool(row["pinned"]), "waits": bool(row["waits"])}


def tags_of(text: str) -> list[str]:
    """Return the tags of a column that a person may have edited."""
    try:
        tags = json.loads(text)
    except ValueError:
        return []
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
