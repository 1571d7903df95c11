"""What the database notes of itself, by key: `store`, `root`, `root_commit`, `applied_seq`, and more."""

from __future__ import annotations

import sqlite3


def get(connection: sqlite3.Connection, key: str) -> str | None:
    """Return what is noted under a key."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None


def number(connection: sqlite3.Connection, key: str) -> int:
    """Return the number that is noted under a key; 0 for none, and for what a person made no number."""
    value = get(connection, key) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else 0


def put(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Note a value, in the place of an earlier one. Within the caller's transaction."""
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )
