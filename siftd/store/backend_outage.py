"""Since when a backend does not work, kept over a restart."""

from __future__ import annotations

import sqlite3


def note_away(connection: sqlite3.Connection, backend: str, since_ms: int | None) -> None:
    """Remember since when a backend does not work (None: it does), so that a restart does not begin to wait anew."""
    connection.execute("DELETE FROM meta WHERE key = ?", (f"away:{backend}",))
    if since_ms is not None:
        connection.execute("INSERT INTO meta VALUES (?, ?)", (f"away:{backend}", str(since_ms)))


def away_since(connection: sqlite3.Connection, backend: str) -> int | None:
    """Return since when a backend is known not to work."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (f"away:{backend}",)).fetchone()
    return None if row is None else int(row[0])
