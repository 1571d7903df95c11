"""What is not to be captured from some moment on: a session that was opted out, or everything while paused.

    opt-out  {"session": "5e55…", "since": ms}     this session; "" is every session (`mem pause`)
    opt-in   {"session": "", "until": ms}          no longer (`mem resume`)

Records of the log, so that whoever keeps an event obeys them: live captures, late couriers, backfill, import, and all
of these after a rebuild. What was captured before stays: `mem forget --session` takes that.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from siftd.log.record import Record

KINDS = ("opt-out", "opt-in")
EVERY_SESSION = ""


class OptOuts:
    """The opt-outs of one store, in memory: they are few, and every capture asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._spans: dict[str, list[tuple[int, int | None]]] = {}
        rows = connection.execute("SELECT session_id, since, until FROM opt_outs ORDER BY since")
        for session_id, since, until in rows.fetchall():
            self._spans.setdefault(session_id, []).append((since, until))

    def covers(self, session_id: str, ts: int) -> bool:
        """Whether what this session did at this time is not to be kept."""
        if not self._spans:
            return False
        spans = [*self._spans.get(session_id, ()), *self._spans.get(EVERY_SESSION, ())]
        return any(since <= ts and (until is None or ts < until) for since, until in spans)

    def take(self, kind: str, payload_json: bytes) -> None:
        """Obey an intent from now on: what comes in the same group of captures has to."""
        if kind not in KINDS:
            return
        told = msgspec.json.decode(payload_json)
        spans = self._spans.setdefault(told["session"], [])
        if kind == "opt-out":
            spans.append((told["since"], None))
        else:
            spans[:] = [(since, told["until"] if until is None else until) for since, until in spans]


def opt_out(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Keep nothing more of a session, or of any."""
    row = (payload["session"], payload["since"])
    connection.execute("INSERT OR IGNORE INTO opt_outs VALUES (?, ?, NULL)", row)


def opt_in(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Keep again what happens from now on."""
    connection.execute(
        "UPDATE opt_outs SET until = ?2 WHERE session_id = ?1 AND until IS NULL", (payload["session"], payload["until"])
    )


def off_since(connection: sqlite3.Connection, session_id: str = EVERY_SESSION) -> int | None:
    """Return since when nothing of a session, or nothing at all, is kept; None while it is."""
    sql = "SELECT min(since) FROM opt_outs WHERE session_id = ? AND until IS NULL"
    row = connection.execute(sql, (session_id,)).fetchone()
    return None if row[0] is None else int(row[0])
