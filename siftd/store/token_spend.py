"""What models were paid, by day and backend, and what the cache has saved."""

from __future__ import annotations

import sqlite3

from siftd.store.answers import as_rows
from siftd.wire.requests.living import Spend, Spending


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


def spending(connection: sqlite3.Connection, day: str) -> Spending:
    """Return a day's tokens by backend, and how many answers the cache has saved ever."""
    found = connection.execute("SELECT backend, tokens, is_remote FROM token_spend WHERE day = ?", (day,))
    hits = connection.execute("SELECT value FROM counters WHERE name = 'cache_hits'").fetchone()
    return {"byBackend": as_rows(found, Spend), "cacheHits": int(hits[0]) if hits else 0}


def count_cache_hits(connection: sqlite3.Connection, hits: int) -> None:
    """Count answers that were in the cache."""
    connection.execute(
        "INSERT INTO counters VALUES ('cache_hits', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
        (hits,),
    )
