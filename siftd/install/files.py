"""Files that are not ours, replaced whole or not at all.

A symbolic link (dotfiles are often kept elsewhere) stays one: what it leads to is replaced. Mode and owner stay.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from siftd import foreign_file
from siftd.errors import SiftdError


def read_file(path: str, *, follow: bool = True) -> bytes | None:
    """Return the bytes of the file at `path`; None if there is none. A file in a project, maybe a clone, is no link."""
    try:
        return foreign_file.read(path, foreign_file.SETTINGS_BYTES_MAX, follow=follow)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, "is a link" if error.errno == errno.ELOOP else "cannot be read", error) from error


def check_writable(path: str) -> None:
    """Raise SiftdError if the file at `path` is meant to be left alone, or its folder does not let it be replaced.

    The mode decides, also for root: a file without any write permission was made so on purpose, and files of a
    read-only store (Nix) look so too.
    """
    real = Path(os.path.realpath(path))
    if real.exists():
        if not real.is_file():
            raise SiftdError(f"{path} is not a file", hint="move it away and run the command again")
        if not real.stat().st_mode & 0o222 or not os.access(real, os.W_OK):
            raise SiftdError(f"{path} is read-only", hint="make it writable, or change it where it is generated from")
    folder = next(parent for parent in real.parents if parent.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SiftdError(f"{folder} is not writable, so {path} cannot be changed", hint="make the folder writable")


def replace_file(path: str, data: bytes, *, expected: bytes | None, mode: int = 0o666) -> None:
    """Replace the file at `path` by `data`, atomically and synced, or create it with `mode` less the umask.

    Raises SiftdError, the file as it was, when it no longer holds `expected` (None: no file) or cannot be written.
    """
    real = Path(os.path.realpath(path))
    temporary = real.with_name(f"{real.name}.siftd-{os.getpid()}")
    try:
        _write_new(temporary, data, mode)
        _take_over_owner(temporary, real)
        if read_file(path) != expected:
            raise SiftdError(f"{path} was changed by another program just now", hint="run the command again")
        temporary.replace(real)
    except OSError as error:
        raise _refused(path, "cannot be written", error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(real.parent)


def remove_file(path: str) -> None:
    """Remove what `path` leads to; a link to it is left, since it is not ours."""
    try:
        Path(os.path.realpath(path)).unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, "cannot be removed", error) from error


def list_missing_folders(path: str) -> list[str]:
    """Return the folders that the file at `path`, links followed, still needs; outermost first."""
    return [str(folder) for folder in reversed(Path(os.path.realpath(path)).parents) if not folder.exists()]


def make_folders(folders: list[str], *, mode: int = 0o777) -> None:
    """Create `folders`, outermost first."""
    for folder in folders:
        try:
            Path(folder).mkdir(mode=mode, exist_ok=True)
        except OSError as error:
            raise _refused(folder, "cannot be created", error) from error


def remove_empty_folders(folders: list[str]) -> list[str]:
    """Remove those of `folders` that are empty; return those that stay because they are not."""
    staying: list[str] = []
    for folder in sorted(folders, key=len, reverse=True):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            staying.insert(0, folder)
    return staying


def _write_new(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _take_over_owner(temporary: Path, real: Path) -> None:
    """Give the new file the mode and owner of the one it replaces, if there is one."""
    if not real.exists():
        return
    old, new = real.stat(), temporary.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(path: str, what: str, error: OSError) -> SiftdError:
    return SiftdError(f"{path} {what}: {os.strerror(error.errno or 0)}", hint="check the path and its permissions")
