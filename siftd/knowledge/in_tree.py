"""A snapshot in the work tree, where a person asked for one there: to be committed, and read by whoever clones it.

It is without the cited ids of this memory, which mean nothing elsewhere. What has been written there is the project's:
forgetting does not reach it.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from siftd.errors import RequestInvalid
from siftd.knowledge.format import encode
from siftd.knowledge.model import Snapshot

NAME = "knowledge.json"


def checked(root: str, tree: str, home: str) -> Path:
    """Return the folder `.siftd` or `.forge` of a work tree. Raises RequestInvalid where nothing of ours may be put."""
    folder = Path(root, f".{tree}")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()) or (folder / NAME).is_symlink():
        raise RequestInvalid(f"{folder} is a link, or no folder, and siftd follows none", hint="move it away")
    if os.path.realpath(folder) == os.path.realpath(home):
        raise RequestInvalid(f"{folder} is siftd's own home", hint="choose `--in-tree forge`")
    return folder


def write(root: str, tree: str, snapshot: Snapshot, home: str) -> str:
    """Write the snapshot into the work tree, whole or not at all; return where. Raises RequestInvalid."""
    folder = checked(root, tree, home)
    target = folder / NAME
    fresh = folder / f".{NAME}.{os.getpid()}.new"
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode(_without_ids(snapshot)))
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise RequestInvalid(f"{target} cannot be written: {error.strerror}", hint="build without --in-tree") from error
    return str(target)


def _without_ids(snapshot: Snapshot) -> Snapshot:
    commands = (
        msgspec.structs.replace(each, evidence=tuple(shown for shown in each.evidence if ":" in shown))
        for each in snapshot.commands
    )
    return msgspec.structs.replace(snapshot, commands=tuple(commands))
