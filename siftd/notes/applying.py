"""Writing a distil: the four files, the archive, what is noted about them; once, whatever is killed in between.

    $SIFTD_HOME/<ns>/notes/<id>/journal.json, mode 0600:

    {"version": 1,
     "files": [{"path": "/x/proj/.memory/state.md", "before": "<SHA-256 of what was read, or null>", "after": "…"}],
     "books": {"cursors.json": "…", "last.json": "…"},      what is then written about them, by name
     "taken": [["/x/proj/.memory/inbox/.claimed/a.md", 120, 1764083000000000000]],
     "date": "2026-11-25"}

The journal is written first, and is the moment at which a distil is decided. Then the files, then the books about
them (the cursors among it), then the inbox notes that were taken in go, then the journal. Whoever finds a journal does
all of it again: a file that holds `after` is done. One that a person edited meanwhile stays as it is; the lines that it
then lacks become a note in the inbox, so that the next distil puts them in.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from siftd.errors import SiftdError
from siftd.foreign_file import read
from siftd.notes import inbox
from siftd.notes.layout import Bookkeeping, Project
from siftd.notes.replacing import EditedMeanwhile, Replacement, digest_of, left_by_killed, read_note, replace
from siftd.workspace.home import write_private

VERSION = 1
_BYTES_MAX = 256 * 1024 * 1024


class File(msgspec.Struct):
    """A file to be written; `before` is the hash of what it must hold, None where it must not be there."""

    path: str
    before: str | None
    after: str


class Plan(msgspec.Struct):
    """All that one distil writes."""

    files: list[File]
    books: dict[str, str]
    taken: list[tuple[str, int, int]]
    date: str
    version: int = VERSION


class Applied(msgspec.Struct):
    """What became of a plan."""

    written: list[str]
    edited: list[str]
    """Files that a person edited meanwhile, and that were left as they are."""


def check_unchanged(plan: Plan) -> None:
    """Raise EditedMeanwhile when a file is not what it was when the plan was made."""
    if any(digest_of(read_note(file.path)) != file.before for file in plan.files):
        raise EditedMeanwhile


def apply(project: Project, books: Bookkeeping, plan: Plan) -> Applied:
    """Write a plan. The caller holds the project's lock. Raises OSError; the next `recover` then goes on."""
    write_private(Path(books.journal), msgspec.json.encode(plan))
    return _carry_out(project, books, plan)


def recover(project: Project, books: Bookkeeping) -> Applied | None:
    """Finish what a killed sync had decided; None when there is nothing."""
    try:
        plan = msgspec.json.decode(read(books.journal, _BYTES_MAX), type=Plan)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise SiftdError(f"{books.journal} cannot be read", hint="move it away: one distil may be lost") from error
    if plan.version > VERSION:
        raise SiftdError(f"{books.journal} is of a newer siftd", hint="run that one's `mem notes sync` once")
    return _carry_out(project, books, plan)


def _carry_out(project: Project, books: Bookkeeping, plan: Plan) -> Applied:
    replaced: list[tuple[File, Replacement]] = []
    edited: list[File] = []
    for file in plan.files:
        current = read_note(file.path)
        after = file.after.encode()
        if current == after:
            replaced.append((file, left_by_killed(file.path, file.before)))
            continue
        if digest_of(current) != file.before:
            edited.append(file)
            continue
        try:
            replaced.append((file, replace(file.path, current, after, mode=_mode(project))))
        except EditedMeanwhile:
            edited.append(file)
    for name, text in plan.books.items():
        write_private(Path(books.folder, name), text.encode())
    edited += [file for file, replacement in replaced if not replacement.settle()]
    _save_unwritten(project, edited, plan.date)
    for path, size, modified in plan.taken:
        inbox.remove(path, (size, modified), project)
    Path(books.journal).unlink(missing_ok=True)
    lost = {file.path for file in edited}
    return Applied([file.path for file in plan.files if file.path not in lost], sorted(lost))


def _mode(project: Project) -> int:
    """A file in a project's tree is as any other there; in siftd's home it is its owner's alone."""
    if not project.in_tree:
        return 0o600
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask


def _save_unwritten(project: Project, edited: Sequence[File], date: str) -> None:
    """Put what could not be written into the inbox, under a name that a second try finds again."""
    for file in edited:
        current = (read_note(file.path) or b"").decode("utf-8", "replace")
        there = {" ".join(line.split()) for line in current.splitlines()}
        lines = _unwritten(file.after.splitlines(), there)
        if not lines:
            continue
        name = f"unwritten-{date}-{hashlib.sha256(file.after.encode()).hexdigest()[:8]}.md"
        Path(project.inbox).mkdir(mode=0o700, exist_ok=True)
        title = f"Not written into {os.path.basename(file.path)}, which was edited meanwhile:"  # noqa: PTH119
        write_private(Path(project.inbox, name), "\n".join([title, "", *lines, ""]).encode())


def _unwritten(lines: Sequence[str], there: set[str]) -> list[str]:
    """Return the lines of a body that are not there, but for the frontmatter."""
    start = lines.index("---", 1) + 1 if lines and lines[0] == "---" and "---" in lines[1:] else 0
    return [line for line in lines[start:] if line.strip() and " ".join(line.split()) not in there]
