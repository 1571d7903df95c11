"""`.siftd/config.json` in a project: numbers for its searches (`siftd.ranking_config`), read again when the file
changes.

It comes with a repository, so it is read with care: a regular file of at most 64 KiB, no link; a key that is unknown
or wrong is passed over and told, and decides nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from siftd import foreign_file
from siftd.errors import RequestInvalid
from siftd.ranking_config import checked

NAME = ".siftd/config.json"
BYTES_MAX = 64 * 1024


class ProjectFile:
    """The file of the project at `root`. Used from one thread at a time."""

    def __init__(self, root: str) -> None:
        self._path = Path(root) / NAME
        self._seen: tuple[int, int, int] | None = None
        self._values: dict[str, float] = {}
        self._problem: str | None = None

    def read(self) -> tuple[dict[str, float], str | None]:
        """Return the numbers in it, and what is wrong with it (None: nothing)."""
        try:
            found = self._path.lstat()
        except OSError:
            self._seen, self._values, self._problem = None, {}, None
            return {}, None
        seen = found.st_ino, found.st_mtime_ns, found.st_size
        if seen != self._seen:
            self._seen = seen
            self._values, self._problem = self._parse()
        return self._values, self._problem

    def _parse(self) -> tuple[dict[str, float], str | None]:
        try:
            document = json.loads(foreign_file.read(str(self._path), BYTES_MAX))
        except (OSError, ValueError, RecursionError):
            return {}, f"{self._path} cannot be read as JSON; it decides nothing"
        if not isinstance(document, dict):
            return {}, f"{self._path} is no JSON object; it decides nothing"
        values: dict[str, float] = {}
        problem = None
        for name, value in document.items():
            try:
                values[name] = checked(name, value)
            except RequestInvalid as error:
                problem = problem or f"{self._path}: {error.message}; that key is passed over"
        return values, problem
