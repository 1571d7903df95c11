"""How the store and what works for it are: SQLite's abilities, a file's wholeness, a backend's absence and its bill."""

from __future__ import annotations

import sqlite3
from typing import Any

from siftd.store.answers import as_rows

OLDEST_SQLITE = (3, 34)
"""The first with the trigram tokenizer."""


def find_missing() -> str | None:
    """Return what this Python's SQLite lacks; None when it has all that the store needs."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return f"SQLite {sqlite3.sqlite_version} is older than 3.34"
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text, tokenize = 'trigram')")
    except sqlite3.Error:
        return f"SQLite {sqlite3.sqlite_version} was built without FTS5 and its trigrams"
    finally:
        connection.close()
    return None


def is_whole(connection: sqlite3.Connection) -> bool:
    """Whether the database's own check finds no damage. Takes as long as reading the whole file."""
    try:
        row = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError:
        return False
    return bool(row and row[0] == "ok")


def spend(connection: sqlite3.Connection, day: str, backend: str, tokens: int, *, is_remote: bool) -> None:
    """Add to the tokens that a backend used on a day (YYYY-MM-DD, UTC)."""
    connection.execute(
        "INSERT INTO token_spend (day, backend, tokens, is_remote) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (day, backend) DO UPDATE SET tokens = tokens + excluded.tokens",
        (day, backend, tokens, is_remote),
    )


def spent_remotely(connection: sqlite3.Connection, day: str) -> int:
    """Return the tokens that remote backends used on a day."""
    sql = "SELECT coalesce(sum(tokens), 0) FROM token_spend WHERE day = ? AND is_remote"
    return int(connection.execute(sql, (day,)).fetchone()[0])


def spending(connection: sqlite3.Connection, day: str) -> dict[str, Any]:
    """Return a day's tokens by backend, and how many answers the cache has saved ever."""
    rows = as_rows(connection.execute("SELECT backend, tokens, is_remote FROM token_spend WHERE day = ?", (day,)))
    hits = connection.execute("SELECT value FROM counters WHERE name = 'cache_hits'").fetchone()
    return {"byBackend": rows, "cacheHits": int(hits[0]) if hits else 0}


def count_cache_hits(connection: sqlite3.Connection, hits: int) -> None:
    """Count answers that were in the cache."""
    connection.execute(
        "INSERT INTO counters VALUES ('cache_hits', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
        (hits,),
    )


def note_away(connection: sqlite3.Connection, backend: str, since_ms: int | None) -> None:
    """Remember since when a backend does not work (None: it does), so that a restart does not begin to wait anew."""
    connection.execute("DELETE FROM meta WHERE key = ?", (f"away:{backend}",))
    if since_ms is not None:
        connection.execute("INSERT INTO meta VALUES (?, ?)", (f"away:{backend}", str(since_ms)))


def away_since(connection: sqlite3.Connection, backend: str) -> int | None:
    """Return since when a backend is known not to work."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (f"away:{backend}",)).fetchone()
    return None if row is None else int(row[0])
