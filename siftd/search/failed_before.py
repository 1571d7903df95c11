"""What an agent is told when a command fails as it failed in an earlier session that then got through: the way out.

One line, and only names: programs, options and paths, a checker's rule, the file of the change that ended it, in the
marked block. How often it answers, and rightly, is in docs/evaluation.md.
"""

from __future__ import annotations

from siftd.search.context_block import NOTHING, Block, Given, Piece
from siftd.search.own_words import command_words, name_of
from siftd.store import failures, summaries
from siftd.store.access import Database
from siftd.store.injection_ledger import SessionState
from siftd.store.muted import is_muted

MAX_TOKENS = 200
"""Of a block: its frame and one line."""


def failed_before(
    connection: Database, session_id: str, command: str, error: str, *, max_tokens: int, state: SessionState
) -> Given:
    """Return how the same failure ended in another session; nothing where that is not known, or was told."""
    found = failures.find_way_out(connection, session_id, command, error)
    if found is None:
        return NOTHING
    shown = found.end.change or found.end.succeeded
    cited = f"e{shown}"
    event = None if cited in state.given else summaries.find_event(connection, shown)
    if event is None or is_muted(connection, shown):
        return NOTHING
    block = Block(min(max_tokens, MAX_TOKENS))
    text = _changed(found, cited) if found.end.change else _ran(found, command, cited)
    block.add(Piece(cited, event.ts, text, shown, why={"section": "failed before", "failed": found.failed}))
    return block.close()


def _changed(found: failures.WayOut, cited: str) -> str:
    rule = name_of(found.fault.signature.removeprefix("rule ").replace(" ", "/"))
    changed = name_of(found.end.path.rpartition("/")[2])
    return f"what `{rule}` reported in an earlier session ended with a change of {changed}: `show {cited}`"


def _ran(found: failures.WayOut, command: str, cited: str) -> str:
    failed = f"`{command_words(command, with_folder=True)}` failed with the same error before"
    return f"{failed}; {_way(found)}: `timeline {cited}`"


def _way(found: failures.WayOut) -> str:
    *before, last = (f"`{command_words(each, with_folder=True)}`" for each in found.end.ran)
    after = f" after {', '.join(before[-2:])}" if before else ""
    if not found.is_same:
        return f"{last} succeeded then{after}"
    return f"it succeeded{after}" if after else "it succeeded when it was run again"
