"""How far the `forget` records reach that are not done: what names the records of the log that have to go.

Tombstones say for one record whether it is forgotten. Asking them about every record of a long log takes longer than
everything else; most wishes are about a few events whose names either stand in a segment, byte for byte, or do not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from siftd.log.record import Record
from siftd.store.tombstones import Keys

NEEDLES_MAX = 64
"""Names that are looked for one after the other; more of them, and each record is decoded."""
_NARROW = ("id", "session")
_NAMED = (b"id", b"memory", b"fact")
"""How records name a fact."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What was asked for since the last time that something was erased."""

    needles: tuple[bytes, ...] | None = None
    """One of these stands in every record that has to go; None: any record may have to."""
    is_narrow: bool = False
    """Whether only ids and sessions were named."""
    events: int = 0
    """Events that were named."""


def reach_of(connection: sqlite3.Connection, records: Iterable[Record], keys: Keys) -> Reach:
    """Return the reach of the pending forgets; `records` are those of the log from the first of them on."""
    pending = {int(row[0]) for row in connection.execute("SELECT seq FROM forgets WHERE done_ts IS NULL")}
    payloads = [msgspec.json.decode(each.payload) for each in records if each.seq in pending]
    if len(payloads) < len(pending):  # the log has lost one: its tombstones are in the database alone
        return Reach()
    needles: set[bytes] = set()
    sessions = {keys.session(row[0]): row[0] for row in connection.execute("SELECT session_id FROM sessions")}
    for payload in payloads:
        found = _needles_of(payload, sessions)
        if found is None:
            return Reach()
        needles |= found
    return Reach(
        needles=tuple(needles) if len(needles) <= NEEDLES_MAX else None,
        is_narrow=all(payload.get("scope") in _NARROW for payload in payloads),
        events=sum(len(payload.get("uid", ())) for payload in payloads),
    )


def _needles_of(payload: dict[str, list[object]], sessions: dict[str, str]) -> set[bytes] | None:
    """Return what a record that this payload is about holds; None where only a look at each record can tell."""
    named = [*payload.get("session", ())]
    if (
        payload.get("file")
        or payload.get("folder")
        or payload.get("pod")
        or payload.get("document")
        or payload.get("time")
        or any(each not in sessions for each in named)
    ):
        return None
    needles = {msgspec.json.encode(sessions[str(each)]) for each in named}
    needles |= {str(name[0] if isinstance(name, list) else name).encode() for name in payload.get("uid", ())}
    needles |= {str(name).encode() for name in payload.get("frame", ())}
    needles |= {b'"seq":%d,' % int(str(name)) for name in payload.get("record", ())}
    for name in payload.get("memory", ()):
        uid, number = name if isinstance(name, list) else (name, "")
        needles |= {str(uid).encode(), *(b'"%b":%b' % (name, str(number).encode()) for name in _NAMED)}
    return needles
