"""The lines of a transcript that may be growing: whole lines only, in bounded memory.

A client may keep sessions in files that are no lines (`siftd.clients.client.StoredSessions`): it makes lines of them,
which are counted here as a file's are.

What is read is what the file held when it was opened. A last line without its newline is still being written: it
waits for its rest, and a later backfill reads it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from siftd.clients.client import Client, StoredSessions
from siftd.file_identity import identify
from siftd.foreign_file import open_regular

LINE_BYTES_MAX = 32 * 1024 * 1024
"""A line beyond this is passed over. Twice the largest payload: a line tells a tool's answer twice."""


class FileChanged(OSError):
    """The file is not, or no longer, the one that was opened: what was read of it may not belong together."""

    def __init__(self) -> None:
        super().__init__(None, "it was cut, replaced or deleted while it was read")


def reason_of(error: OSError) -> str:
    """Return why, without the path."""
    return error.strerror or type(error).__name__


class Lines:
    """The whole lines of an open file, once."""

    def __init__(self, file: BinaryIO, path: str, *, start: int = 0) -> None:
        """`start` is where the file stands: a line begins there."""
        self._file = file
        self._path = path
        self._opened = os.fstat(file.fileno())
        self.done_bytes = start
        """How far the lines that were yielded, or passed over, reach."""
        self.longest = 0
        """Bytes of the longest line so far."""
        self.passed_over = 0
        """Lines that were too long."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield each line with its newline. Raises FileChanged, or OSError where the disk fails."""
        size = self._opened.st_size
        while (room := size - self.done_bytes) > 0:
            line = self._file.readline(min(room, LINE_BYTES_MAX))
            if line.endswith(b"\n"):
                self.done_bytes += len(line)
                self.longest = max(self.longest, len(line))
                yield line
            elif len(line) < LINE_BYTES_MAX or not self._pass_over(len(line), room):
                break
        self._check()

    def _pass_over(self, start: int, room: int) -> bool:
        """Go on behind a line that is too long; False when it has no end yet."""
        length = start
        while length < room:
            part = self._file.readline(min(room - length, 1 << 20))
            length += len(part)
            if not part:
                return False
            if part.endswith(b"\n"):
                self.done_bytes += length
                self.passed_over += 1
                return True
        return False

    def _check(self) -> None:
        now = os.fstat(self._file.fileno())
        is_same = identify(self._path) == identify(self._file.fileno())
        if now.st_size < self._opened.st_size or not is_same:
            raise FileChanged


class StoredLines:
    """The lines that a client makes of a session that it keeps otherwise, once."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self.done_bytes = 0
        """How many bytes the lines had that were yielded, or passed over."""
        self.longest = 0
        """Bytes of the longest line so far."""
        self.passed_over = 0
        """Lines that were too long."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield each line. Raises OSError."""
        for line in self._lines:
            self.done_bytes += len(line)
            if len(line) > LINE_BYTES_MAX:
                self.passed_over += 1
                continue
            self.longest = max(self.longest, len(line))
            yield line


@contextmanager
def open_lines(client: Client, path: str, key: str) -> Generator[Lines | StoredLines, None, None]:
    """Open a session of a client's, `key` in a file of several. Raises OSError."""
    if isinstance(client.files, StoredSessions):
        yield StoredLines(client.files.lines_of(path, key))
        return
    with open_regular(path) as file:
        yield Lines(file, path)
