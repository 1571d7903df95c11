"""Appending to the log's active segment, and sealing it when it is large."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from siftd.capture.admission import Redacted
from siftd.errors import DiskFull, LogBroken, LogError
from siftd.file_identity import identify
from siftd.log.files import LogFile, RealLogFile, sync_folder
from siftd.log.record import Record, encode, encode_segment, record_of
from siftd.log.sealing import seal_file
from siftd.log.segments import name_for_broken
from siftd.workspace.home import write_private

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
        secret: str | None = None,
        opener: Callable[[str], LogFile] = RealLogFile,
        seal_bytes: int | None = None,
    ) -> None:
        """Open the active segment for appending; it has been recovered before (`recovery.recover`). `secret` is the
        fingerprint that new segments name."""
        self._path = path
        self._store = store
        self._secret = secret
        self._now_ms = now_ms
        self._opener = opener
        self._seal_bytes = SEAL_BYTES if seal_bytes is None else seal_bytes
        self._size = Path(path).stat().st_size if Path(path).exists() else 0
        self._file: LogFile | None = opener(path)
        self._identity = identify(path)
        self._is_uncut = False
        """Whether the closed segment holds, behind its first `_size` bytes, what was refused."""
        if self._size == 0:
            self._put(b"")
            sync_folder(str(Path(path).parent))

    @property
    def size(self) -> int:
        """Bytes in the active segment that would survive a power cut."""
        return self._size

    @property
    def is_in_place(self) -> bool:
        """Whether the file under the segment's name is the one that is written, if any is, and as it was left: nobody
        deleted, replaced, cut or lengthened it."""
        if self._file is None:
            return True
        try:
            found = Path(self._path).stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity and found.st_size == self._size

    def append(self, entries: Iterable[Entry]) -> list[Record]:
        """Write one record for each entry and return them once they would survive a power cut.

        After a LogError nothing of them is kept, nor comes back at a later start: the segment has been cut back to its
        last good sync, and the cut synced, or nothing is appended behind it before that is done (`mend`). After
        DiskFull a later append may succeed. After LogBroken the segment is closed and no record of it synced again,
        because a kernel may drop the dirty pages of a failed sync and call the next one a success.
        """
        records = [record_of(entry.event, entry.seq, entry.uid) for entry in entries]
        self._put(b"".join(map(encode, records)))
        return records

    def seal(self) -> None:
        """Set the active segment aside under its sealed name; everything in it has been synced.

        The next write begins a new one. Where the name cannot be given, the segment is set aside like a broken one.
        Raises LogError where it still holds what was refused.
        """
        self.close()
        self.mend()
        with contextlib.suppress(OSError):
            seal_file(self._path)

    def mend(self) -> None:
        """Take out of the segment what was refused and could not be cut off at once. Raises LogError.

        Its good part is copied into a file of its own: whatever ails the old one, its bad block for instance, stays
        behind with it. Until a disk takes one or the other, nobody may read the segment as if all of it counted.
        """
        if not self._is_uncut:
            return
        active = Path(self._path)
        try:
            if identify(self._path) == self._identity:
                with active.open("rb") as file:
                    good = file.read(self._size)
                write_private(active, good)
                sync_folder(str(active.parent))
                self._identity = identify(self._path)
        except OSError as error:
            raise _refusal(error) from error
        self._is_uncut = False

    def close(self) -> None:
        """Close the segment. Everything appended is already safe."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _put(self, lines: bytes) -> None:
        """Write lines and sync them, or leave nothing of them."""
        if self._size >= self._seal_bytes and self._file is not None:
            self.seal()
        if self._file is None:
            self.mend()
            self._begin_new_segment()
        assert self._file is not None
        if self._size == 0:
            lines = encode_segment(self._store, self._now_ms, self._secret) + lines
        try:
            self._file.write(lines)
        except OSError as error:
            self._cut_back(self._file)
            raise _refusal(error) from error
        try:
            self._file.sync()
        except OSError as error:
            self._cut_back(self._file)
            self.close()
            raise LogBroken(f"the log cannot be synced: {error.strerror}", hint="see `mem doctor`") from error
        self._size += len(lines)

    def _cut_back(self, file: LogFile) -> None:
        """Take off again what is refused: a later start would replay it, and the kernel may yet bring it to the disk.

        The sync is for the cut. That it may be a lie about what an earlier one has lost does no harm: nothing but what
        was safe before is left, and the last page of that is written anew with the cut.
        """
        try:
            file.truncate(self._size)
            file.sync()
        except OSError:
            self.close()
            self._is_uncut = True
            with contextlib.suppress(LogError):
                self.mend()

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


def _refusal(error: OSError) -> LogError:
    if error.errno in _NO_SPACE:
        return DiskFull("the disk is full: the capture was refused", hint="free some space")
    return LogBroken(f"the log cannot be written: {error.strerror}", hint="see `mem doctor`")
