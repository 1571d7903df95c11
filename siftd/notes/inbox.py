"""The inbox: notes that anybody may drop for a project, as `.md` or `.txt`, without writing into the notes themselves.

A note is claimed by a rename before it is read, so that two syncs never take the same; it is removed only once the
notes that took it in are written. What a killed sync had claimed is taken by the next one.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from siftd.foreign_file import read
from siftd.notes.layout import Project
from siftd.notes.replacing import sync_folder

ENDINGS = (".md", ".txt")
NOTE_BYTES_MAX = 64 * 1024
"""A longer one is no note: it stays where it is, and `mem notes status` says so."""
NOTES_MAX = 100
"""Of one sync; the next takes more."""


class Dropped(NamedTuple):
    """A note that was claimed."""

    path: str
    """Where it is now."""
    text: str
    stamp: tuple[int, int]
    """Its size and time when it was read: one that was written on since is not removed."""


def list_unread(project: Project) -> list[str]:
    """Return the names of the notes that wait, the oldest first; what cannot be one is left out."""
    found = []
    with suppress(OSError), os.scandir(project.inbox) as entries:
        for entry in entries:
            if entry.name.endswith(ENDINGS) and not entry.name.startswith("."):
                seen = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(seen.st_mode) and seen.st_size <= NOTE_BYTES_MAX:
                    found.append((seen.st_mtime_ns, entry.name))
    return [name for _, name in sorted(found)]


def count_unread(project: Project) -> int:
    return len(list_unread(project))


def has_any(project: Project) -> bool:
    """Whether a note waits, or was claimed by a sync that was killed."""
    claimed = Path(project.claimed)
    return bool(list_unread(project)) or (claimed.is_dir() and any(claimed.iterdir()))


def claim(project: Project) -> list[Dropped]:
    """Claim what waits, with what a killed sync had claimed before; the oldest first."""
    unread = list_unread(project)
    claimed = Path(project.claimed)
    if unread:
        claimed.mkdir(mode=0o700, exist_ok=True)
    for name in unread[:NOTES_MAX]:
        if not (claimed / name).exists():  # else the one of that name first
            with suppress(OSError):
                os.rename(f"{project.inbox}/{name}", claimed / name)  # noqa: PTH104 - both are names, no more
    there = sorted(claimed.iterdir() if claimed.is_dir() and not claimed.is_symlink() else ())
    return [note for path in there if (note := look_at(str(path))) is not None]


def look_at(path: str) -> Dropped | None:
    """Read a note where it is; None for one that cannot be read."""
    try:
        data = read(path, NOTE_BYTES_MAX)
        seen = os.lstat(path)
    except OSError:
        return None
    return Dropped(path, data.decode("utf-8", "replace").strip(), (seen.st_size, seen.st_mtime_ns))


def remove(path: str, stamp: tuple[int, int], project: Project) -> None:
    """Remove a note that was taken in; one that was written on since goes back to the inbox."""
    with suppress(FileNotFoundError):
        seen = os.lstat(path)
        if (seen.st_size, seen.st_mtime_ns) == stamp:
            os.unlink(path)  # noqa: PTH108
        else:
            os.rename(path, f"{project.inbox}/{os.path.basename(path)}")  # noqa: PTH104, PTH119


def drop(project: Project, text: str, *, now_ms: int, ending: str = ".md") -> str:
    """Put a note into the inbox, whole; return its path. `text` is redacted by whoever drops it."""
    folder = Path(project.inbox)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    moment = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%S")
    path = folder / f"{moment}-{secrets.token_hex(4)}{ending}"
    fresh = folder / f".{path.name}.new"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.strip().encode("utf-8", "replace") + b"\n")
        file.flush()
        os.fsync(descriptor)
    fresh.rename(path)
    sync_folder(str(path))
    return str(path)
