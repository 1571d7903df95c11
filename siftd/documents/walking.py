"""The documents below a folder that somebody names, in the order of their paths, and what was left out with its reason.

    ignored       by the project's ignore files
    vendored      a folder that others wrote, or that programs keep for themselves
    secret        a file that is there to hold secrets
    generated     made from other files
    link          never followed: what it leads to has a place of its own, or is not in the folder
    special       a pipe, a device, a socket
    too large     more than `FILE_BYTES_MAX`
    unreadable    the system does not let it be read

What is binary, empty or broken shows only when it is read (`siftd.documents.reading`). One folder's names are held at a
time, with those of the folders above it. No entry is waited for and no link is followed, so that a walk ends.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from siftd.documents.ignore_files import IgnoreFiles
from siftd.documents.private_files import is_generated, is_secret, is_secret_folder, is_vendored

FILE_BYTES_MAX = 32 * 1024 * 1024
"""Of a file that is read at all; what text it makes has a limit of its own."""
DEPTH_MAX = 128
ENTRIES_MAX = 100_000
"""Of one folder, for its names are sorted in memory."""


class Found(NamedTuple):
    """A file that may be a document."""

    path: str
    size: int


class Skipped(NamedTuple):
    """What is left out."""

    path: str
    reason: str


def walk(folder: str) -> Iterator[Found | Skipped]:
    """Yield what is in a folder, each file once. The folder itself may be a link: a person named it."""
    root = os.path.realpath(folder)
    ignoring = IgnoreFiles(root)
    folders = [(root, root)]
    while folders:
        here, parent = folders.pop()
        if here != root:
            ignoring.enter(here, parent)
        inside: list[tuple[str, str]] = []
        for entry in _entries(here):
            if isinstance(entry, Skipped):
                yield entry
                continue
            seen = _look_at(entry, here, ignoring)
            if seen is not None:
                yield seen
            elif here.count(os.sep) - root.count(os.sep) >= DEPTH_MAX:
                yield Skipped(entry.path, "too deep")
            else:
                inside.append((entry.path, here))
        folders += reversed(inside)


def _entries(folder: str) -> Iterator[os.DirEntry[str] | Skipped]:
    try:
        with os.scandir(folder) as entries:
            names = []
            for entry in entries:
                names.append(entry)
                if len(names) > ENTRIES_MAX:
                    yield Skipped(folder, "too many files")
                    return
    except OSError:
        yield Skipped(folder, "unreadable")
        return
    yield from sorted(names, key=lambda entry: entry.name)


def _look_at(entry: os.DirEntry[str], folder: str, ignoring: IgnoreFiles) -> Found | Skipped | None:
    """Return what an entry is, or None for a folder to go into."""
    reason = ""
    try:
        if entry.is_symlink():
            return Skipped(entry.path, "link")
        status = entry.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            reason = "special"
        elif is_folder and (is_vendored(entry.name) or os.path.lexists(os.path.join(entry.path, "pyvenv.cfg"))):  # noqa: PTH118
            reason = "vendored"
        elif is_secret_folder(entry.name) if is_folder else is_secret(entry.name):
            reason = "secret"
        elif ignoring.is_ignored(folder, entry.name, is_folder=is_folder):
            reason = "ignored"
        elif is_folder:
            return None
        elif is_generated(entry.name):
            reason = "generated"
        elif status.st_size > FILE_BYTES_MAX:
            reason = "too large"
        elif not status.st_size:
            reason = "empty"
    except OSError:
        reason = "unreadable"
    return Skipped(entry.path, reason) if reason else Found(entry.path, status.st_size)
