"""Memories: statements kept on purpose. Rows, what search and recall may see of them, their vectors.

A memory is live while nothing newer supersedes it (a link) and while its validity, if it has one, holds. Its id is
the seq of the record that made it, so that a rebuild gives it the same one.

One that `waits` was pinned, or is for every project, without a person's doing: it stands in no brief, and no other
project sees it, until a person has accepted it (`mem pins --accept`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from siftd.filters import Filters
from siftd.log.record import Record
from siftd.store.answers import as_rows
from siftd.store.ids import last_id
from siftd.store.scope import glob_escaped
from siftd.wire.requests.memories import Memory, MemoryFields, MemoryLink

OWNER = "memory"
_INSERT = """
INSERT OR IGNORE INTO memories (id, ts, updated_ts, type, text, tags, importance, confidence, valid_from, valid_to,
                                session_id, source, pinned, uid, project, said_by, waits)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
LIVE = """
NOT EXISTS (SELECT 1 FROM memory_links x WHERE x.to_id = m.id AND x.relation = 'supersedes')
"""
_LIVE_FOR_OTHERS = """
NOT EXISTS (SELECT 1 FROM memory_links x JOIN memories n ON n.id = x.from_id
            WHERE x.to_id = m.id AND x.relation = 'supersedes' AND NOT n.waits)
"""
"""What waits hides nothing yet where it is not seen itself."""
VALID = "(m.valid_from IS NULL OR m.valid_from <= ?) AND (m.valid_to IS NULL OR m.valid_to > ?)"
SHOWN = """
SELECT m.id, m.ts, m.updated_ts, m.type, m.text, m.tags, m.project, m.importance, m.confidence, m.valid_from,
       m.valid_to, m.session_id, m.source, m.pinned, m.uid, m.said_by, m.waits FROM memories m
"""
SHOWN_READ = """
SELECT m.id, m.ts, m.updated_ts, m.type, m.text, m.tags, m.project, m.importance, m.confidence, m.valid_from,
       m.valid_to, m.session_id, m.source, m.pinned, m.uid, m.said_by, m.waits, coalesce(r.reads, 0) AS reads,
       r.last_ts AS read_ts FROM memories m LEFT JOIN memory_reads r ON r.memory_id = m.id
"""
PINNED = f"""
{SHOWN} WHERE m.pinned AND NOT m.waits AND {VALID} AND {_LIVE_FOR_OTHERS}
ORDER BY m.importance DESC, m.updated_ts DESC, m.id DESC LIMIT 50
"""
"""The standing instructions that hold at a moment, given twice. One whose successor still waits for a person stands."""
_COUNT_WAITING = f"SELECT count(*) FROM memories m WHERE m.waits AND {VALID} AND {LIVE}"  # noqa: S608 - constants only
_UNEMBEDDED = """
SELECT m.id, m.text FROM memories m LEFT JOIN embeddings v
ON v.owner_kind = 'memory' AND v.owner_id = m.id AND v.embedder = ?
WHERE m.id < ? AND (v.owner_id IS NULL OR m.words IS NULL) ORDER BY m.id DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Filters as SQL over `m` (memories): conditions and their values."""

    sql: str
    values: tuple[object, ...]

    @classmethod
    def of(cls, filters: Filters, now_ms: int) -> MemoryScope | None:
        """Return the scope, or None where the filters ask for what no memory has: a tool, a file, an event's kind."""
        if filters.tool or filters.client or filters.file or filters.symbol or filters.kind not in (None, OWNER):
            return None
        moment = now_ms if filters.as_of is None else filters.as_of
        conditions, values = [VALID], [moment, moment]
        wanted: list[tuple[str, Any]] = [
            ("m.type = ?", filters.type),
            ("m.project = ?", filters.label),
            ("m.session_id GLOB ? || '*'", filters.session and glob_escaped(filters.session)),
            ("m.updated_ts >= ?", filters.since),
            ("m.updated_ts <= ?", filters.until),
            ("m.ts <= ?", filters.as_of),
        ]
        for condition, value in wanted:
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if not filters.superseded:
            conditions.append(LIVE)
        return cls(" AND ".join(conditions), tuple(values))

    @property
    def accepted(self) -> MemoryScope:
        """Return the scope without what waits for a person: so other projects see the memories for every one."""
        return MemoryScope(f"{self.sql.replace(LIVE, _LIVE_FOR_OTHERS)} AND NOT m.waits", self.values)


# Rows


def insert(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Make the row that a `remember` record asks for; its uid makes a second time harmless."""
    if connection.execute("SELECT 1 FROM memories WHERE uid = ?", (payload["uid"],)).fetchone():
        return
    _make_way(connection, record.seq)
    ts = payload.get("ts", record.ts)
    connection.execute(
        _INSERT,
        (
            record.seq,
            ts,
            payload.get("updatedTs", ts),
            payload["type"],
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
            *_said_and_waits(payload),
        ),
    )
    if "supersedes" in payload:
        link(connection, record.seq, payload["supersedes"], "supersedes", ts)


def _said_and_waits(payload: dict[str, Any]) -> tuple[str, bool]:
    """Return whose words a record's memory is, and whether it waits; for old records by the rule of migration 0003."""
    if "saidBy" in payload:
        return payload["saidBy"], payload.get("waits", False)
    is_typed = payload.get("source") == "mem"
    return "person" if is_typed else "agent", bool(payload.get("pin")) and not is_typed


def link(connection: sqlite3.Connection, from_id: int, to_id: int, relation: str, ts: int) -> None:
    """Link two memories that exist."""
    connection.execute(
        "INSERT OR IGNORE INTO memory_links SELECT ?1, ?2, ?3, ?4 WHERE ?1 <> ?2"
        " AND EXISTS (SELECT 1 FROM memories WHERE id = ?1) AND EXISTS (SELECT 1 FROM memories WHERE id = ?2)",
        (from_id, to_id, relation, ts),
    )


def find_memory(connection: sqlite3.Connection, memory_id: int) -> Memory | None:
    """Return a memory with its tags and its links."""
    rows = as_rows(connection.execute(f"{SHOWN} WHERE m.id = ?", (memory_id,)), Memory)
    if not rows:
        return None
    links = "SELECT from_id, to_id, relation, ts FROM memory_links WHERE ?1 IN (from_id, to_id) ORDER BY ts"
    found = connection.execute(links, (memory_id,))
    return {**rows[0], **flags_of(rows[0]), "links": as_rows(found, MemoryLink)}


def find_repeat(connection: sqlite3.Connection, text: str, label: str | None, now_ms: int) -> int | None:
    """Return the live memory that says exactly this under the same label."""
    row = connection.execute(
        f"SELECT m.id FROM memories m WHERE m.text = ? AND m.project IS ? AND {VALID} AND {LIVE}"  # noqa: S608
        " ORDER BY m.id LIMIT 1",
        (text, label, now_ms, now_ms),
    ).fetchone()
    return int(row[0]) if row else None


def count_waiting(connection: sqlite3.Connection, now_ms: int) -> int:
    """Return how many memories that hold now wait for a person's word."""
    return int(connection.execute(_COUNT_WAITING, (now_ms, now_ms)).fetchone()[0])


def tells_what_waits(connection: sqlite3.Connection) -> bool:
    """Whether the database says which memories wait: that of another daemon may be of an older siftd."""
    return any(row[1] == "waits" for row in connection.execute("PRAGMA table_info(memories)"))


def list_live_texts(connection: sqlite3.Connection, now_ms: int) -> dict[str, int]:
    """Return the live memories by what they say."""
    sql = f"SELECT m.text, m.id FROM memories m WHERE {VALID} AND {LIVE} ORDER BY m.id DESC"  # noqa: S608
    return {str(row[0]): int(row[1]) for row in connection.execute(sql, (now_ms, now_ms))}


def count_texts(connection: sqlite3.Connection) -> int:
    """Return about how many summaries and memories there are; never slow."""
    sql = "SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name = 'summaries'"
    return int(connection.execute(sql).fetchone()[0])


# Candidates


def by_words(connection: sqlite3.Connection, match: str, scope: MemoryScope, limit: int) -> list[tuple[int, str]]:
    """Return (id, text and tags) of the memories that match an FTS5 expression over words, best first by bm25."""
    sql = f"""
        SELECT m.id, CASE m.tags WHEN '[]' THEN m.text ELSE m.text || ' ' || m.tags END FROM memories_fts
        JOIN memories m ON m.id = memories_fts.rowid
        WHERE memories_fts MATCH ? AND {scope.sql} ORDER BY bm25(memories_fts, 1.0, 0.6) LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return [(int(row[0]), str(row[1])) for row in connection.execute(sql, (match, *scope.values, limit))]


def by_trigrams(connection: sqlite3.Connection, match: str, scope: MemoryScope, limit: int) -> list[tuple[int, str]]:
    """Return (id, text) of the memories that match an FTS5 expression over trigrams, best first by bm25."""
    sql = f"""
        SELECT m.id, m.text FROM memories_trigrams JOIN memories m ON m.id = memories_trigrams.rowid
        WHERE memories_trigrams MATCH ? AND {scope.sql} ORDER BY bm25(memories_trigrams) LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return [(int(row[0]), str(row[1])) for row in connection.execute(sql, (match, *scope.values, limit))]


def latest(connection: sqlite3.Connection, scope: MemoryScope, limit: int) -> list[int]:
    """Return the memories within the scope, latest first."""
    sql = f"SELECT m.id FROM memories m WHERE {scope.sql} ORDER BY m.updated_ts DESC, m.id DESC LIMIT ?"  # noqa: S608
    return [int(row[0]) for row in connection.execute(sql, (*scope.values, limit))]


def note_read(connection: sqlite3.Connection, ids: Sequence[int], now_ms: int) -> None:
    """Count that these memories were read by somebody who asked for them, and when."""
    connection.executemany(
        "INSERT INTO memory_reads SELECT id, 1, ?2 FROM memories WHERE id = ?1"
        " ON CONFLICT (memory_id) DO UPDATE SET reads = reads + 1, last_ts = max(last_ts, excluded.last_ts)",
        [(each, now_ms) for each in ids],
    )


def has_any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def has_vectors(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM embeddings WHERE owner_kind = 'memory' LIMIT 1").fetchone() is not None


def version(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return what changes with every write to the database, whoever wrote."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0]), connection.total_changes


def find_vectors(connection: sqlite3.Connection, embedder: str, dim: int) -> tuple[list[int], list[bytes]]:
    """Return the ids and packed vectors, of one embedder's space, of every memory."""
    sql = """
        SELECT v.owner_id, v.vec FROM embeddings v WHERE v.owner_kind = 'memory' AND v.embedder = ? AND v.dim = ?
        AND length(v.vec) = ? ORDER BY v.owner_id
    """
    rows = connection.execute(sql, (embedder, dim, 4 * dim)).fetchall()
    return [int(row[0]) for row in rows], [bytes(row[1]) for row in rows]


def within(connection: sqlite3.Connection, ids: Sequence[int], scope: MemoryScope) -> set[int]:
    """Return those of `ids` that are within the scope."""
    sql = f"""
        SELECT m.id FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value WHERE {scope.sql}
    """  # noqa: S608 - constants and placeholders only
    return {int(row[0]) for row in connection.execute(sql, (json.dumps(list(ids)), *scope.values))}


def find_hit(connection: sqlite3.Connection, memory_id: int) -> dict[str, Any] | None:
    """Return what a hit shows of a memory."""
    rows = as_rows(
        connection.execute(
            "SELECT id, updated_ts AS ts, session_id, type, text, confidence, importance, said_by, source FROM memories"
            " WHERE id = ?",
            (memory_id,),
        )
    )
    return rows[0] if rows else None


# What is derived


def list_unembedded(connection: sqlite3.Connection, embedder: str, below: int, limit: int) -> list[tuple[int, str]]:
    """Return (memory id, text) of memories below an id without a vector of `embedder` or without their words, newest
    first."""
    return [(int(row[0]), str(row[1])) for row in connection.execute(_UNEMBEDDED, (embedder, below, limit))]


def insert_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, rows: Sequence[tuple[int, bytes, str]]
) -> None:
    """Store (memory id, packed vector, words) of memories that still exist, their tags with the words; vectors of other
    spaces go."""
    for memory_id, vector, words in rows:
        found = connection.execute("SELECT words, tags FROM memories WHERE id = ?", (memory_id,)).fetchone()
        if found is None:
            continue
        found_by = " ".join([words, *tags_of(found[1])]).strip()
        if found[0] != found_by:
            connection.execute("UPDATE memories SET words = ? WHERE id = ?", (found_by, memory_id))
        connection.execute("DELETE FROM embeddings WHERE owner_kind = 'memory' AND owner_id = ?", (memory_id,))
        connection.execute("INSERT INTO embeddings VALUES (?, ?, ?, ?, ?)", (OWNER, memory_id, embedder, dim, vector))


def _make_way(connection: sqlite3.Connection, seq: int) -> None:
    """Give a row that a person inserted under this id another one: the log's seq is not to be changed."""
    if connection.execute("SELECT 1 FROM memories WHERE id = ?", (seq,)).fetchone() is None:
        return
    free = max(last_id(connection), seq) + 1
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for column in ("from_id", "to_id"):
        connection.execute(f"UPDATE memory_links SET {column} = ? WHERE {column} = ?", (free, seq))  # noqa: S608
    connection.execute("UPDATE injections SET memory_id = ?1, piece = 'm' || ?1 WHERE memory_id = ?2", (free, seq))
    connection.execute("UPDATE memories SET id = ? WHERE id = ?", (free, seq))
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'memories'", (free,))


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
