"""Which branch is checked out in a folder, as git's own files say. No program is run."""

from __future__ import annotations

import os

from siftd.foreign_file import read
from siftd.workspace.identity import find_git_dir

HEAD_BYTES_MAX = 4096
FOLDERS_MAX = 64
"""Folders whose git directory is remembered: of one agent all calls come from a few."""
_REFERENCE = "ref: refs/heads/"


class Branches:
    """Tells branches for the folders that events come from: one look at a file's state for each event.

    Used from several threads: no step relies on what an earlier one has put there, and two find the same.
    """

    def __init__(self) -> None:
        self._heads: dict[str, str] = {}
        self._read: dict[str, tuple[int, int, str | None]] = {}

    def of(self, folder: str) -> str | None:
        """Return the branch that is checked out in `folder`; None where none is, or where no repository is."""
        head = self._head_of(folder) if folder.startswith("/") and "\0" not in folder else None
        if head is None:
            return None
        try:
            found = os.stat(head, follow_symlinks=False)  # noqa: PTH116 - pathlib would take three times as long
        except OSError:
            self._heads.pop(folder, None)
            return None
        known = self._read.get(head)
        if known is None or known[:2] != (found.st_mtime_ns, found.st_ino):
            known = found.st_mtime_ns, found.st_ino, read_branch(head)
            if len(self._read) >= FOLDERS_MAX:
                self._read.clear()
            self._read[head] = known
        return known[2]

    def _head_of(self, folder: str) -> str | None:
        if (known := self._heads.get(folder)) is not None:
            return known
        git_dir = find_git_dir(folder)
        if git_dir is None:
            return None
        if len(self._heads) >= FOLDERS_MAX:
            self._heads.clear()
        self._heads[folder] = f"{git_dir}/HEAD"
        return f"{git_dir}/HEAD"


def read_branch(head: str) -> str | None:
    """Return the branch that a file `HEAD` names; None for a commit, and for what is no such file."""
    try:
        text = read(head, HEAD_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        return None
    first = text.partition("\n")[0]
    return first.removeprefix(_REFERENCE).strip() or None if first.startswith(_REFERENCE) else None
