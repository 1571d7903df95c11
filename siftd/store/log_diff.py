"""Whether events still are what the log says: SQLite's own check finds broken pages, not one changed letter."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

from siftd.log.record import Record

_AS_LOGGED = "SELECT uid, ts, session_id, tool, input_hash, CAST(payload_json AS BLOB) FROM events WHERE id = ?"
_HASHED = "SELECT id, CAST(input_hash AS TEXT), CAST(payload_json AS BLOB) FROM events"


def count_differing(connection: sqlite3.Connection, records: Iterable[Record]) -> int:
    """Return how many events are not what the log says, or, where it says nothing more, not what their hash says."""
    differing = set()
    for record in records:
        if record.kind == "capture":
            row = connection.execute(_AS_LOGGED, (record.seq,)).fetchone()
            logged = (record.uid, record.ts, record.session_id, record.tool, record.input_hash, bytes(record.payload))
            if row is not None and row != logged:
                differing.add(record.seq)
    for event_id, input_hash, payload in connection.execute(_HASHED):
        if input_hash != hashlib.sha256(payload).hexdigest():
            differing.add(event_id)
    return len(differing)
