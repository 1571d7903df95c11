"""Whether events still are what the log says: SQLite's own check finds broken pages, not one changed letter."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

import msgspec

from siftd.log.record import Record
from siftd.store import outcomes

_AS_LOGGED = "SELECT uid, ts, session_id, tool, input_hash, CAST(payload_json AS BLOB) FROM events WHERE id = ?"
_HASHED = "SELECT id, CAST(input_hash AS TEXT), CAST(payload_json AS BLOB) FROM events"


def count_differing(connection: sqlite3.Connection, records: Iterable[Record]) -> int:
    """Return how many events are not what the log says, or, where it says nothing more, not what their hash says."""
    differing: dict[int, Record | None] = {}
    """By id; with what the log says of it so far."""
    for record in records:
        current = record
        if record.kind == "outcome":  # the event is what both records say
            payload = msgspec.json.decode(record.payload)
            captured = differing.pop(payload["event"], None)
            if captured is None:
                continue
            new = outcomes.corrected(bytes(captured.payload), payload)
            current = msgspec.structs.replace(captured, payload=msgspec.Raw(new), input_hash=outcomes.payload_hash(new))
        elif record.kind != "capture":
            continue
        row = connection.execute(_AS_LOGGED, (current.seq,)).fetchone()
        logged = (current.uid, current.ts, current.session_id, current.tool, current.input_hash, bytes(current.payload))
        if row is not None and row != logged:
            differing[current.seq] = current
    for event_id, input_hash, payload_json in connection.execute(_HASHED):
        if input_hash != hashlib.sha256(payload_json).hexdigest():
            differing[event_id] = None
    return len(differing)
