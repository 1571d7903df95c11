"""What is not to be captured from some moment on: a session that was opted out, or everything while paused.

    opt-out  {"session": "5e55…", "since": ms, "uptime": ms}   this session; "" is every session (`mem pause`)
    opt-in   {"session": "", "since": ms, "until": ms}         no longer (`mem resume`); what was off in between

Records of the log, so that whoever keeps an event obeys them: live captures, late couriers, backfill, import, and all
of these after a rebuild. What was captured before stays: `mem forget --session` takes that.

A clock may be set back meanwhile. Therefore what arrives live is judged by its arrival: nothing is kept while an
opt-out is open, whatever the time on it. What is told later can only be judged by its time, so what was off is all
that either clock may have called so: `uptime`, the machine's own, tells how long it really was.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Literal, NamedTuple

import msgspec

from siftd.log.record import Record
from siftd.store import meta

KINDS = ("opt-out", "opt-in")
EVERY_SESSION = ""
OFF = -1
"""What stands for the id of an event that is not kept: no event has it."""
Way = Literal["live", "spooled", "read"]
"""How something came: over the socket as it happened; from the spool; from a transcript or an export, long after."""
_UPTIME = "paused_uptime"


class Span(NamedTuple):
    """A time from `since` until before `until`; None while it lasts."""

    since: int
    until: int | None


class OptOuts:
    """The opt-outs of one store, in memory: they are few, and every capture asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._spans: dict[str, list[Span]] = {}
        self._uptimes: dict[str, int] = {}
        """What the machine's own clock said when a session's first open opt-out began."""
        rows = connection.execute("SELECT session_id, since, until FROM opt_outs ORDER BY since")
        for session_id, since, until in rows.fetchall():
            self._spans.setdefault(session_id, []).append(Span(since, until))
        uptime = meta.get(connection, _UPTIME)
        if uptime is not None and self.off_since() is not None:
            self._uptimes[EVERY_SESSION] = int(uptime)

    def covers(self, session_id: str, ts: int, way: Way, now_ms: int) -> bool:
        """Whether what this session did at this time is not to be kept, now that it has come in this way."""
        if not self._spans:
            return False
        spans = [*self._spans.get(session_id, ()), *self._spans.get(EVERY_SESSION, ())]
        return any(_is_within(span, ts, way, now_ms) for span in spans)

    def off_since(self, session_id: str = EVERY_SESSION) -> int | None:
        """Return since when nothing of a session, or nothing at all, is kept; None while it is."""
        return min((since for since, until in self._spans.get(session_id, ()) if until is None), default=None)

    def open_sessions(self) -> list[tuple[str, int]]:
        """Return each session of which nothing is kept, with since when; the newest first."""
        since = {each: self.off_since(each) for each in self._spans if each != EVERY_SESSION}
        return sorted(((each, ts) for each, ts in since.items() if ts is not None), key=lambda one: (-one[1], one[0]))

    def off_until(self, session_id: str, now_ms: int, uptime_ms: int) -> Span | None:
        """Return what was off if it ends now; None where nothing is.

        That is from when to when it lasted by the clock as it was set then, and by the clock as it is set now.
        """
        since = self.off_since(session_id)
        if since is None:
            return None
        lasted = max(now_ms - since, uptime_ms - self._uptimes.get(session_id, uptime_ms), 0)
        return Span(min(since, now_ms - lasted), max(now_ms, since + lasted))

    def take(self, kind: str, payload_json: bytes) -> None:
        """Obey an intent, now that it is in the log."""
        if kind not in KINDS:
            return
        payload = msgspec.json.decode(payload_json)
        session_id = payload["session"]
        spans = self._spans.setdefault(session_id, [])
        if kind == "opt-out":
            spans.append(Span(payload["since"], None))
            if "uptime" in payload:
                self._uptimes.setdefault(session_id, payload["uptime"])
        elif (begun := self.off_since(session_id)) is not None:
            spans[:] = [span for span in spans if span.until is not None] + [_ended(begun, payload)]
            self._uptimes.pop(session_id, None)


def opt_out(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Keep nothing more of a session, or of any."""
    session_id = payload["session"]
    if session_id == EVERY_SESSION and "uptime" in payload and off_since(connection) is None:
        meta.put(connection, _UPTIME, str(payload["uptime"]))
    connection.execute("INSERT OR IGNORE INTO opt_outs VALUES (?, ?, NULL)", (session_id, payload["since"]))


def opt_in(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Keep again what happens from now on."""
    session_id = payload["session"]
    begun = off_since(connection, session_id)
    if begun is None:
        return
    connection.execute("DELETE FROM opt_outs WHERE session_id = ? AND until IS NULL", (session_id,))
    connection.execute(
        "INSERT INTO opt_outs VALUES (?, ?, ?)"
        " ON CONFLICT (session_id, since) DO UPDATE SET until = max(until, excluded.until)",
        (session_id, *_ended(begun, payload)),
    )


def off_since(connection: sqlite3.Connection, session_id: str = EVERY_SESSION) -> int | None:
    """Return since when nothing of a session, or nothing at all, is kept; None while it is."""
    sql = "SELECT min(since) FROM opt_outs WHERE session_id = ? AND until IS NULL"
    row = connection.execute(sql, (session_id,)).fetchone()
    return None if row[0] is None else int(row[0])


def _is_within(span: Span, ts: int, way: Way, now_ms: int) -> bool:
    if span.until is None:
        # While the clock reads earlier than the opt-out, no time on what was spooled or read says that it came before.
        return way == "live" or span.since <= ts or now_ms < span.since
    # What arrives live is of now: a span that this clock has not come to the end of is by another setting of it.
    return span.since <= ts < span.until and (way != "live" or span.until <= now_ms)


def _ended(begun: int, payload: dict[str, Any]) -> Span:
    until = payload["until"]
    return Span(min(begun, until, payload.get("since", begun)), max(begun, until))
