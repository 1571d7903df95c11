"""Chunks of documents: made of a text, changed where it has changed, found by words and by vectors.

A chunk is known again by its heading and its text: what stays keeps its row and its vector, wherever it has moved to.
A text never changes under its id, and vectors are numbered as they are made, so that whoever holds them in memory reads
those that are new and asks which chunks are left.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from siftd.store.vectors import TOP

SPLIT_BY = 1
"""The splitter that made the chunks: with a greater number all are made anew, a document at a time."""
_INSERT = """
INSERT INTO chunks (document_id, chunk_index, heading, line, text, tokens, words) SELECT ?, ?, ?, ?, ?, ?, ?
WHERE EXISTS (SELECT 1 FROM documents WHERE id = ?1)
"""
_MOVE = "UPDATE chunks SET chunk_index = ?, line = ? WHERE id = ?"
_UNSPLIT = "SELECT id FROM documents WHERE split_by IS NULL OR split_by < ? ORDER BY id LIMIT ?"
_DONE = """
UPDATE documents SET split_by = ?1, chunk_count = (SELECT count(*) FROM chunks WHERE document_id = ?2)
WHERE id = ?2
"""
_UNEMBEDDED = """
SELECT c.id, CASE c.heading WHEN '' THEN c.text ELSE c.heading || char(10) || c.text END FROM chunks c
LEFT JOIN chunk_embeddings v ON v.chunk_id = c.id AND v.embedder = ?
WHERE c.id < ? AND v.chunk_id IS NULL ORDER BY c.id DESC LIMIT ?
"""
_LACKS = """
SELECT (SELECT count(*) FROM chunks) <> (SELECT count(chunk_id) FROM chunk_embeddings)
OR (SELECT embedder FROM chunk_embeddings ORDER BY id LIMIT 1) IS NOT ?1
OR (SELECT embedder FROM chunk_embeddings ORDER BY id DESC LIMIT 1) IS NOT ?1
"""
"""Two indexes are counted; vectors of another space are the oldest ones, and go as they are made again."""
_EMBED = "INSERT INTO chunk_embeddings (chunk_id, embedder, dim, vec) VALUES (?, ?, ?, ?)"
_VECTORS = """
SELECT id, chunk_id, vec FROM chunk_embeddings WHERE id > ? AND embedder = ? AND dim = ? AND length(vec) = ?
ORDER BY id LIMIT ?
"""
_WITHIN = """
(?2 IS NULL OR d.type = ?2) AND (?3 IS NULL OR d.path = ?3 OR d.path LIKE '%/' || ?4 ESCAPE '\\' OR d.path GLOB ?3
OR d.url = ?3) AND (?5 IS NULL OR d.ingested_ts >= ?5) AND (?6 IS NULL OR d.ingested_ts <= ?6)
"""
_BY_WORDS = f"""
SELECT c.id, -bm25(chunks_fts, 1.0, 2.0, 0.5) AS found FROM chunks_fts JOIN chunks c ON c.id = chunks_fts.rowid
JOIN documents d ON d.id = c.document_id
WHERE chunks_fts MATCH ?1 AND {_WITHIN} ORDER BY found DESC LIMIT ?7
"""  # noqa: S608 - constants only
_BY_WORDS_ALONE = """
SELECT rowid, -bm25(chunks_fts, 1.0, 2.0, 0.5) AS found FROM chunks_fts WHERE chunks_fts MATCH ?
ORDER BY found DESC LIMIT ?
"""
"""The same of all documents: without looking at any row."""
_FIND = f"""
SELECT c.id, c.document_id, c.chunk_index, c.heading, c.line, c.text FROM json_each(?1) j
CROSS JOIN chunks c ON c.id = j.value CROSS JOIN documents d ON d.id = c.document_id WHERE {_WITHIN}
"""  # noqa: S608 - constants only


class NewChunk(NamedTuple):
    """A chunk as it is to be."""

    heading: str
    line: int
    text: str
    tokens: int
    words: str


class Chunk(NamedTuple):
    """A chunk as it is."""

    id: int
    document_id: int
    place: int
    """Among the document's, from 0."""
    heading: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkScope:
    """Which documents are looked through."""

    type: str | None = None
    file: str | None = None
    """A path, its end, or a glob; or a URL."""
    since: int | None = None
    until: int | None = None

    @property
    def values(self) -> tuple[object, ...]:
        tail = None if self.file is None else self.file.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self.type, self.file, tail, self.since, self.until


class Unsplit(NamedTuple):
    """A document whose chunks are to be made."""

    document_id: int
    kind: str
    text: str
    source: str
    """Its path or URL, which tells the language of code."""


@dataclass(slots=True)
class Changes:
    """What makes the chunks of a document those of its text."""

    gone: list[int] = field(default_factory=list)
    moved: list[tuple[int, int, int]] = field(default_factory=list)
    """(index, line, id)"""
    new: list[tuple[int, NewChunk]] = field(default_factory=list)
    """(index, chunk)"""

    def pieces(self, size: int) -> Iterator[Changes]:
        """Yield them a few at a time, one piece at least."""
        for start in range(0, max(1, len(self.gone), len(self.moved), len(self.new)), size):
            end = start + size
            yield Changes(self.gone[start:end], self.moved[start:end], self.new[start:end])


def changes_between(old: Iterable[Chunk], new: Sequence[NewChunk]) -> Changes:
    """Return what leads from one list of chunks to the other; equal ones stay, in their order."""
    left: dict[tuple[str, str], list[Chunk]] = {}
    for each in old:
        left.setdefault((each.heading, each.text), []).append(each)
    for same in left.values():
        same.reverse()
    changes = Changes()
    for index, chunk in enumerate(new):
        if same := left.get((chunk.heading, chunk.text), []):
            same_chunk = same.pop()
            if (same_chunk.place, same_chunk.line) != (index, chunk.line):
                changes.moved.append((index, chunk.line, same_chunk.id))
        else:
            changes.new.append((index, chunk))
    changes.gone = sorted(each.id for same in left.values() for each in same)
    return changes


def list_unsplit(connection: sqlite3.Connection, limit: int) -> list[int]:
    """Return documents whose chunks are still to be made, oldest first."""
    return [int(row[0]) for row in connection.execute(_UNSPLIT, (SPLIT_BY, limit))]


def find_unsplit(connection: sqlite3.Connection, document_id: int) -> Unsplit | None:
    """Return a document whose chunks are still to be made; None where they are made, or it is gone."""
    row = connection.execute(
        "SELECT d.id, d.type, t.text, coalesce(d.path, d.url, d.title) FROM documents d"
        " JOIN document_texts t ON t.document_id = d.id"
        " WHERE d.id = ? AND (d.split_by IS NULL OR d.split_by < ?)",
        (document_id, SPLIT_BY),
    ).fetchone()
    return None if row is None else Unsplit(*row)


def list_of(connection: sqlite3.Connection, document_id: int) -> list[Chunk]:
    """Return the chunks of a document, in their order."""
    sql = "SELECT id, document_id, chunk_index, heading, line, text FROM chunks WHERE document_id = ? ORDER BY 3, 1"
    return [Chunk(*row) for row in connection.execute(sql, (document_id,))]


def find_at(connection: sqlite3.Connection, document_id: int, line: int) -> Chunk | None:
    """Return the chunk of a document that a line stands in: the last that begins at or before it, else the first."""
    sql = """
        SELECT id, document_id, chunk_index, heading, line, text FROM chunks WHERE document_id = ?1
        ORDER BY line > ?2, abs(line - ?2), chunk_index DESC LIMIT 1
    """
    row = connection.execute(sql, (document_id, line)).fetchone()
    return None if row is None else Chunk(*row)


def change(connection: sqlite3.Connection, document_id: int, piece: Changes) -> None:
    """Change chunks of a document; none is added to one that is gone."""
    connection.execute("DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(piece.gone),))
    connection.executemany(_MOVE, piece.moved)
    connection.executemany(_INSERT, [(document_id, index, *chunk) for index, chunk in piece.new])


def note_split(connection: sqlite3.Connection, document_id: int) -> None:
    """Note that a document's chunks are those of its text."""
    connection.execute(_DONE, (SPLIT_BY, document_id))


def is_still(connection: sqlite3.Connection, unsplit: Unsplit) -> bool:
    """Whether a document still says what its chunks are being made of: asked in the transaction of each change, since
    a scrub, or another reading, may come between."""
    sql = "SELECT 1 FROM document_texts WHERE document_id = ? AND text = ?"
    return connection.execute(sql, (unsplit.document_id, unsplit.text)).fetchone() is not None


# Vectors


def list_unembedded(connection: sqlite3.Connection, embedder: str, below: int, limit: int) -> list[tuple[int, str]]:
    """Return (chunk, its heading and text) of chunks below an id without a vector of `embedder`, newest first."""
    if below == TOP and not connection.execute(_LACKS, (embedder,)).fetchone()[0]:
        return []
    return [(int(row[0]), str(row[1])) for row in connection.execute(_UNEMBEDDED, (embedder, below, limit))]


def insert_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, rows: Sequence[tuple[int, bytes, str]]
) -> None:
    """Store (chunk, packed vector, …) of chunks that still exist; vectors of other spaces go."""
    named = json.dumps([row[0] for row in rows])
    found = connection.execute("SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (named,))
    there = {row[0] for row in found}
    connection.execute("DELETE FROM chunk_embeddings WHERE chunk_id IN (SELECT value FROM json_each(?))", (named,))
    vectors = [(chunk_id, embedder, dim, vector) for chunk_id, vector, _ in sorted(rows) if chunk_id in there]
    connection.executemany(_EMBED, vectors)


def list_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, after: int, limit: int
) -> list[tuple[int, int, bytes]]:
    """Return (number, chunk, packed vector) of the vectors made after one, in the order of their making."""
    return connection.execute(_VECTORS, (after, embedder, dim, 4 * dim, limit)).fetchall()


def count_vectors(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(chunk_id) FROM chunk_embeddings").fetchone()[0])


def clear_vectors(connection: sqlite3.Connection, limit: int) -> int:
    """Delete the vectors of some chunks; return how many those were."""
    sql = "DELETE FROM chunk_embeddings WHERE id IN (SELECT id FROM chunk_embeddings ORDER BY id LIMIT ?)"
    return connection.execute(sql, (limit,)).rowcount


# Finding


def by_words(connection: sqlite3.Connection, match: str, scope: ChunkScope, limit: int) -> list[tuple[int, float]]:
    """Return (chunk, bm25) of the chunks that match an FTS5 expression, best first: a heading's word counts twice."""
    if scope == ChunkScope():
        return [(int(row[0]), float(row[1])) for row in connection.execute(_BY_WORDS_ALONE, (match, limit))]
    return [(int(row[0]), float(row[1])) for row in connection.execute(_BY_WORDS, (match, *scope.values, limit))]


def find_all(connection: sqlite3.Connection, ids: Iterable[int], scope: ChunkScope) -> dict[int, Chunk]:
    """Return those of these chunks that are there and within the scope."""
    rows: Iterable[Any] = connection.execute(_FIND, (json.dumps(list(ids)), *scope.values))
    return {chunk.id: chunk for chunk in (Chunk(*row) for row in rows)}
