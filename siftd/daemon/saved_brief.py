"""The kept brief: what the first session of the morning is given, when no daemon runs yet.

`workspaces/<key>/brief` (0600) has a line with the ids in it, then the output as the default client wants it printed;
`brief.<client>` beside it the same for a client that wants it printed otherwise. They are made anew after each turn's
end and after each tick, and are not there while there is nothing to say.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from siftd.clients.registry import CLIENTS, DEFAULT
from siftd.workspace.paths import GLOBAL, WorkspacePaths


class SavedBrief:
    """The files of one workspace. They are replaced whole, and only when they change."""

    def __init__(self, paths: WorkspacePaths) -> None:
        self._paths = paths
        self._saved: bytes | None = None

    def put(self, ids: Sequence[str], text: str, notice: str) -> None:
        """Keep what a session's start is given; no text leaves no file."""
        if not text:
            remove(self._paths)
            self._saved = None
            return
        given = " ".join(ids).encode() + b"\n"
        forms = {
            name: given + msgspec.json.encode(client.printed("start", text, notice))
            for name, client in CLIENTS.items()
            if "start" in client.moments
        }
        usual = forms.pop(DEFAULT)
        if usual == self._saved and Path(self._paths.brief).exists():
            return
        remove(self._paths)
        for name, data in forms.items():
            if data != usual:
                _write(Path(f"{self._paths.brief}.{name}"), data)
        _write(Path(self._paths.brief), usual)
        self._saved = usual


def remove(paths: WorkspacePaths) -> None:
    """Remove the files, whoever has made them."""
    for each in Path(paths.folder).glob("brief.*"):
        each.unlink(missing_ok=True)
    Path(paths.brief).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    fresh.rename(path)


def drop_briefs_that_quote(paths: WorkspacePaths) -> None:
    """Remove the kept briefs that may quote a memory which changed: those of every project, if it was for all of them.

    Each is made again by its own daemon.
    """
    if paths.key == GLOBAL:
        for brief in Path(paths.home.workspaces).glob("*/brief*"):
            brief.unlink(missing_ok=True)
