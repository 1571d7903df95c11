"""What agents are given no more unasked, at a person's word: an event, and every summary of it; an item of a team's.

By the event, because a summary may be made again, and by the item's id, because the replica may. A search finds it as
before, and `mem show` says since when. Whatever looks at events imports this, so that it imports next to nothing.
"""

from __future__ import annotations

import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from siftd.log.record import Record

_MUTE = "INSERT OR IGNORE INTO muted_events SELECT id, ? FROM events WHERE id = ?"
_MUTE_ITEM = "INSERT OR IGNORE INTO muted_items (id, ts) VALUES (?, ?)"


def apply(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Do what a `mute` record says: {"event": 12, "muted": true, "ts": …}, or "item" and its id. Of an event that is
    gone, nothing."""
    if (item := payload.get("item")) is not None:
        if payload["muted"]:
            connection.execute(_MUTE_ITEM, (item, payload.get("ts", record.ts)))
        else:
            connection.execute("DELETE FROM muted_items WHERE id = ?", (item,))
    elif payload["muted"]:
        connection.execute(_MUTE, (payload.get("ts", record.ts), payload["event"]))
    else:
        connection.execute("DELETE FROM muted_events WHERE event_id = ?", (payload["event"],))


def find_muted_since(connection: sqlite3.Connection, event_id: int | None) -> int | None:
    """Return since when nothing of an event is given unasked; None where it may be."""
    row = connection.execute("SELECT ts FROM muted_events WHERE event_id = ?", (event_id,)).fetchone()
    return None if row is None else int(row[0])


def is_muted(connection: sqlite3.Connection, event_id: int | None) -> bool:
    """Whether nothing of an event is given unasked."""
    return find_muted_since(connection, event_id) is not None


def find_item_muted_since(connection: sqlite3.Connection, item: str) -> int | None:
    """Return since when an item of a team's is given unasked no more; None where it may be."""
    row = connection.execute("SELECT ts FROM muted_items WHERE id = ?", (item,)).fetchone()
    return None if row is None else int(row[0])


def list_muted_items(connection: sqlite3.Connection) -> list[str]:
    """Return the items of a team of which nothing is given unasked."""
    return [str(row[0]) for row in connection.execute("SELECT id FROM muted_items")]


def list_muted(connection: sqlite3.Connection) -> set[int]:
    """Return the events of which nothing is given unasked."""
    return {int(row[0]) for row in connection.execute("SELECT event_id FROM muted_events")}
