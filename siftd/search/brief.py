"""The brief: what a session is given at its start, or nothing at all.

What a person pinned and called vital comes first, as it stands in those pods (`siftd.facts.pods`); the other pods are
asked for. Then comes what the last sessions on the same line of work did and left open (`siftd.search.line_of_work`),
and what fails again there as it did before it was mended, within the budget; before both, where the project has notes
(`siftd.notes`), what is open in them; of what waits for a person, and of what
has no slot left, how much it is. But for what a person said these are facts in our own words: a session has not asked
for anything yet, so nobody else speaks in it. After a compaction the session itself is the last session: what it did is
lost to its context.

Where there is nothing of all that, a session is told once, in at most five lines, what the codebase's snapshot says
(`siftd.knowledge.statements`): words of ours, and of the project's own only what wants nothing of its reader.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from siftd.facts.blending import Filled
from siftd.facts.pods import Asker
from siftd.harmless import harmless
from siftd.knowledge.statements import AT_A_START
from siftd.search.context_block import Block, Given, Piece, estimate_tokens
from siftd.search.facts import EVERYWHERE, OWN
from siftd.search.line_of_work import line_of_work
from siftd.search.pods import Store, blended
from siftd.search.quoting import deeds, on_branch, ran
from siftd.store import briefs, facts, knowledge, summaries
from siftd.store.access import Database
from siftd.store.briefs import Ending
from siftd.store.injection_ledger import SessionState, find_event_of
from siftd.store.muted import is_muted

FAILURES_MAX = 3
ENDINGS_MAX = 24
"""Sessions that are looked through for those on the same line of work. Arbitrary."""
SNAPSHOT = "What the project's files say, by its snapshot (`mem knowledge show`)"
NOTES = "The project's notes, in files that anybody may edit"
TEAM = "Vital, said by others of the team: reference, not this person's word"
_ENDING = {"section": "ending"}
FRESH = SessionState(0, frozenset())


def brief(
    connection: Database,
    now_ms: int,
    *,
    max_tokens: int,
    session_id: str | None = None,
    state: SessionState = FRESH,
    asker: Asker,
    everywhere: Database | None = None,
    branch: str | None = None,
    names_clients: bool = False,
    notes: Sequence[str] = (),
    of_team: Sequence[Piece] = (),
) -> Given:
    """Return the brief for a session on `branch`; what it has before it already (`state`) is left out.

    With `names_clients` it says of each session whose agent's program it was: several have written here.

    `everywhere` is the store of the memories for every project, where there is one; `notes` is what the project's own
    notes say, harmless by now. They have at most a third of the budget. What stands `of_team`, in others' words, comes
    behind one's own, and has at most a fourth.
    """
    block = Block(max_tokens)
    stores = [Store(OWN, asker.project, connection)]
    stores += [] if everywhere is None else [Store(EVERYWHERE, asker.shared, everywhere)]
    handed = {filled.pod.type: filled for filled in blended(stores, asker).pods}
    others = None if state.compacted_ts else session_id
    endings = line_of_work(connection, briefs.list_endings(connection, others, ENDINGS_MAX), now_ms, branch)
    standing = (
        ("Pinned by the person, for every session", _standing(handed["directive"])),
        ("Vital, said by the person", _standing(handed["vital"])),
    )
    work = (
        ("The last sessions on this line of work", _endings(connection, endings, branch, names_clients)),
        ("Fails again", _failures(connection, now_ms, others, {each.session_id for each in endings})),
    )
    given = set(state.given)
    crowded = sum(len(handed[kind].crowded_out) for kind in ("directive", "vital"))
    crowded += _fill(block, standing, given)
    if not state.given:
        block.quote(NOTES, notes, max_tokens // 3)
    _fill(block, work, given)
    if of_team:
        block.head(TEAM)
        _fill_within(block, of_team, given, max_tokens // 4)
    if crowded and not state.given:
        block.note(f"{crowded} more pinned or vital than stand here: `mem context --explain`")
    if not len(block) and not notes and not state.given:
        _fill(block, ((SNAPSHOT, _snapshot(connection, now_ms)),), given)
    waiting = sum(facts.count_waiting(each.connection, now_ms) for each in stores)
    if waiting and not state.given:
        block.note(f"{waiting} more wait{'s' * (waiting == 1)} for the person to accept: `mem pins`")
    return block.close()


def _fill(block: Block, sections: Iterable[tuple[str, Iterable[Piece]]], given: set[str]) -> int:
    """Add what was not given yet, and note it in `given`; return how much had no room."""
    left_out = 0
    for heading, pieces in sections:
        block.head(heading)
        for piece in pieces:
            if not {piece.id, f"e{piece.event_id}"} & given:
                given.add(f"e{piece.event_id}" if piece.event_id else piece.id)
                left_out += not block.add(piece)
    return left_out


def _fill_within(block: Block, pieces: Iterable[Piece], given: set[str], max_tokens: int) -> None:
    """Add what was not given yet, as far as it costs no more than that."""
    room = max_tokens
    for piece in pieces:
        cost = estimate_tokens(f"{piece.line}\n")
        if piece.why["item"] not in given and cost <= room and block.add(piece):
            room -= cost


def _standing(filled: Filled) -> Iterator[Piece]:
    """Yield what stands in a pod, each fact whole."""
    for slot in filled.slots:
        text, why = f"«{harmless(slot.fact.text, 2 * len(slot.fact.text))}»", {"section": filled.pod.type}
        yield Piece(slot.fact.id, slot.fact.said_ts, text, label=slot.fact.category, why=why)


def _endings(connection: Database, endings: list[Ending], branch: str | None, names_clients: bool) -> Iterator[Piece]:
    """Yield what sessions did and left open; of another branch than `branch` it is said."""
    for ending in endings:
        story_of = find_event_of(connection, ending.id)
        if is_muted(connection, ending.event_id) or is_muted(connection, story_of):
            continue
        upto = summaries.last_event(connection, ending.session_id)
        done = deeds(connection, ending.session_id, 0, upto, ending.cwd)
        by = f"{ending.client}, " if names_clients and ending.client else ""
        asked = f"{ending.prompts} prompt{'s' * (ending.prompts != 1)}, " if ending.prompts else ""
        when = f"until {_hour(ending.ts)}{on_branch(ending.branch, branch)}"
        facts = "; ".join(filter(None, (f"{by}{asked}{when}", done, _open(connection, ending))))
        yield Piece(ending.id, ending.ts, f"{facts}: `show {ending.id}` for how it ended", ending.event_id, why=_ENDING)


def _open(connection: Database, ending: Ending) -> str:
    """Return how many of a session's own tasks it left undone."""
    left, every = briefs.count_tasks_left(connection, ending.session_id)
    return f"{left} of its {every} tasks left open" if left else ""


def _failures(connection: Database, now_ms: int, except_session: str | None, sessions: set[str]) -> Iterator[Piece]:
    """Yield what fails again in these sessions: on another line of work it helps nobody."""
    for failed, mended in briefs.list_returned(connection, now_ms, except_session, FAILURES_MAX):
        event = summaries.find_event(connection, failed)
        if event is not None and event.session_id in sessions and not is_muted(connection, failed):
            text = f"{ran(event)} at {_hour(event.ts)}: `timeline e{mended}` for what mended it before"
            yield Piece(f"e{failed}", event.ts, text, failed, why={"section": "failure"})


def _snapshot(connection: Database, now_ms: int) -> Iterator[Piece]:
    """Yield what the snapshot of the codebase says: what this is, how to work here, where to look."""
    stated = {each.topic: each for each in knowledge.list_stated(connection, now_ms) if each.is_of_here}
    for topic in AT_A_START:
        if (each := stated.get(topic)) is not None:
            yield Piece(f"{OWN}{each.fact}", each.ts, harmless(each.text), why={"section": "snapshot"})


def _hour(ts: int) -> str:
    """Return the time of a day; "2 h ago" would be wrong in a brief that is kept."""
    return time.strftime("%H:%M UTC", time.gmtime(ts / 1000))
