"""The snapshot in a workspace's folder: one file, replaced whole, and only when it changes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from siftd.errors import KnowledgeUnreadable, RequestInvalid
from siftd.foreign_file import read
from siftd.knowledge.format import BYTES_MAX, decode, encode
from siftd.knowledge.model import Snapshot
from siftd.workspace.home import write_private


def find(path: str) -> Snapshot | None:
    """Return the snapshot in a file, None where there is no file. Raises KnowledgeUnreadable for what is none."""
    try:
        return decode(read(path, BYTES_MAX))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KnowledgeUnreadable(
            f"the snapshot cannot be read: {error.strerror}", hint="`mem knowledge build` makes one"
        ) from error


def find_readable(path: str) -> Snapshot | None:
    """Return the snapshot in a file; None also where there is another thing."""
    with suppress(KnowledgeUnreadable):
        return find(path)
    return None


def put(path: str, snapshot: Snapshot) -> bool:
    """Write a snapshot of mode 0600; return whether the file changed. Raises RequestInvalid for one that is too large,
    OSError when it cannot be written."""
    data = encode(snapshot)
    if len(data) > BYTES_MAX:
        raise RequestInvalid("the snapshot is larger than 2 MiB", hint="name a smaller folder with --workspace")
    with suppress(OSError):
        if read(path, BYTES_MAX) == data:
            return False
    write_private(Path(path), data)
    return True
