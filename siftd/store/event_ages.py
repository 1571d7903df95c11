"""How old events are: what is forgotten because of its age alone."""

from __future__ import annotations

import sqlite3

_COUNTED = "SELECT uid FROM events WHERE ts <= ? AND uid IS NOT NULL AND native_key IS NOT NULL AND input_key IS NULL"


def count_until(connection: sqlite3.Connection, until: int) -> int:
    """Return how many events are not younger than `until`."""
    return int(connection.execute("SELECT count(*) FROM events WHERE ts <= ?", (until,)).fetchone()[0])


def newest_time(connection: sqlite3.Connection) -> int | None:
    """Return when the events that were kept last happened: the median of nine, so that a few of which a wrong clock
    has told the time do not count. None while there are none."""
    times = sorted(int(row[0]) for row in connection.execute("SELECT ts FROM events ORDER BY id DESC LIMIT 9"))
    return times[len(times) // 2] if times else None


def counted_uids_until(connection: sqlite3.Connection, until: int) -> list[str]:
    """Return those of their uids that are told from their equals by counting."""
    return [str(row[0]) for row in connection.execute(_COUNTED, (until,))]


def list_events_until(connection: sqlite3.Connection, until: int) -> list[int]:
    """Return the events that are not younger than `until`."""
    return [int(row[0]) for row in connection.execute("SELECT id FROM events WHERE ts <= ?", (until,))]
