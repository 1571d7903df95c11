"""A glance at a project's notes: how current they are, and what is open. For whoever begins to work there.

The files are anybody's to edit, and a cloned project may bring its own: nothing but a regular file of a reasonable
length is read, at its own place, and what cannot be read is not told. What is returned is the files' text as it stands:
whoever shows it redacts it and makes it harmless.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from siftd.foreign_file import read
from siftd.notes import document, last
from siftd.notes.inbox import ENDINGS
from siftd.notes.layout import NOTE_BYTES_MAX, Bookkeeping, Project

ITEMS_MAX = 8
LINE_CHARS_MAX = 2_000
"""Of an item: what is longer is no item, and a pattern of redaction would look through it for long."""
UNREAD_MAX = 99
"""Inbox notes that are counted."""
_OPEN = re.compile(r"[ \t]{0,12}[-*+] \[ \][ \t]+(\S.*)")


class Glance(NamedTuple):
    """What stands in the notes."""

    distilled_ts: int = 0
    """When a distil was written last; 0 for never."""
    trigger: str = ""
    updated: str | None = None
    """The date that the state has."""
    status: str | None = None
    items: tuple[str, ...] = ()
    """The first open ones of the list of what is to do."""
    open: int = 0
    """How many are open."""
    unread: int = 0
    """How many notes wait in the inbox; UNREAD_MAX for as many or more."""


Stamp = tuple[tuple[int, int, int] | None, ...]
"""Changes with the files."""


def stamp(project: Project, books: Bookkeeping) -> Stamp:
    """Return what changes when a glance would see something else. Opens nothing."""
    return tuple(map(_look, (project.file("state"), project.file("todo"), project.inbox, books.last)))


def glance(project: Project, books: Bookkeeping) -> Glance:
    """Look at the notes of a project. Nothing is raised: what cannot be read is as if it were not there."""
    if Path(project.folder).is_symlink() or (project.in_tree and os.path.realpath(project.folder) != project.folder):
        return Glance()  # the project would show what lies elsewhere
    head = document.parse(_text(project.file("state")))
    items = _open_items(_text(project.file("todo")))
    latest = last.load(books)
    return Glance(
        distilled_ts=latest.ts,
        trigger=latest.trigger,
        updated=head.value("last_updated"),
        status=head.value("status"),
        items=items[:ITEMS_MAX],
        open=len(items),
        unread=_unread(project),
    )


def _open_items(text: str) -> tuple[str, ...]:
    found = (_OPEN.fullmatch(line) for line in text.splitlines() if len(line) <= LINE_CHARS_MAX)
    return tuple(match[1].rstrip() for match in found if match is not None)


def _text(path: str) -> str:
    try:
        return read(path, NOTE_BYTES_MAX).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _unread(project: Project) -> int:
    try:
        descriptor = os.open(project.inbox, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        with os.scandir(descriptor) as entries:
            named = (each for each in entries if each.name.endswith(ENDINGS) and not each.name.startswith("."))
            notes = (each for each in named if each.is_file(follow_symlinks=False))
            return sum(1 for _, _ in zip(notes, range(UNREAD_MAX), strict=False))
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def _look(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
