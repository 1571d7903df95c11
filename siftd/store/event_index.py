"""What raw events are found by: words, files, symbols."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from siftd.model import Action, Kind
from siftd.store.bulk_insert import insert_rows
from siftd.store.ids import ID_MAX

SPAN = 10_000
"""Events that are looked at in one turn of the reading thread: some 10 ms."""
_UPSERT = "ON CONFLICT (event_id) DO UPDATE SET words = excluded.words"


@dataclass(frozen=True, slots=True)
class Facets:
    """The index rows of one event."""

    event_id: int
    words: str
    files: list[str]
    symbols: list[str]

    def values(self) -> list[tuple[str, str]]:
        return [("file", each) for each in self.files] + [("symbol", each) for each in self.symbols]


def list_unindexed_after(connection: sqlite3.Connection, event_id: int, limit: int) -> tuple[list[int], int]:
    """Return events after `event_id` that are not indexed, in order, and the id up to which that is all of them.

    Looks at `SPAN` events at most: the daemon's first tick goes through the whole store, and searches wait meanwhile.
    They are counted, not their ids: a person may have inserted one with a time for an id.
    """
    span = "SELECT max(id) FROM (SELECT id FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)"
    upto = connection.execute(span, (event_id, ID_MAX, SPAN)).fetchone()[0]
    if upto is None:
        return [], event_id
    ids = _ids(
        connection,
        "SELECT id FROM events e WHERE id > ? AND id <= ?"
        " AND NOT EXISTS (SELECT 1 FROM event_words w WHERE w.event_id = e.id) ORDER BY id LIMIT ?",
        (event_id, upto, limit),
    )
    return ids, ids[-1] if len(ids) == limit else upto


def newest(connection: sqlite3.Connection) -> int:
    """Return the highest id of an event."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])


def count_prompts(connection: sqlite3.Connection, session_id: str, *, most: int) -> int:
    """Return how many prompts a session has, counted up to `most`."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM events WHERE session_id = ? AND kind = 'prompt' LIMIT ?)"
    return int(connection.execute(sql, (session_id, most)).fetchone()[0])


def list_unindexed(connection: sqlite3.Connection, upto: int, limit: int) -> list[int]:
    """Return any events up to an id that are not indexed, newest first. Looks at every event."""
    return _ids(
        connection,
        "SELECT id FROM events e WHERE id <= ?"
        " AND NOT EXISTS (SELECT 1 FROM event_words w WHERE w.event_id = e.id) ORDER BY id DESC LIMIT ?",
        (upto, limit),
    )


class Captured(NamedTuple):
    """An event as far as its index rows need it."""

    session_id: str
    kind: Kind
    tool: str
    action: Action | None
    payload_json: str


def find_payload(connection: sqlite3.Connection, event_id: int) -> Captured | None:
    sql = "SELECT session_id, kind, tool, action, payload_json FROM events WHERE id = ?"
    row = connection.execute(sql, (event_id,)).fetchone()
    return Captured(row[0], row[1], row[2], row[3], str(row[4])) if row else None


def insert(connection: sqlite3.Connection, rows: Iterable[Facets]) -> None:
    """Store the index rows of events that still exist.

    An upsert, not a REPLACE: that one fires no delete trigger, and full text would keep the old words.
    """
    there = "SELECT 1 FROM events WHERE id = ?"
    there_still = [row for row in rows if connection.execute(there, (row.event_id,)).fetchone()]
    there_still.sort(key=lambda row: row.event_id)  # newest first would leave pages half empty
    insert_rows(connection, "INSERT INTO event_words", 2, [(row.event_id, row.words) for row in there_still], _UPSERT)
    connection.executemany(
        "INSERT OR IGNORE INTO event_facets VALUES (?, ?, ?)",
        [(facet, value, row.event_id) for row in there_still for facet, value in row.values()],
    )


def _ids(connection: sqlite3.Connection, sql: str, values: tuple[object, ...]) -> list[int]:
    return [int(row[0]) for row in connection.execute(sql, values)]
