"""Documents as rows: what the log's records of them become, looked up, listed.

    document          {"path" | "url", "title", "type", "contentHash", "metadata", "text", "ts"}
                      a document as it was read in, or read in anew: it keeps its id, which is the seq of the first
                      record that told of it ("document": that id, where the first may be forgotten one day)
    document_removed  {"document": 4}   it goes, with all that is derived of it; the log keeps what it said until it is
                      forgotten (`siftd.store.tombstones`)

A document is known by its path, by its URL, or, where a text was handed over, by its title. Its chunks are derived
(`siftd.store.chunks`): a record's application notes alone that they are to be made, because whoever applies it keeps
captures waiting.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from siftd.log.record import Record
from siftd.store import graph_items

_FIND = "SELECT id FROM documents WHERE path IS ?1 AND url IS ?2 AND (?1 IS NOT NULL OR ?2 IS NOT NULL OR title = ?3)"
_INSERT = """
INSERT INTO documents (id, path, url, type, title, content_hash, metadata, ingested_ts)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_RENEW = """
UPDATE documents SET type = ?, title = ?, content_hash = ?, metadata = ?, ingested_ts = ?, split_by = NULL WHERE id = ?
"""
_ROWS = "SELECT id, path, url, type, title, chunk_count, metadata, ingested_ts, content_hash FROM documents"
_KNOWN = """
SELECT d.path FROM json_each(?) j JOIN documents d ON d.path = j.value ->> 0 AND d.content_hash = j.value ->> 1
"""
METADATA_MAX = 64
"""Fields of what a reader tells beside the text."""


class Source(NamedTuple):
    """By what a document is known again: one of `path` and `url`, or the title where neither is there."""

    path: str | None
    url: str | None
    title: str

    @property
    def name(self) -> tuple[str, str]:
        """What it is known by, and its value."""
        if self.path is not None:
            return "path", self.path
        return ("url", self.url) if self.url is not None else ("title", self.title)

    @classmethod
    def of(cls, payload: dict[str, Any]) -> Source:
        """Return the source that a record's payload tells."""
        path, url = payload.get("path"), payload.get("url")
        return cls(None if path is None else str(path), None if url is None else str(url), str(payload.get("title")))


class Document(NamedTuple):
    """A document without its text."""

    id: int
    path: str | None
    url: str | None
    type: str
    title: str
    chunk_count: int
    metadata: dict[str, Any]
    ingested_ts: int
    content_hash: str

    @property
    def source(self) -> Source:
        return Source(self.path, self.url, self.title)


def apply(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Keep a document as its record tells it, in the place of what it was."""
    source = Source.of(payload)
    ts = int(payload.get("ts", record.ts))
    metadata = json.dumps(payload.get("metadata") or {}, ensure_ascii=False, sort_keys=True)
    held = str(payload["type"]), source.title, str(payload.get("contentHash", "")), metadata, ts
    text = str(payload["text"])
    document_id = find_id(connection, source)
    if document_id is None:
        kind, title, *rest = held
        document_id = _free_id(connection, payload.get("document"), record.seq)
        connection.execute(_INSERT, (document_id, source.path, source.url, kind, title, *rest))
        connection.execute("INSERT INTO document_texts VALUES (?, ?)", (document_id, text))
    else:
        graph_items.keep_unread(connection, document_id)
        connection.execute(_RENEW, (*held, document_id))
        # No upsert: what its triggers may ignore by themselves would fail within one.
        connection.execute("UPDATE document_texts SET text = ? WHERE document_id = ?", (text, document_id))


def _free_id(connection: sqlite3.Connection, named: Any, seq: int) -> int:
    """Return the id that a document had when its record was written, unless another has it."""
    if not isinstance(named, int):
        return seq
    return seq if find(connection, named) is not None else named


def remove(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Let a document go."""
    connection.execute("DELETE FROM documents WHERE id = ?", (payload["document"],))


def find_id(connection: sqlite3.Connection, source: Source) -> int | None:
    """Return the document that is known by this."""
    row = connection.execute(_FIND, source).fetchone()
    return int(row[0]) if row else None


def find(connection: sqlite3.Connection, document_id: int) -> Document | None:
    row = connection.execute(f"{_ROWS} WHERE id = ?", (document_id,)).fetchone()
    return _document(row) if row else None


def find_all(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Document]:
    """Return those of these documents that are there."""
    sql = f"{_ROWS} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only
    rows = connection.execute(sql, (json.dumps(list(ids)),))
    return {document.id: document for document in map(_document, rows)}


def list_before(connection: sqlite3.Connection, before: int, limit: int, kind: str | None = None) -> list[Document]:
    """Return the newest documents below an id, of one type where that is named."""
    sql = f"{_ROWS} WHERE id < ?1 AND (?3 IS NULL OR type = ?3) ORDER BY id DESC LIMIT ?2"
    return [_document(row) for row in connection.execute(sql, (before, limit, kind))]


def list_known(connection: sqlite3.Connection, stamps: Sequence[tuple[str, str]]) -> set[str]:
    """Return of (path, keyed hash of its content) the paths that are kept just so."""
    return {str(row[0]) for row in connection.execute(_KNOWN, (json.dumps(stamps),))}


def read_text(connection: sqlite3.Connection, document_id: int) -> str | None:
    """Return the whole of what a document says, redacted."""
    row = connection.execute("SELECT text FROM document_texts WHERE document_id = ?", (document_id,)).fetchone()
    return None if row is None else str(row[0])


def has_any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is not None


def count(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many documents there are, and how many chunks."""
    row = connection.execute("SELECT count(*), coalesce(sum(chunk_count), 0) FROM documents").fetchone()
    return int(row[0]), int(row[1])


def _document(row: Any) -> Document:
    number, path, url, kind, title, chunk_count, metadata, ts, content_hash = row
    return Document(number, path, url, kind, title, chunk_count, _fields_of(metadata), ts, content_hash)


def _fields_of(metadata: str) -> dict[str, Any]:
    """Return what a reader told beside the text; nothing where a person has written something else."""
    try:
        fields = json.loads(metadata)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
