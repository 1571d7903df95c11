"""How far transcripts were read: by a keyed hash of the path, so that nothing of anybody's stands here."""

from __future__ import annotations

import sqlite3

from siftd.config import MS_PER_DAY

LIFETIME_MS = 90 * MS_PER_DAY
"""A file that was not read for so long is read from its beginning, which only takes time."""


def find(connection: sqlite3.Connection, file: str) -> tuple[int, str]:
    """Return where reading a file goes on, and the hash of what stands before it; (0, "") for one that is new."""
    row = connection.execute("SELECT offset, seen FROM transcript_cursors WHERE file = ?", (file,)).fetchone()
    return (int(row[0]), str(row[1])) if row else (0, "")


def put(connection: sqlite3.Connection, file: str, offset: int, seen: str, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO transcript_cursors VALUES (?, ?, ?, ?)"
        " ON CONFLICT (file) DO UPDATE SET offset = excluded.offset, seen = excluded.seen, ts = excluded.ts",
        (file, offset, seen, now_ms),
    )
    connection.execute("DELETE FROM transcript_cursors WHERE ts < ?", (now_ms - LIFETIME_MS,))
