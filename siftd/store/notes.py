"""The index of the notes: which entries their files have, and which of them hold the words of a question.

The files are the truth (`siftd.notes`): whatever is here may be deleted, and is made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_FILES = "SELECT project, file, size, mtime_ns, inode, sha256 FROM note_files"
_FOUND = """
SELECT f.project, f.file, n.line, n.heading, n.text FROM notes_fts
JOIN notes n ON n.id = notes_fts.rowid JOIN note_files f ON f.id = n.file_id
WHERE notes_fts MATCH ? ORDER BY bm25(notes_fts, 1.0, 0.5) LIMIT ?
"""
_COUNTED = "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM note_files)"


class NotesFile(NamedTuple):
    """A file whose entries are here, and by what it is known to be unchanged."""

    project: str
    file: str
    size: int
    mtime_ns: int
    inode: int
    sha256: str


class NotesEntry(NamedTuple):
    """One entry of a file."""

    line: int
    heading: str
    text: str


class FoundNote(NamedTuple):
    """An entry that a search has found."""

    project: str
    file: str
    line: int
    heading: str
    text: str


def list_files(connection: sqlite3.Connection) -> list[NotesFile]:
    return [NotesFile(*row) for row in connection.execute(_FILES)]


def put_file(connection: sqlite3.Connection, file: NotesFile, entries: Iterable[NotesEntry] | None) -> None:
    """Keep what a file holds now, in the place of what it held. None: the same as before, under another stamp."""
    if entries is None:
        connection.execute(
            "UPDATE note_files SET size = ?, mtime_ns = ?, inode = ? WHERE project = ? AND file = ?",
            (*file[2:5], *file[:2]),
        )
        return
    drop_file(connection, *file[:2])
    connection.execute(
        "INSERT INTO note_files (project, file, size, mtime_ns, inode, sha256) VALUES (?, ?, ?, ?, ?, ?)", file
    )
    file_id = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
    connection.executemany(
        "INSERT INTO notes (file_id, line, heading, text) VALUES (?, ?, ?, ?)", [(file_id, *each) for each in entries]
    )


def drop_file(connection: sqlite3.Connection, project: str, file: str) -> None:
    connection.execute("DELETE FROM note_files WHERE project = ? AND file = ?", (project, file))


def clear(connection: sqlite3.Connection) -> None:
    """Leave nothing: the next tick reads the files again."""
    connection.execute("DELETE FROM note_files")


def has_any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM notes LIMIT 1").fetchone() is not None


def count(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many entries there are, and of how many files."""
    entries, files = connection.execute(_COUNTED).fetchone()
    return int(entries), int(files)


def projects(connection: sqlite3.Connection) -> Sequence[str]:
    """Return the projects that have files here."""
    return [str(row[0]) for row in connection.execute("SELECT DISTINCT project FROM note_files ORDER BY project")]


def by_words(connection: sqlite3.Connection, match: str, limit: int) -> list[FoundNote]:
    """Return the entries that match an FTS5 expression, best first by bm25."""
    return [FoundNote(*row) for row in connection.execute(_FOUND, (match, limit))]
