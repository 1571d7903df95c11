"""The full-text indexes in few pieces.

FTS5 writes a segment with each transaction and merges them as more is written, once four of a size have gathered. A
word that is looked up costs a look into every segment: with the twenty that recorded sessions leave it takes twice as
long as with the three or fewer that are left when they are merged by twos, a few pages at a time, between other work
(https://sqlite.org/fts5.html, "merge" and "usermerge").
"""

from __future__ import annotations

import sqlite3

INDEXES = (
    "summaries_fts",
    "summaries_trigrams",
    "events_fts",
    "facts_fts",
    "facts_trigrams",
    "notes_fts",
    "chunks_fts",
    "entities_fts",
)
PAGES = 16
"""Merged at once: what a capture may have to wait for, some 3 ms."""
_SEGMENTS = 2
"""Of a size from which on they are merged; FTS5's own is four."""
_IS_WORK = 2
"""Changed rows from which on a merge did anything, by FTS5's documentation."""
_COMMAND = "INSERT INTO {index} ({index}, rank) VALUES (?, ?)"
_CONFIGURED = "SELECT v FROM {index}_config WHERE k = 'usermerge'"


def merge_some(connection: sqlite3.Connection) -> bool:
    """Merge a piece of one index; return whether there may be more."""
    for index in INDEXES:
        command = _COMMAND.format(index=index)
        if connection.execute(_CONFIGURED.format(index=index)).fetchone() != (_SEGMENTS,):
            connection.execute(command, ("usermerge", _SEGMENTS))  # the index remembers it
        before = connection.total_changes
        connection.execute(command, ("merge", PAGES))
        if connection.total_changes - before >= _IS_WORK:
            return True
    return False
