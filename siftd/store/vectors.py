"""Vectors of summaries: which live summaries lack one, storing them, and the journal of their changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from siftd.store import search_reads

_UNEMBEDDED = """
SELECT s.id, s.text FROM summaries s LEFT JOIN summary_embeddings v ON v.summary_id = s.id AND v.embedder = ?
WHERE s.id >= ? AND s.id < ? AND v.summary_id IS NULL
AND NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)
ORDER BY s.id DESC LIMIT ?
"""
TOP = 2**63 - 1
"""Every id is below it."""
BOTTOM = -TOP
CLEARED_AT_ONCE = 2_000
_LACKS = """
SELECT (SELECT count(*) FROM summaries) <> (SELECT count(*) FROM summary_embeddings WHERE embedder = ?)
"""
_LOWEST_CHANGED = """
SELECT min(c.summary_id) FROM vector_changes c JOIN summaries s ON s.id = c.summary_id WHERE c.id > ?
"""
_WORDS = "SELECT s.id, s.words FROM json_each(?) j CROSS JOIN summaries s ON s.id = j.value"
_EMBED = "INSERT OR REPLACE INTO summary_embeddings (summary_id, dim, vec, embedder) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of the table: the newest summary, and the newest entry of the journal of vector changes."""

    newest: int
    change: int


def mark(connection: sqlite3.Connection) -> Mark:
    """Return the moment that it is."""
    row = connection.execute("SELECT coalesce(max(id), 0) FROM summaries").fetchone()
    return Mark(int(row[0]), search_reads.last_vector_change(connection))


def lowest_since(connection: sqlite3.Connection, known: Mark) -> int:
    """Return an id below which no summary has come to lack a vector since then.

    The journal has what lost its vector and what is not hidden any more; where it is too short, nobody knows.
    """
    if search_reads.oldest_vector_change(connection) > known.change + 1:
        return BOTTOM
    changed = connection.execute(_LOWEST_CHANGED, (known.change,)).fetchone()[0]
    return known.newest + 1 if changed is None else min(int(changed), known.newest + 1)


def list_unembedded(
    connection: sqlite3.Connection, embedder: str, below: int, limit: int, *, lowest: int
) -> list[tuple[int, str]]:
    """Return (summary id, text) of live summaries below an id without a vector of `embedder`, newest first.

    Every summary from `lowest` on is looked at, unless all would be and there are as many vectors as summaries: then
    two indexes tell that none is missing.
    """
    if (lowest, below) == (BOTTOM, TOP) and not connection.execute(_LACKS, (embedder,)).fetchone()[0]:
        return []
    return [(int(row[0]), str(row[1])) for row in connection.execute(_UNEMBEDDED, (embedder, lowest, below, limit))]


def insert_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, rows: Sequence[tuple[int, bytes, str]]
) -> None:
    """Store (summary id, packed vector, words) of summaries that still exist.

    In the order of their ids: in the queue's, newest first, a page would hold one vector instead of two.
    """
    known = dict(connection.execute(_WORDS, (json.dumps([row[0] for row in rows]),)).fetchall())
    there = [row for row in sorted(rows) if row[0] in known]
    changed = [(words, summary_id) for summary_id, _, words in there if words != known[summary_id]]
    connection.executemany("UPDATE summaries SET words = ? WHERE id = ?", changed)
    connection.executemany(_EMBED, [(summary_id, dim, vector, embedder) for summary_id, vector, _ in there])


def list_embedded(connection: sqlite3.Connection, since: int) -> list[int]:
    """Return the summaries of what happened since a moment that have a vector, of whatever embedder."""
    sql = """
        SELECT v.summary_id FROM events e JOIN summaries s ON s.event_id = e.id
        JOIN summary_embeddings v ON v.summary_id = s.id WHERE e.ts >= ?
    """
    return [int(row[0]) for row in connection.execute(sql, (since,))]


def clear_vectors(connection: sqlite3.Connection, summary_ids: Sequence[int]) -> int:
    """Delete the vectors of these summaries; return how many those were. `CLEARED_AT_ONCE` keep a capture waiting for
    some 30 ms."""
    sql = "DELETE FROM summary_embeddings WHERE summary_id IN (SELECT value FROM json_each(?))"
    return connection.execute(sql, (json.dumps(summary_ids),)).rowcount


def clear_memory_vectors(connection: sqlite3.Connection, since: int) -> int:
    """Delete the vectors of memories told since a moment; return how many those were."""
    sql = "DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id IN (SELECT id FROM facts WHERE ts >= ?)"
    return connection.execute(sql, (since,)).rowcount


def clear_space(connection: sqlite3.Connection, embedder: str) -> int:
    """Delete every vector that an embedder of this name has made; return how many those were."""
    cleared = connection.execute("DELETE FROM summary_embeddings WHERE embedder = ?", (embedder,))
    cached = connection.execute("DELETE FROM embeddings WHERE embedder = ?", (embedder,))
    chunks = connection.execute("DELETE FROM chunk_embeddings WHERE embedder = ?", (embedder,))
    return cleared.rowcount + cached.rowcount + chunks.rowcount


def trim_vector_changes(connection: sqlite3.Connection, compared_upto: int) -> None:
    """Shorten the journal of vector changes to what somebody may still want; an index further behind loads anew."""
    connection.execute(
        "DELETE FROM vector_changes WHERE id < min(?, (SELECT max(id) FROM vector_changes) - 100000)", (compared_upto,)
    )
