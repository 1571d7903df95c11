"""The brief: what a session is given at its start, or nothing at all.

What a person pinned comes first, then what the last sessions did that did anything, then what fails again as it did
before it was mended, within the budget; of what waits for a person, how much it is. But for the pins these are facts in
our own words: a session has not asked for anything yet, so nobody else speaks in it. After a compaction the session
itself is the last session: what it did is lost to its context.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

from siftd.harmless import harmless
from siftd.search.context_block import Block, Given, Piece
from siftd.search.memories import EVERYWHERE, OWN
from siftd.search.quoting import deeds, on_branch, ran
from siftd.store import briefs, memories, summaries
from siftd.store.injection_ledger import SessionState

FAILURES_MAX = 3
ENDINGS_MAX = 8
"""Sessions that are looked through for those that did something. Arbitrary."""
ENDINGS_TOLD = 2
FRESH = SessionState(0, frozenset())


def brief(
    connection: sqlite3.Connection,
    now_ms: int,
    *,
    max_tokens: int,
    session_id: str | None = None,
    state: SessionState = FRESH,
    everywhere: sqlite3.Connection | None = None,
    branch: str | None = None,
    names_clients: bool = False,
) -> Given:
    """Return the brief for a session on `branch`; what it has before it already (`state`) is left out.

    With `names_clients` it says of each session whose agent's program it was: several have written here.

    `everywhere` is the store of the memories for every project, where there is one.
    """
    block = Block(max_tokens)
    stores = {OWN: connection} | ({} if everywhere is None else {EVERYWHERE: everywhere})
    others = None if state.compacted_ts else session_id
    sections = (
        ("Pinned by the person, for every session", _standing(stores, now_ms)),
        ("The last sessions that did something", _endings(connection, others, branch, names_clients)),
        ("Fails again", _failures(connection, now_ms, others)),
    )
    given: set[str] = set()
    for heading, pieces in sections:
        block.head(heading)
        for piece in pieces:
            if not {piece.id, f"e{piece.event_id}"} & (state.told | given):
                given.add(f"e{piece.event_id}" if piece.event_id else piece.id)
                block.add(piece)
    waiting = sum(memories.count_waiting(each, now_ms) for each in stores.values())
    if waiting and not state.told:
        block.note(f"{waiting} more wait{'s' * (waiting == 1)} for the person to accept: `mem pins`")
    return block.close()


def _standing(stores: dict[str, sqlite3.Connection], now_ms: int) -> Iterator[Piece]:
    """Yield this project's standing instructions, then those for every project."""
    for letter, connection in stores.items():
        for row in briefs.list_pinned(connection, now_ms):
            text, why = f"«{harmless(row['text'])}»", {"section": "standing"}
            yield Piece(f"{letter}{row['id']}", row["updatedTs"], text, label=row["type"], why=why)


def _endings(
    connection: sqlite3.Connection, except_session: str | None, branch: str | None, names_clients: bool
) -> Iterator[Piece]:
    """Yield what the latest sessions did that did anything: a question in passing hides no work, and is none.

    Sessions on the same branch come first; of another one the branch is said.
    """
    told = 0
    endings = briefs.list_endings(connection, except_session, ENDINGS_MAX)
    for ending in sorted(endings, key=lambda ending: branch is not None and ending.branch not in (branch, None)):
        upto = summaries.last_event(connection, ending.session_id)
        if done := deeds(connection, ending.session_id, 0, upto, ending.cwd):
            asked = f"{ending.prompts} prompt{'s' * (ending.prompts != 1)}, " if ending.prompts else ""
            when = f"until {_hour(ending.ts)}{on_branch(ending.branch, branch)}"
            by = f"{ending.client}, " if names_clients and ending.client else ""
            text = f"{by}{asked}{when}; {done}: `show {ending.id}` for how it ended"
            yield Piece(ending.id, ending.ts, text, ending.event_id, why={"section": "ending"})
            told += 1
        if told == ENDINGS_TOLD:
            return


def _failures(connection: sqlite3.Connection, now_ms: int, except_session: str | None) -> Iterator[Piece]:
    for failed, mended in briefs.list_returned(connection, now_ms, except_session, FAILURES_MAX):
        event = summaries.find_event(connection, failed)
        if event is not None:
            text = f"{ran(event)} at {_hour(event.ts)}: `timeline e{mended}` for what mended it before"
            yield Piece(f"e{failed}", event.ts, text, failed, why={"section": "failure"})


def _hour(ts: int) -> str:
    """Return the time of a day; "2 h ago" would be wrong in a brief that is kept."""
    return time.strftime("%H:%M UTC", time.gmtime(ts / 1000))
