"""Where a project's notes lie and what belongs to them: names only, nothing is opened here.

    <notes>/                      ./.memory of the project (`mem notes init --in-tree`), else
                                  $SIFTD_HOME/<ns>/notes/<id>/files
      state.md decisions.md mistakes.md todo.md
      archive/YYYY-MM.md          what no longer fits, verbatim; appended to only
      inbox/*.md *.txt            what anybody drops for the next sync to take in
      inbox/.claimed/             what a sync is taking in
      .model/CLAUDE.md            points an agent to the notes
      .*.siftd                    a file while it is written; what stood in it, until that is known to be the same

    $SIFTD_HOME/<ns>/notes/
      registry.json .lock         which projects have notes (`siftd.notes.registry`)
      <id>/                       one project: what siftd keeps about its notes
        lock                      held while its notes are written
        cursors.json              how far its sources were read (`siftd.notes.cursors`)
        journal.json              what is being written (`siftd.notes.applying`)
        last.json                 the last distil (`siftd.notes.last`)
        written.json              what the built-in distil has put into the notes (`siftd.notes.distil.written`)
        forgotten                 a mark that changes when something is taken out (`siftd.notes.forgotten`)

The id of a project is the hash of its folder's real path.
"""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple, TypeAlias

from siftd.workspace.paths import Home

NoteName: TypeAlias = Literal["state", "decisions", "mistakes", "todo"]
NOTE_NAMES: tuple[NoteName, ...] = ("state", "decisions", "mistakes", "todo")
NOTE_BYTES_MAX = 1024 * 1024
"""Of one file of notes. Arbitrary: far above every budget; what is longer is no file of notes and is left alone."""
IN_TREE = ".memory"


class Project(NamedTuple):
    """One project with notes."""

    id: str
    name: str
    path: str
    """The real path of its folder."""
    workspace: str
    """The key of the workspace that it belongs to."""
    folder: str
    """Where its notes are."""
    registered_ts: int
    in_tree: bool = False

    def file(self, name: NoteName) -> str:
        return f"{self.folder}/{name}.md"

    def archive(self, month: str) -> str:
        """Return the archive of a month (YYYY-MM)."""
        return f"{self.folder}/archive/{month}.md"

    @property
    def inbox(self) -> str:
        return f"{self.folder}/inbox"

    @property
    def claimed(self) -> str:
        return f"{self.inbox}/.claimed"

    @property
    def model_rules(self) -> str:
        return f"{self.folder}/.model/CLAUDE.md"

    def covers(self, folder: str | None) -> bool:
        """Whether a folder is the project's or lies in it: /x/proj does not cover /x/proj-other."""
        return folder is not None and f"{folder.rstrip('/')}/".startswith(f"{self.path.rstrip('/')}/")


class Bookkeeping:
    """What siftd keeps about one project's notes, in its home."""

    __slots__ = ("folder",)

    def __init__(self, home: Home, project_id: str) -> None:
        self.folder = f"{notes_folder(home)}/{project_id}"

    @property
    def files(self) -> str:
        """The notes themselves, where they are not in the project's tree."""
        return f"{self.folder}/files"

    @property
    def lock(self) -> str:
        return f"{self.folder}/lock"

    @property
    def cursors(self) -> str:
        return f"{self.folder}/cursors.json"

    @property
    def journal(self) -> str:
        return f"{self.folder}/journal.json"

    @property
    def last(self) -> str:
        return f"{self.folder}/last.json"

    @property
    def written(self) -> str:
        return f"{self.folder}/written.json"

    @property
    def forgotten(self) -> str:
        return f"{self.folder}/forgotten"


def notes_folder(home: Home) -> str:
    return f"{home.folder}/notes"


def registry_file(home: Home) -> str:
    return f"{notes_folder(home)}/registry.json"


def registry_lock(home: Home) -> str:
    return f"{notes_folder(home)}/.lock"


def project_id(path: str) -> str:
    """Return the id of the project in a folder, whose path is real."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
