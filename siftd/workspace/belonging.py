"""Whether the folder that a hook names is one of a workspace: asked by a daemon before it tells or takes anything.

Hooks find the workspace by themselves (`siftd.workspace.identity`), and an old copy of one may follow what this one
does not. So the folder is asked about once more here. What was found is held for a while: hooks come at every tool
call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Literal

from siftd.workspace.identity import find_workspace

Whose = Literal["ours", "another's", "nobody's"]
"""A folder that is gone is nobody's, unless it was within one of ours: nothing there can be asked any more."""

HELD_SECONDS = 30.0
HELD_MAX = 256
"""Folders; then all are asked about anew."""
PATH_BYTES_MAX = 4096
"""What is longer is no path of Linux or macOS, and would be walked up for long."""


class Belonging:
    """Knows whose a folder is. Safe to use from several threads."""

    def __init__(self, key: str, now_seconds: Callable[[], float] = time.monotonic) -> None:
        self._key = key
        self._now = now_seconds
        self.held: dict[str, tuple[float, Whose]] = {}

    def whose(self, folder: str) -> Whose:
        """Return whose a folder is, as it was at most half a minute ago."""
        now = self._now()
        held = self.held.get(folder)
        if held is not None and now - held[0] < HELD_SECONDS:
            return held[1]
        if len(self.held) >= HELD_MAX:
            self.held = {}
        found = self._find(folder)
        self.held[folder] = now, found
        return found

    def _find(self, folder: str) -> Whose:
        try:
            if len(os.fsencode(folder)) > PATH_BYTES_MAX or "\0" in folder:
                return "nobody's"
            if find_workspace(folder).key == self._key:
                return "ours"
        except (OSError, ValueError):
            return "nobody's"
        return "another's" if os.path.isdir(folder) else "nobody's"  # noqa: PTH112 - a text, on the hot path
