"""What takes room on the disk: the database's tables and indexes by what they are for, and the files beside it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from siftd.log.segments import segments
from siftd.store.snapshots import list_snapshots
from siftd.wire.requests.overview import StoredKind
from siftd.workspace.paths import WorkspacePaths

_NAMES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index') AND rootpage > 0 ORDER BY name"
_SIZE = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ?"
_KINDS = (
    ("full text", ("_fts", "_trigrams", "event_words", "event_facets")),
    ("vectors", ("embeddings", "vector_changes")),
    ("summaries", ("summaries", "summary_", "provenance_edges", "edges_by_")),
    ("documents", ("document", "chunks")),
    ("memories", ("facts", "fact_", "pod", "note")),
    ("events", ("event", "sessions", "session_")),
)
"""Which tables and indexes belong to what a person knows, by what is in their names; the first that fits."""
OTHER = "other"


def list_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all tables and indexes that take room."""
    return [str(name) for (name,) in connection.execute(_NAMES)]


def size_of_table(connection: sqlite3.Connection, name: str) -> int | None:
    """Return how many bytes a table or index takes; goes through its pages. None where SQLite has no `dbstat`."""
    try:
        return int(connection.execute(_SIZE, (name,)).fetchone()[0])
    except sqlite3.OperationalError:
        return None


def size_of_database(connection: sqlite3.Connection) -> int:
    """Return how many bytes all pages have."""
    pages, size = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
    return pages * size


def kind_of(table: str) -> str:
    """Return what a table or index is for."""
    return next((kind for kind, parts in _KINDS if any(part in table for part in parts)), OTHER)


def list_files(paths: WorkspacePaths) -> list[StoredKind]:
    """Return what the files beside the database take."""
    files = {
        "log": segments(paths.wal),
        "snapshots": [Path(each.path) for each in list_snapshots(paths.snapshots)],
        "spool": [each for each in Path(paths.spool).glob("*") if each.is_file()],
    }
    return [{"kind": kind, "bytes": sum(map(_size, of))} for kind, of in files.items()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # it went meanwhile
        return 0
