"""What the files of notes hold, for the index of a workspace: read where they changed, redacted, split into entries.

A file is known to be unchanged by size, time and inode, then by its hash. The four files and the newest
ARCHIVES_MAX of the archive are read; the inbox is not: what waits there is no note yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from siftd.notes.entries import Entry, said, split
from siftd.notes.files import FILES, Folder, opened
from siftd.notes.layout import Project
from siftd.store import notes
from siftd.store.access import Database
from siftd.store.notes import NotesEntry, NotesFile

ARCHIVES_MAX = 60
"""Files of the archive that are found by a search. Five years."""
ENTRIES_MAX = 5_000
"""Of one file: ten times what the budgets leave room for."""
TEXT_CHARS_MAX = 4_000
"""Of one entry; `mem show` reads the file itself."""

Redact = Callable[[str], str]
IsGone = Callable[[str], bool]
"""Whether what an entry says is still to be taken out of its file."""


class Changes(NamedTuple):
    """What is to be written into the index."""

    put: list[tuple[NotesFile, list[NotesEntry] | None]]
    """Files with their entries; None: they are as before."""
    gone: list[tuple[str, str]]
    """Projects and files."""

    def __bool__(self) -> bool:
        return bool(self.put or self.gone)


def look(named: dict[str, Project], known: Iterable[NotesFile], redact: Redact, is_gone: IsGone) -> Changes:
    """Return what changed since `known` was read."""
    before = {(each.project, each.file): each for each in known}
    changes = Changes([], [])
    there: set[tuple[str, str]] = set()
    for name, project in named.items():
        with opened(project.folder) as folder:
            for file in folder.notes()[: len(FILES) + ARCHIVES_MAX] if folder else ():
                assert folder is not None
                if _look_at(folder, name, file, before.get((name, file)), changes, redact, is_gone):
                    there.add((name, file))
    changes.gone.extend(sorted(before.keys() - there))
    return changes


def write(connection: Database, changes: Changes) -> None:
    """Write the changes into the index. For one transaction."""
    for project, file in changes.gone:
        notes.drop_file(connection, project, file)
    for each, entries in changes.put:
        notes.put_file(connection, each, entries)


def _look_at(
    folder: Folder,
    project: str,
    file: str,
    before: NotesFile | None,
    changes: Changes,
    redact: Redact,
    is_gone: IsGone,
) -> bool:
    """Add what changed of a file; return whether it can be notes at all."""
    stamp = folder.stamp(file)
    if stamp is None:
        return False
    if before is not None and stamp == (before.size, before.mtime_ns, before.inode):
        return True
    try:
        data = folder.find(file)
    except OSError:
        return False
    if data is None:
        return False
    sha256 = hashlib.sha256(data).hexdigest()
    is_same = before is not None and before.sha256 == sha256
    found = NotesFile(project, file, *stamp, sha256)
    text = data.decode("utf-8", "replace")
    changes.put.append((found, None if is_same else clean_entries(text, redact, is_gone)))
    return True


def clean_entries(text: str, redact: Redact, is_gone: IsGone = lambda _: False) -> list[NotesEntry]:
    """Return the entries of a file as they may be kept, each with the line at which it stands.

    The text is redacted whole: what gives a secret away may stand in another entry. A placeholder may take the place of
    several lines; then the entries are those of the clean text, at the lines of the text as it is.
    """
    raw = split(text)
    clean_text = redact(text)
    clean = raw if clean_text == text else split(clean_text)
    if len(clean) != len(raw):
        clean = [_alone(each, redact) for each in raw]
    return [
        NotesEntry(at.line, each.heading, each.text[:TEXT_CHARS_MAX])
        for at, each in zip(raw, clean, strict=True)
        if each.kind == "entry" and any(map(str.isalnum, each.text)) and not is_gone(said(at))
    ][:ENTRIES_MAX]


def _alone(entry: Entry, redact: Redact) -> Entry:
    return Entry(entry.begin, entry.end, entry.kind, redact(entry.heading), redact(entry.text), entry.goes_to)
