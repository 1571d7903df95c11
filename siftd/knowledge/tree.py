"""The files of a work tree, listed and read so that nothing they are can harm.

In a repository git says which files are the project's; elsewhere folders are walked as for documents. A link is
followed nowhere, a pipe or a device never opened, a file of secrets passed over, one that is too large or no text told
and left alone. All of it is bounded: `LISTED_MAX` files, `FILE_BYTES_MAX` of each, `TOTAL_BYTES_MAX` of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from siftd.documents.private_files import is_secret
from siftd.documents.walking import Found, walk
from siftd.foreign_file import open_regular
from siftd.knowledge.languages import is_someone_elses, language_of
from siftd.knowledge.model import Skipped
from siftd.workspace.repository import list_files

LISTED_MAX = 50_000
WALKED_MAX = 500_000
"""Entries of folders that are looked at, where git is not asked."""
READ_MAX = 10_000
"""Files of code that are read. Of a larger tree the rest is counted as left out."""
FILE_BYTES_MAX = 1024 * 1024
TOTAL_BYTES_MAX = 256 * 1024 * 1024
SKIPPED_MAX = 50
PATH_CHARS_MAX = 300
LINE_CHARS_MAX = 2_000
"""A longer line is made by a program; nothing is looked for behind this."""


class Tree:
    """The files of one folder. Each is read when it is asked for, once."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.paths: list[str] = []
        """In order, relative to the root."""
        self.skipped: list[Skipped] = []
        self.left_out = 0
        self._held: dict[str, tuple[str, str] | None] = {}
        self._plain: set[str] = set()
        """Folders that no link leads to."""
        self._lines: tuple[str, list[str]] = "", []
        self._total = 0
        listed = list_files(self.root, LISTED_MAX)
        found = _walked(self.root) if listed is None else iter(listed)
        for path in found:
            if not _is_plain(path) or is_someone_elses(path) or is_secret(path.rpartition("/")[2]):
                continue
            if len(self.paths) >= LISTED_MAX:
                self.left_out += 1
            elif listed is None or os.path.lexists(f"{self.root}/{path}"):  # the index names what was deleted
                self.paths.append(path)
        self.paths.sort()

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self.paths)

    @cached_property
    def code(self) -> list[str]:
        """The files in a language of programs that can be read."""
        found = [each for each in self.paths if language_of(each)]
        self.left_out += max(0, len(found) - READ_MAX)
        return [each for each in found[:READ_MAX] if self.read(each) is not None]

    def has(self, path: str) -> bool:
        """Whether a file is there, of those too that a program made."""
        return path in self.names or Path(self.root, path).is_file()

    def read(self, path: str) -> str | None:
        """Return a file's text, invalid bytes replaced; None, and told, for one that is not read."""
        found = self._read(path)
        return None if found is None else found[0]

    def hash(self, path: str) -> str:
        """Return the hash of a file that was read; "" for another."""
        found = self._read(path)
        return "" if found is None else found[1]

    def lines(self, path: str) -> list[str]:
        """Return a file's lines, each as far as a person's go."""
        if self._lines[0] != path:  # one file is looked at many times, then the next
            self._lines = path, [each[:LINE_CHARS_MAX] for each in (self.read(path) or "").splitlines()]
        return self._lines[1]

    def skip(self, path: str, why: str) -> None:
        """Note that a file tells nothing, and why."""
        if len(self.skipped) < SKIPPED_MAX and all(each.path != path for each in self.skipped):
            self.skipped.append(Skipped(path=path, why=why))

    def _read(self, path: str) -> tuple[str, str] | None:
        if path in self._held:
            return self._held[path]
        self._held[path] = None
        if path not in self.names:
            return None
        if self._total >= TOTAL_BYTES_MAX:
            self.left_out += 1
            return None
        if not self._is_within(path.rpartition("/")[0]):
            self.skip(path, "a link leads to its folder")
            return None
        try:
            with open_regular(f"{self.root}/{path}") as file:
                data = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            self.skip(path, f"it cannot be read ({error.strerror or type(error).__name__})")
            return None
        if len(data) > FILE_BYTES_MAX:
            self.skip(path, "it is longer than 1 MiB")
            return None
        if b"\x00" in data:
            self.skip(path, "it is no text")
            return None
        self._total += len(data)
        self._held[path] = data.decode("utf-8", "replace"), print_of(data)
        return self._held[path]

    def _is_within(self, folder: str) -> bool:
        """Whether no link leads to a folder."""
        if (
            folder not in self._plain
            and folder
            and os.path.realpath(f"{self.root}/{folder}") == f"{self.root}/{folder}"
        ):
            self._plain.add(folder)
        return not folder or folder in self._plain


def print_of(data: bytes) -> str:
    """Return the hash by which a file's content is known again."""
    return sha256(data).hexdigest()[:16]


def _walked(root: str) -> Iterator[str]:
    """Yield the files below a folder that is no work tree, those that are empty too: they make a folder a package."""
    for number, each in enumerate(walk(root)):
        if number > WALKED_MAX:
            return
        if isinstance(each, Found) or each.reason == "empty":
            yield each.path[len(root) + 1 :]


def _is_plain(path: str) -> bool:
    """Whether a path can be named in a line of ours."""
    return len(path) <= PATH_CHARS_MAX and path.isprintable()
