"""Writing over a file that a person may be editing: only what was read is replaced, anything else stays.

The new text is written beside the file and synced; then the two change places in one step, and what was displaced is
compared with what was read. Where it is another text, the two change back: the person's edit wins. An editor that had
the file open may write into what was displaced even later, so it is looked at once more before it is removed.

Linux changes two names at once by renameat2(2), macOS by renamex_np(2). Where neither works (another system, a file
system that cannot) the file is compared and then renamed over, with a window of some microseconds.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from siftd.foreign_file import read
from siftd.notes.layout import NOTE_BYTES_MAX

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
ARCHIVE_BYTES_MAX = 64 * NOTE_BYTES_MAX


class EditedMeanwhile(Exception):
    """The file holds something else than what was read; it was left as it is."""


class Replacement:
    """One file that was written. `settle` ends it."""

    def __init__(self, path: str, before: str | None, displaced: str | None) -> None:
        self.path = path
        self._before = before
        self._displaced = displaced

    def settle(self) -> bool:
        """Remove what was displaced; False, and it is in its place again, where somebody wrote into it meanwhile."""
        if self._displaced is None:
            return True
        if digest_of(read_note(self._displaced)) == self._before:
            Path(self._displaced).unlink(missing_ok=True)
            sync_folder(self.path)
            return True
        Path(self._displaced).replace(self.path)
        sync_folder(self.path)
        return False


def digest_of(data: bytes | None) -> str | None:
    """Return the hash by which is named what a file holds; None for one that is not there."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def left_by_killed(path: str, before: str | None) -> Replacement:
    """Return the replacement of a file that a killed sync had written already, to be settled."""
    fresh = _fresh(path)
    is_there = before is not None and os.path.lexists(fresh)
    return Replacement(path, before, fresh if is_there else None)


def read_note(path: str) -> bytes | None:
    """Return what a file of notes holds; None where there is none.

    Raises OSError for a link, for what is no regular file, and for what is far too long to be notes.
    """
    try:
        return read(path, ARCHIVE_BYTES_MAX)
    except FileNotFoundError:
        return None


def replace(path: str, before: bytes | None, after: bytes, *, mode: int) -> Replacement:
    """Write `after` over a file that holds `before` (None: that is not there). Raises EditedMeanwhile, or OSError."""
    if read_note(path) != before:
        raise EditedMeanwhile
    fresh = _fresh(path)
    _write(fresh, after, mode if before is None else stat.S_IMODE(os.lstat(path).st_mode))
    try:
        if before is None:
            _put_in_place(fresh, path)
            displaced = None
        else:
            displaced = _exchange_places(fresh, path, before)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
    sync_folder(path)
    return Replacement(path, digest_of(before), displaced)


def _fresh(path: str) -> str:
    return f"{os.path.dirname(path)}/.{os.path.basename(path)}.siftd"  # noqa: PTH119, PTH120 - names alone


def _put_in_place(fresh: str, path: str) -> None:
    """Give a file its name, which nobody else has taken meanwhile."""
    try:
        os.link(fresh, path, follow_symlinks=False)
    except FileExistsError:
        raise EditedMeanwhile from None
    except OSError:  # a file system without hard links
        if Path(path).exists() or Path(path).is_symlink():
            raise EditedMeanwhile from None
        Path(fresh).replace(path)
        return
    Path(fresh).unlink()


def _exchange_places(fresh: str, path: str, before: bytes) -> str | None:
    try:
        _exchange()(fresh, path)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise
        if read_note(path) != before:
            raise EditedMeanwhile from None
        Path(fresh).replace(path)
        return None
    if read_note(fresh) != before:
        _exchange()(fresh, path)
        raise EditedMeanwhile
    return fresh


@cache
def _exchange() -> Callable[[str, str], None]:
    """Return what changes two names in one step; it raises OSError (ENOSYS) where the system has no such call."""
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(status: int) -> None:
        if status != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        return lambda one, other: checked(libc.renamex_np(os.fsencode(one), os.fsencode(other), _RENAME_SWAP))
    if hasattr(libc, "renameat2"):
        return lambda one, other: checked(
            libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
        )

    def unknown(one: str, other: str) -> None:
        raise OSError(errno.ENOSYS, "two names cannot change places here", one, None, other)

    return unknown


def _write(path: str, data: bytes, mode: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - what a killed sync left
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def sync_folder(path: str) -> None:
    """Make a change of names in a file's folder last."""
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # noqa: PTH120
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
