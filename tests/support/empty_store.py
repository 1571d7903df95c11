"""An empty database of today's schema. A test that is about something else takes a copy, instead of every migration.

What the migrations make of an empty file, and of each earlier schema, is proved by `tests/unit/test_schema.py`; every
daemon that a test starts applies them itself.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from siftd.log.segments import segments
from siftd.store.connection import open_writer
from siftd.store.migrate import migrate
from siftd.store.snapshots import list_snapshots
from siftd.workspace.paths import WorkspacePaths
from siftd.workspace.secret import ensure_secret


def place_empty_store(paths: WorkspacePaths, now_ms: int) -> None:
    """Put an empty database, made at `now_ms`, into a workspace in which nothing was kept yet; leave any other."""
    database = Path(paths.database)
    if not database.exists() and not segments(paths.wal) and not list_snapshots(paths.snapshots):
        ensure_secret(paths)  # a store without one has lost it
        database.touch(mode=0o600)
        database.write_bytes(_migrated())
        connection = open_writer(paths.database)
        connection.execute("UPDATE migrations SET ts = ?", (now_ms,))
        connection.close()


@functools.cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        connection = open_writer(str(path))
        migrate(connection, 1)
        connection.close()
        return path.read_bytes()
