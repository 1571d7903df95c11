"""The file calls of the log, at one seam so that tests can fail or record them."""

from __future__ import annotations

import fcntl
import os
import sys
from typing import Protocol


class LogFile(Protocol):
    """An append-only file."""

    def write(self, data: bytes) -> None:
        """Append all of `data`. Raises OSError; part of it may then be in the file."""
        ...

    def sync(self) -> None:
        """Return once everything written would survive a power cut."""
        ...

    def truncate(self, size: int) -> None: ...

    def close(self) -> None: ...


class RealLogFile:
    """A file of mode 0600 that is never followed through a link."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def sync(self) -> None:
        sync_data(self._descriptor)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        os.close(self._descriptor)


def sync_data(descriptor: int) -> None:
    """Push a file's data to the disk itself: `fdatasync`, on macOS `F_FULLFSYNC` (fsync there is not enough)."""
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def sync_folder(path: str) -> None:
    """Make a new name in folder `path` survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
