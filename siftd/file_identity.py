"""Which file a name stands for now: whether somebody replaced, rotated or deleted the one that is held open."""

from __future__ import annotations

import os

FileIdentity = tuple[int, int]
"""Device and inode: no other file has the same while this one exists or is held open."""


def identify(path: str | int) -> FileIdentity | None:
    """Return the identity of the file under a path or an open descriptor; None where nothing can be found."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of a descriptor too
    except OSError:
        return None
    return found.st_dev, found.st_ino
