"""The package on disk, watched by the daemon that was started from it.

A daemon imports some of its modules late. After an upgrade they would be of another version than those that run, and
what comes of that nobody can say. So a module that is imported late has to be the file that was there at the start;
else the import is refused, and the daemon ends in good order, once the files have come to rest: whoever starts the next
one finds the new version whole. Until somebody needs such a module the old daemon goes on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

import structlog

import siftd
from siftd.errors import PackageChanged

log = structlog.get_logger()

REST_SECONDS = 2.0
"""The files have come to rest when nothing of them has changed for so long. Arbitrary: pip takes about a second."""
RESTS_MAX = 10
"""A package that goes on changing is not waited for any longer."""

Found = tuple[int, int, int]


class UpgradeGuard:
    """The modules of siftd as they were when this was made. A finder of modules that finds none, and refuses some."""

    def __init__(self, folder: str = os.path.dirname(siftd.__file__)) -> None:  # noqa: PTH120 - a few ms of each start
        self._folder = folder
        self._found = self._survey()
        self._has_refused = False
        self._on_refusal: Callable[[], object] = bool

    def guard(self) -> None:
        """Let every import of this process pass here, from now on."""
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - importlib's
        """Leave every import to the others. Raises PackageChanged for a module of ours that is not what it was."""
        if name.startswith("siftd.") and not self._is_as_found(name):
            self._has_refused = True
            self._on_refusal()
            raise PackageChanged(
                "siftd was upgraded while its daemon ran, which ends now", hint="run the command again in some seconds"
            )

    async def watch(self, end: Callable[[], object]) -> None:
        """`end` the daemon once an import was refused and the files have come to rest."""
        loop = asyncio.get_running_loop()
        refused = asyncio.Event()
        self._on_refusal = lambda: loop.call_soon_threadsafe(refused.set)
        if not self._has_refused:
            await refused.wait()
        self._on_refusal = bool
        before = None
        for _ in range(RESTS_MAX):
            if before == (before := self._survey()):
                break
            await asyncio.sleep(REST_SECONDS)
        log.info("package_changed")
        end()

    def _is_as_found(self, name: str) -> bool:
        module = name.replace(".", "/").partition("/")[2]
        candidates = f"{module}.py", f"{module}/__init__.py"
        return any(each in self._found and _look(f"{self._folder}/{each}") == self._found[each] for each in candidates)

    def _survey(self) -> dict[str, Found | None]:
        """Return what there is of each module, by its path in the package. A start waits for it: 2 ms."""
        found = {}
        for folder, folders, files in os.walk(self._folder):
            folders[:] = [each for each in folders if each != "__pycache__"]
            for path in (f"{folder}/{each}" for each in files if each.endswith(".py")):
                found[path[len(self._folder) + 1 :]] = _look(path)
        return found


def _look(path: str) -> Found | None:
    """Return what changes when a file is written anew or replaced; None when it is gone."""
    try:
        found = os.stat(path)  # noqa: PTH116 - pathlib takes three times as long
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
