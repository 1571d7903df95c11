"""The brief: what a session is given at its start, or nothing at all.

Standing instructions first, then how the last session ended, then what failed and was not mended, within the budget.
After a compaction the session itself is the last session: what it did is lost to its context.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from siftd.search.block import Block, Given, Piece, harmless
from siftd.search.memories import EVERYWHERE, OWN
from siftd.store import briefs
from siftd.store.ledger import SessionState

FAILURES_MAX = 3
ENDING_CHARS_MAX = 400
FRESH = SessionState(0, frozenset())


def brief(
    connection: sqlite3.Connection,
    now_ms: int,
    *,
    max_tokens: int,
    session_id: str | None = None,
    state: SessionState = FRESH,
    everywhere: sqlite3.Connection | None = None,
) -> Given:
    """Return the brief for a session; what it has before it already (`state`) is left out.

    `everywhere` is the store of the memories for every project, where there is one.
    """
    block = Block(max_tokens)
    others = None if state.compacted_ts else session_id
    sections = (
        ("standing", "Kept on purpose, for every session", _standing(connection, everywhere, now_ms)),
        ("ending", "The last session asked, and ended with", briefs.find_ending(connection, others)),
        ("failure", "Failed last and has not succeeded since", _failures(connection, now_ms, others)),
    )
    given: set[str] = set()
    for name, heading, rows in sections:
        block.head(heading)
        for piece in (_piece(name, row) for row in rows):
            if not {piece.id, f"e{piece.event_id}"} & (state.told | given):
                given.add(f"e{piece.event_id}" if piece.event_id else piece.id)
                block.add(piece)
    return block.close()


def _standing(
    connection: sqlite3.Connection, everywhere: sqlite3.Connection | None, now_ms: int
) -> list[dict[str, Any]]:
    """Return this project's standing instructions, then those for every project."""
    stores = {OWN: connection} | ({} if everywhere is None else {EVERYWHERE: everywhere})
    return [
        row | {"id": f"{letter}{row['id']}"} for letter, c in stores.items() for row in briefs.list_pinned(c, now_ms)
    ]


def _failures(connection: sqlite3.Connection, now_ms: int, except_session: str | None) -> list[dict[str, Any]]:
    return briefs.list_open_failures(connection, now_ms, except_session, FAILURES_MAX)


def _piece(section: str, row: dict[str, Any]) -> Piece:
    why = {"section": section}
    if section == "standing":
        return Piece(row["id"], row["updated_ts"], harmless(row["text"]), label=row["type"], why=why)
    return Piece(row["id"], row["ts"], harmless(row["text"], ENDING_CHARS_MAX), row["event_id"], why=why)
