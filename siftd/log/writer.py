"""Appending to the log's active segment, and sealing it when it is large."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from siftd.admission import Redacted
from siftd.errors import DiskFull, LogBroken
from siftd.file_identity import identify
from siftd.log.files import LogFile, RealLogFile, sync_folder
from siftd.log.record import Record, encode, encode_segment, record_of
from siftd.log.sealing import seal_file
from siftd.log.segments import name_for_broken

SEAL_BYTES = 16 * 1024 * 1024
"""From this size on the active segment is sealed. Arbitrary: what is read again at a start after a crash."""
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a record is made of: a redacted event, its seq and its final uid."""

    event: Redacted
    seq: int
    uid: str | None


class LogWriter:
    """The one writer of a log. Not for several threads."""

    def __init__(
        self,
        path: str,
        *,
        store: str,
        now_ms: int,
        opener: Callable[[str], LogFile] = RealLogFile,
        seal_bytes: int | None = None,
    ) -> None:
        """Open the active segment for appending; it has been recovered before (`recovery.recover`)."""
        self._path = path
        self._store = store
        self._now_ms = now_ms
        self._opener = opener
        self._seal_bytes = SEAL_BYTES if seal_bytes is None else seal_bytes
        self._size = Path(path).stat().st_size if Path(path).exists() else 0
        self._file: LogFile | None = opener(path)
        self._identity = identify(path)
        if self._size == 0:
            self._write(b"")
            self._sync()
            sync_folder(str(Path(path).parent))

    @property
    def size(self) -> int:
        """Bytes in the active segment."""
        return self._size

    @property
    def is_in_place(self) -> bool:
        """Whether the file under the segment's name is the one that is written, if any is: nobody deleted it."""
        return self._file is None or identify(self._path) == self._identity

    def append(self, entries: Iterable[Entry]) -> list[Record]:
        """Write one record for each entry and return them once they would survive a power cut.

        After DiskFull nothing of them is kept: the partial lines have been cut off again, or the segment is closed
        behind them, and a later append may succeed. After LogBroken the segment is closed and never synced again: what
        it holds beyond its last good sync is unknown, because a kernel may drop the dirty pages of a failed sync and
        call the next one a success.
        """
        records = [record_of(entry.event, entry.seq, entry.uid) for entry in entries]
        self._write(b"".join(map(encode, records)))
        self._sync()
        return records

    def _sync(self) -> None:
        assert self._file is not None
        try:
            self._file.sync()
        except OSError as error:
            self.close()
            raise LogBroken(f"the log cannot be synced: {error.strerror}", hint="see `mem doctor`") from error

    def seal(self) -> None:
        """Set the active segment aside under its sealed name; everything in it has been synced.

        The next write begins a new one. Where the name cannot be given, the segment is set aside like a broken one.
        """
        self.close()
        with contextlib.suppress(OSError):
            seal_file(self._path)

    def close(self) -> None:
        """Close the segment. Everything appended is already safe."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, lines: bytes) -> None:
        if self._size >= self._seal_bytes and self._file is not None:
            self.seal()
        if self._file is None:
            self._begin_new_segment()
        assert self._file is not None
        if self._size == 0:
            lines = encode_segment(self._store, self._now_ms) + lines
        try:
            self._file.write(lines)
        except OSError as error:
            self._cut_off(self._file)
            if error.errno in _NO_SPACE:
                raise DiskFull("the disk is full: the capture was refused", hint="free some space") from error
            raise LogBroken(f"the log cannot be written: {error.strerror}", hint="see `mem doctor`") from error
        self._size += len(lines)

    def _cut_off(self, file: LogFile) -> None:
        """Take a half-written line off again: what came behind it would be read as part of it."""
        try:
            file.truncate(self._size)
        except OSError:
            self.close()

    def _begin_new_segment(self) -> None:
        """Set the closed segment aside under a name that replay reads, and go on in a fresh file."""
        active = Path(self._path)
        try:
            if active.exists() and active.stat().st_size:
                active.rename(name_for_broken(active))
            self._file = self._opener(self._path)
            self._identity = identify(self._path)
            self._size = 0
            sync_folder(str(active.parent))
        except OSError as error:
            self.close()
            raise LogBroken(f"no new segment can be begun: {error.strerror}", hint="see `mem doctor`") from error
