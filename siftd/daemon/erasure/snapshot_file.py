"""Taking text out of the snapshot of the codebase: what was forgotten of the store, what rules replace, what a person
names.

    forget, by the procedure     commands that no stored event shows any more
    scrub, values of sessions    every text by the rules
    forget --query, --file       the parts that hold the text, or are about the file; before the wish is logged

The snapshot is derived: a part that goes too early is made again by the next build, of what is in the work tree then.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from pathlib import Path

from siftd.knowledge import file
from siftd.knowledge.changing import events_of, renewed, texts_of, without, without_events
from siftd.knowledge.model import Snapshot
from siftd.store import knowledge as stored
from siftd.store.access import Database
from siftd.store.forget_matching import ForgetQuery, folded
from siftd.workspace.paths import WorkspacePaths

_WILD = "*?["


def take_out(paths: WorkspacePaths, connection: Database, renew: Callable[[str], str]) -> None:
    """Take out what no event shows any more, and renew every text. A file that is no snapshot goes whole."""
    path = Path(paths.knowledge)
    if not path.exists():
        return
    snapshot = file.find_readable(paths.knowledge)
    if snapshot is None:
        path.unlink(missing_ok=True)
        return
    left = {f"e{each}" for each in stored.stored_events(connection, events_of(snapshot))}
    file.put(paths.knowledge, renewed(without_events(snapshot, left), renew))


def count_held(paths: WorkspacePaths, asked: ForgetQuery) -> int:
    """Return in how many lines a wish finds what it is about."""
    is_gone = _is_gone(asked)
    snapshot = file.find_readable(paths.knowledge) if is_gone is not None else None
    if snapshot is None or is_gone is None:
        return 0
    return sum(map(is_gone, texts_of(snapshot).splitlines()))


def forget(paths: WorkspacePaths, asked: ForgetQuery) -> None:
    """Take out the parts that a wish is about."""
    is_gone = _is_gone(asked)
    if is_gone is None or not Path(paths.knowledge).exists():
        return
    snapshot: Snapshot | None = file.find_readable(paths.knowledge)
    if snapshot is None:
        Path(paths.knowledge).unlink(missing_ok=True)
    else:
        file.put(paths.knowledge, without(snapshot, is_gone))


def _is_gone(asked: ForgetQuery) -> Callable[[str], bool] | None:
    """Return what tells whether a text is to go; None for a wish about other things."""
    if asked.query:
        text = folded(asked.query)
        return lambda said: text in folded(said)
    if asked.file:
        wanted = asked.file
        return lambda said: _names(said, wanted)
    return None


def _names(said: str, wanted: str) -> bool:
    """Whether a text is the path of a file, or a place in it, whether or not either begins at the root of all."""
    path = said.rpartition(":")[0] or said
    if any(each in wanted for each in _WILD):
        return fnmatch.fnmatchcase(path, wanted) or fnmatch.fnmatchcase(f"/{path}", wanted)
    return path == wanted or ("/" in path and wanted.endswith(f"/{path}"))
