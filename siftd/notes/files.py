"""A project's files of notes, opened for reading so that nothing they are can harm.

Notes in a work tree may have come with a clone. A link is followed nowhere, neither at a file nor at a folder; a pipe
or a device is refused; no more is read than the caller takes. Writing is `siftd.notes.replacing`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from siftd import foreign_file
from siftd.notes.layout import NOTE_BYTES_MAX, NOTE_NAMES

FILES = tuple(f"{name}.md" for name in NOTE_NAMES)
ARCHIVE = "archive"
INBOX = "inbox"
CLAIMED = "inbox/.claimed"
_ARCHIVES = re.compile(r"[0-9]{4}-[0-9]{2}\.md")
_DROPPED = (".md", ".txt")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LEFTOVERS = (".siftd", ".new")
_LEFTOVER_SECONDS = 60
"""What is half written and older is a dead writer's: notes are dropped without the project's lock."""


class Stamp(NamedTuple):
    """By what a file is known to be unchanged."""

    size: int
    mtime_ns: int
    inode: int


class Folder:
    """An open folder. Files are named from it: `state.md`, `archive/2026-11.md`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def notes(self) -> list[str]:
        """Return the four files and the archive's, the newest one first."""
        archived = sorted(filter(_ARCHIVES.fullmatch, self._list(ARCHIVE)), reverse=True)
        return [*FILES, *(f"{ARCHIVE}/{each}" for each in archived)]

    def dropped(self) -> list[str]:
        """Return the notes that wait in the inbox, and those that a sync takes in."""
        return [
            f"{folder}/{each}"
            for folder in (INBOX, CLAIMED)
            for each in sorted(self._list(folder))
            if each.endswith(_DROPPED) and not each.startswith(".")
        ]

    def stamp(self, name: str) -> Stamp | None:
        """Return what a regular file is known by; None where there is none."""
        with suppress(OSError), self._at(name) as (descriptor, base):
            found = os.stat(base, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)
        return None

    def find(self, name: str, bytes_max: int = NOTE_BYTES_MAX) -> bytes | None:
        """Return what a file holds; None where there is none that can be notes: a link, a pipe, a longer one.

        Raises OSError for one that cannot be read.
        """
        try:
            with self._at(name) as (descriptor, base):
                return foreign_file.read(base, bytes_max, folder=descriptor)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EIO):
                raise
            return None

    def remove_leftovers(self) -> None:
        """Remove what writers that were killed have left. Only with the project's lock."""
        for folder in ("", ARCHIVE, INBOX):
            for each in self._list(folder):
                if each.startswith(".") and each.endswith(_LEFTOVERS):
                    with suppress(OSError), self._at(f"{folder}/{each}" if folder else each) as (descriptor, base):
                        age = time.time() - os.stat(base, dir_fd=descriptor, follow_symlinks=False).st_mtime
                        if each.endswith(_LEFTOVERS[0]) or age > _LEFTOVER_SECONDS:
                            os.unlink(base, dir_fd=descriptor)

    def _list(self, folder: str) -> list[str]:
        with suppress(OSError), self._at(f"{folder}/x" if folder else "x") as (descriptor, _):
            return os.listdir(descriptor)  # noqa: PTH208 - a path of it may lead elsewhere by now
        return []

    @contextmanager
    def _at(self, name: str) -> Iterator[tuple[int, str]]:
        """Give the folder that a file lies in, open, and its name there."""
        *folders, base = name.split("/")
        opened: list[int] = []
        try:
            for each in folders:
                opened.append(os.open(each, _FOLDER, dir_fd=opened[-1] if opened else self._descriptor))
            yield (opened[-1] if opened else self._descriptor), base
        finally:
            for descriptor in opened:
                os.close(descriptor)


@contextmanager
def opened(path: str) -> Iterator[Folder | None]:
    """Give a folder; None where it is not there, or it, or the one that it lies in, is a link."""
    try:
        around = os.open(str(Path(path).parent), _FOLDER)
    except OSError:
        yield None
        return
    try:
        descriptor = os.open(Path(path).name, _FOLDER, dir_fd=around)
    except OSError:
        yield None
        return
    finally:
        os.close(around)
    try:
        yield Folder(descriptor)
    finally:
        os.close(descriptor)
