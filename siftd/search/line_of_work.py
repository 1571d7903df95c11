"""Which earlier sessions a new one may go on with, as far as the branches and the files tell before anybody has asked.

The last session on the same branch goes before all. Who has just cut a branch goes on with what its name says: with
sessions whose branch, or a file that they changed, has a telling word of it. On the trunk work goes on where the last
session left it, if that was on the trunk too: there are projects that know no other branch. Where branches are cut for
everything, the trunk is where all begins, and there, as on a branch that nothing is known of, only what ended a moment
ago is told: of an unrelated line of work nobody needs to hear. Where no branch is known it is the last two. Measured on
replayed sessions (docs/evaluation.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from siftd.store import summaries, turn_summaries
from siftd.store.access import Database
from siftd.store.briefs import Ending

SHOWN_MAX = 2
TRUNKS = frozenset(("main", "master", "trunk", "develop", "dev"))
MOMENT_MS = 60 * 60_000
"""How long ago a session on another branch may have ended that is still told of. Arbitrary."""
_WORD_CHARS_MIN = 4
_WORD = re.compile(r"[a-z]{1,100}|[0-9]{1,100}")
_KINDS = frozenset(
    ("feat", "feature", "fixes", "bugfix", "hotfix", "chore", "docs", "test", "tests", "refactor", "improve", "update",
     "branch", "work", "change", "changes", "issue", "release", "quick", "support", "make", "better", "into", "with",
     "from", "remove", "command", "code", "main", "back", "move", "investigate", "when", "more", "using", "file",
     "files", "index", "readme", "claude", "changelog", "todo", "todos", "state", "plan", "plans", "pending", "config",
     "package", "types", "utils", "common", "help", "added", "adds")
)  # fmt: skip
"""Words that say what kind of change a branch is, or that every repository has files of."""


def line_of_work(connection: Database, endings: Sequence[Ending], now_ms: int, branch: str | None) -> list[Ending]:
    """Return at most two of the latest sessions, the latest first, that did something and that the new one may go on
    with."""
    names = {each.session_id: _changed(connection, each.session_id) for each in endings}
    active = [each for each in endings if names[each.session_id] or _has_run(connection, each.session_id)]
    if branch is None:
        return active[:SHOWN_MAX]
    recent = [each for each in active if now_ms - each.ts < MOMENT_MS][:1]
    if branch in TRUNKS:
        goes_on = [each for each in active[:1] if each.branch in (branch, None)]
        return goes_on or recent
    if same := [each for each in active if each.branch == branch][:1]:
        return same
    words = _words(branch)
    theirs = {each.session_id: _words(each.branch or "") | _file_words(names[each.session_id]) for each in active}
    known = Counter(word for found in theirs.values() for word in found & words)
    scored = [(sum(1 / known[word] for word in theirs[each.session_id] & words), each) for each in active]
    related = [(score, each) for score, each in scored if score > 0]
    if related:
        best = sorted(related, key=lambda found: (-found[0], -found[1].ts))[:SHOWN_MAX]
        return sorted((each for _, each in best), key=lambda each: -each.ts)
    return recent


def _changed(connection: Database, session_id: str) -> list[str]:
    upto = summaries.last_event(connection, session_id)
    files = turn_summaries.list_files(connection, session_id, 0, upto)
    return list(dict.fromkeys(path for action, path in files if action == "edit"))


def _has_run(connection: Database, session_id: str) -> bool:
    upto = summaries.last_event(connection, session_id)
    return bool(turn_summaries.list_commands(connection, session_id, 0, upto))


def _words(name: str) -> set[str]:
    """Return the telling words of a branch's name: behind whose branch it is, and which kind."""
    tail = name.rpartition("/")[2] if "/" in name else name
    return {word for word in _WORD.findall(tail.casefold()) if len(word) >= _WORD_CHARS_MIN and word not in _KINDS}


def _file_words(paths: Sequence[str]) -> set[str]:
    return {word for path in paths for word in _words(path.rpartition("/")[2])}
