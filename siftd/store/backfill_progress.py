"""How far a backfill came: the files that an unfinished run has read to their end."""

from __future__ import annotations

import sqlite3


def list_finished(connection: sqlite3.Connection) -> dict[str, str]:
    """Return what was noted of each file, by its path."""
    return dict(connection.execute("SELECT path, counts FROM backfill_progress"))


def note_finished(connection: sqlite3.Connection, path: str, counts: str) -> None:
    connection.execute(
        "INSERT INTO backfill_progress VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET counts = excluded.counts",
        (path, counts),
    )


def forget_finished(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM backfill_progress")
