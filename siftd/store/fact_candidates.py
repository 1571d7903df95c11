"""Facts as search asks for them: by words, by parts of words, by vectors, the latest; and the vectors themselves."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from siftd.store.answers import as_rows
from siftd.store.fact_scope import FactScope
from siftd.store.facts import tags_of

OWNER = "fact"
"""Whose the vectors are."""
_UNEMBEDDED = """
SELECT m.id, m.text FROM facts m LEFT JOIN embeddings v
ON v.owner_kind = 'fact' AND v.owner_id = m.id AND v.embedder = ?
WHERE m.id < ? AND (v.owner_id IS NULL OR m.words IS NULL) ORDER BY m.id DESC LIMIT ?
"""


def by_words(connection: sqlite3.Connection, match: str, scope: FactScope, limit: int) -> list[tuple[int, str]]:
    """Return (id, text and tags) of the facts that match an FTS5 expression over words, best first by bm25."""
    sql = f"""
        SELECT m.id, CASE m.tags WHEN '[]' THEN m.text ELSE m.text || ' ' || m.tags END FROM facts_fts
        JOIN facts m ON m.id = facts_fts.rowid
        WHERE facts_fts MATCH ? AND {scope.sql} ORDER BY bm25(facts_fts, 1.0, 0.6) LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return [(int(row[0]), str(row[1])) for row in connection.execute(sql, (match, *scope.values, limit))]


def by_trigrams(connection: sqlite3.Connection, match: str, scope: FactScope, limit: int) -> list[tuple[int, str]]:
    """Return (id, text) of the facts that match an FTS5 expression over trigrams, best first by bm25."""
    sql = f"""
        SELECT m.id, m.text FROM facts_trigrams JOIN facts m ON m.id = facts_trigrams.rowid
        WHERE facts_trigrams MATCH ? AND {scope.sql} ORDER BY bm25(facts_trigrams) LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return [(int(row[0]), str(row[1])) for row in connection.execute(sql, (match, *scope.values, limit))]


def latest(connection: sqlite3.Connection, scope: FactScope, limit: int) -> list[int]:
    """Return the facts within the scope, latest first."""
    sql = f"SELECT m.id FROM facts m WHERE {scope.sql} ORDER BY m.updated_ts DESC, m.id DESC LIMIT ?"  # noqa: S608
    return [int(row[0]) for row in connection.execute(sql, (*scope.values, limit))]


def note_read(connection: sqlite3.Connection, ids: Sequence[int], now_ms: int) -> None:
    """Count that these facts were read by somebody who asked for them, and when."""
    connection.executemany(
        "INSERT INTO fact_reads SELECT id, 1, ?2 FROM facts WHERE id = ?1"
        " ON CONFLICT (fact_id) DO UPDATE SET reads = reads + 1, last_ts = max(last_ts, excluded.last_ts)",
        [(each, now_ms) for each in ids],
    )


def has_any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM facts LIMIT 1").fetchone() is not None


def has_vectors(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM embeddings WHERE owner_kind = 'fact' LIMIT 1").fetchone() is not None


def version(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return what changes with every write to the database, whoever wrote."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0]), connection.total_changes


def find_vectors(connection: sqlite3.Connection, embedder: str, dim: int) -> tuple[list[int], list[bytes]]:
    """Return the ids and packed vectors, of one embedder's space, of every fact."""
    sql = """
        SELECT v.owner_id, v.vec FROM embeddings v WHERE v.owner_kind = 'fact' AND v.embedder = ? AND v.dim = ?
        AND length(v.vec) = ? ORDER BY v.owner_id
    """
    rows = connection.execute(sql, (embedder, dim, 4 * dim)).fetchall()
    return [int(row[0]) for row in rows], [bytes(row[1]) for row in rows]


def within(connection: sqlite3.Connection, ids: Sequence[int], scope: FactScope) -> set[int]:
    """Return those of `ids` that are within the scope."""
    sql = f"""
        SELECT m.id FROM json_each(?) j CROSS JOIN facts m ON m.id = j.value WHERE {scope.sql}
    """  # noqa: S608 - constants and placeholders only
    return {int(row[0]) for row in connection.execute(sql, (json.dumps(list(ids)), *scope.values))}


def find_hit(connection: sqlite3.Connection, fact_id: int) -> dict[str, Any] | None:
    """Return what a hit shows of a fact."""
    rows = as_rows(
        connection.execute(
            "SELECT id, updated_ts AS ts, session_id, category AS type, text, confidence, importance, said_by, source"
            " FROM facts WHERE id = ?",
            (fact_id,),
        )
    )
    return rows[0] if rows else None


def list_unembedded(connection: sqlite3.Connection, embedder: str, below: int, limit: int) -> list[tuple[int, str]]:
    """Return (fact id, text) of facts below an id without a vector of `embedder` or without their words, newest
    first."""
    return [(int(row[0]), str(row[1])) for row in connection.execute(_UNEMBEDDED, (embedder, below, limit))]


def insert_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, rows: Sequence[tuple[int, bytes, str]]
) -> None:
    """Store (fact id, packed vector, words) of facts that still exist, their tags with the words; vectors of other
    spaces go."""
    for fact_id, vector, words in rows:
        found = connection.execute("SELECT words, tags FROM facts WHERE id = ?", (fact_id,)).fetchone()
        if found is None:
            continue
        found_by = " ".join([words, *tags_of(found[1])]).strip()
        if found[0] != found_by:
            connection.execute("UPDATE facts SET words = ? WHERE id = ?", (found_by, fact_id))
        connection.execute("DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id = ?", (fact_id,))
        connection.execute("INSERT INTO embeddings VALUES (?, ?, ?, ?, ?)", (OWNER, fact_id, embedder, dim, vector))
