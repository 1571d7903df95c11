"""Correcting how a call ended: a hook told it as ended well, and its session's file says that it failed.

The event stays one event. What the command printed becomes its `error`, behind the exit code, as one that a hook tells
as failed has it, and what was told of it is told anew. A replay does the same once more, which changes nothing.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

from siftd.capture.admission import encode_canonical, estimate_tokens
from siftd.clients.failed import as_error
from siftd.log.record import Record
from siftd.store.payload import find_object
from siftd.store.tombstones import summarise_again

_FIND = "SELECT payload_json FROM events WHERE id = ? AND uid IS ? AND outcome = 'ok'"
_CORRECT = "UPDATE events SET outcome = ?, payload_json = ?, input_hash = ?, tokens_est = ? WHERE id = ?"
_SUMMARISED_BY = """
SELECT DISTINCT s.event_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id
WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.dst_id = ? AND p.edge = 'derives_from'
"""


def find_outcome(connection: sqlite3.Connection, uid: str) -> str | None:
    """Return how an event ended, as it is stored."""
    row = connection.execute("SELECT outcome FROM events WHERE uid = ?", (uid,)).fetchone()
    return None if row is None else row[0]


def correct(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Do what an `outcome` record says. Of an event that is gone, or was corrected before, nothing."""
    event_id, outcome = payload["event"], payload["outcome"]
    row = connection.execute(_FIND, (event_id, payload["uid"])).fetchone()
    if row is None:
        return
    new = corrected(str(row[0]).encode(), payload)
    summarised_by = connection.execute(_SUMMARISED_BY, (event_id,)).fetchall()
    connection.execute(_CORRECT, (outcome, new.decode(), payload_hash(new), estimate_tokens(new), event_id))
    for each in {event_id, *(row[0] for row in summarised_by)}:
        summarise_again(connection, each)


def corrected(payload_json: bytes, correction: dict[str, Any]) -> bytes:
    """Return the payload of an event whose outcome is corrected; itself where it holds no text of what was printed."""
    payload = find_object(payload_json.decode()) or {}
    output = payload.get("tool_response")
    if correction["outcome"] != "failed" or not isinstance(output, str):
        return payload_json
    left = {name: value for name, value in payload.items() if name != "tool_response"}
    return encode_canonical(left | {"error": as_error(output, correction.get("exit"))})


def payload_hash(payload_json: bytes) -> str:
    """Return the `input_hash` of a payload."""
    return hashlib.sha256(payload_json).hexdigest()
