"""Documents that only a database has which was set aside (`siftd.store.rescue`); their chunks are made again."""

from __future__ import annotations

import sqlite3

from siftd.store import documents
from siftd.store.documents import Source
from siftd.store.tombstones import Tombstones

_COLUMNS = "id, path, url, title, type, content_hash, metadata, ingested_ts"
_INSERT = f"INSERT OR IGNORE INTO documents ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants only


def rescue_documents(connection: sqlite3.Connection, old: sqlite3.Connection, tombstones: Tombstones) -> int:
    """Take over the documents of `old` that are known by nothing here and were not forgotten; return how many."""
    try:
        rows = old.execute(f"SELECT {_COLUMNS} FROM documents NOT INDEXED").fetchall()  # noqa: S608 - constants only
    except sqlite3.Error:  # an earlier siftd's, or damaged there
        return 0
    count = 0
    for number, *named, kind, content_hash, metadata, ts in rows:
        source = Source(*named)
        if documents.find_id(connection, source) is not None or tombstones.has_document(source, ts):
            continue
        try:
            text = documents.read_text(old, number)
        except sqlite3.Error:
            continue
        # Under its id, unless another has it by now: then nothing cites the right one anyway.
        if text is not None and documents.find(connection, number) is None:
            connection.execute(_INSERT, (number, *source, kind, content_hash, metadata, ts))
            connection.execute("INSERT INTO document_texts VALUES (?, ?)", (number, text))
            count += 1
    return count
