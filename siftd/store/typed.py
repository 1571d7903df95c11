"""What a person typed: prompts, and the reasons with which calls were refused."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

_TYPED = """
SELECT id, ts, session_id, kind, payload_json FROM events
WHERE id > ?1
AND (kind = 'prompt' AND said_by = ?2 OR outcome = 'interrupted' AND instr(payload_json, ?3) > 0)
AND json_valid(payload_json) ORDER BY id DESC LIMIT ?4
"""


class Typed(NamedTuple):
    """An event that holds what a person typed."""

    event_id: int
    ts: int
    session_id: str
    kind: str
    payload_json: str


def list_typed(connection: sqlite3.Connection, since_event: int, said_by: str, refused: str, limit: int) -> list[Typed]:
    """Return the newest such events after one, oldest first; `refused` is what a client writes before a reason."""
    found = connection.execute(_TYPED, (since_event, said_by, refused, limit)).fetchall()
    return [Typed(*row) for row in reversed(found)]
