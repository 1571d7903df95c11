"""The files of a home that are not the log or the store: folders, the workspace's secret, the configuration.

Folders are 0700 and files 0600 whatever the umask says.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from siftd import config
from siftd.errors import ConfigInvalid, HomeUnusable
from siftd.paths import Home, WorkspacePaths

SECRET_BYTES = 32


def ensure_folder(path: str) -> None:
    """Make `path` and its missing parents, mode 0700. Raises HomeUnusable, naming what is in the way."""
    folder = Path(path)
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700, exist_ok=True)
            each.chmod(0o700)
    except OSError as error:
        raise HomeUnusable(
            f"the folder {path} cannot be made: {error.strerror}", hint="set SIFTD_HOME to a folder of your own"
        ) from error


def ensure_workspace(paths: WorkspacePaths) -> None:
    """Make every folder that a workspace needs, and refuse a home that somebody else could write to, or has.

    A link at a name of ours is refused too: whoever planted it chose where captures, or the secret, would go. Once
    these folders are ours alone, nobody else can plant one.
    """
    home = paths.home
    check_links(paths)
    for folder in (home.run, home.logs, paths.folder, paths.spool):
        ensure_folder(folder)
    check_owners(paths)


def check_owners(paths: WorkspacePaths) -> None:
    """Raise HomeUnusable unless every folder that is there is ours and nobody else may write to it."""
    home = paths.home
    for folder in (home.root, home.folder, home.run, home.logs, home.workspaces, paths.folder, paths.spool):
        if Path(folder).exists():
            check_owner(folder)


def check_links(paths: WorkspacePaths) -> None:
    """Raise HomeUnusable for a link at a name of ours. The home itself may be one, and so may config.json."""
    home = paths.home
    folders = (home.folder, home.run, home.logs, home.workspaces, paths.folder, paths.spool, paths.snapshots)
    files = (paths.socket, paths.lock, paths.start, paths.hold, paths.slow, paths.dropped, home.hook_failures)
    stored = (paths.secret, paths.wal, paths.daemon_log, paths.quarantine, paths.rebuild)
    database = (paths.database, f"{paths.database}-wal", f"{paths.database}-shm")
    for path in (*folders, *files, *stored, *database):
        if Path(path).is_symlink():
            raise HomeUnusable(f"{path} is a link, and siftd follows none", hint="move it away")


def check_owner(path: str) -> None:
    """Raise HomeUnusable unless `path` is ours and nobody else may write to it."""
    found = Path(path).stat()
    if found.st_uid != os.getuid():
        raise HomeUnusable(f"{path} belongs to another user", hint="set SIFTD_HOME to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise HomeUnusable(f"{path} can be written by others", hint=f"chmod 700 {path}")


def ensure_secret(paths: WorkspacePaths) -> bytes:
    """Return the workspace's secret, made at first use. Two processes that race get the same one."""
    secret = Path(paths.secret)
    if not secret.exists():
        fresh = Path(f"{paths.secret}.{os.getpid()}")
        write_private(fresh, secrets.token_bytes(SECRET_BYTES))
        try:
            os.link(fresh, secret)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return secret.read_bytes()


def read_api_key(path: str) -> str | None:
    """Return the API key in the file that the configuration names, which nobody else may read."""
    if not path:
        return None
    file = Path(path).expanduser()
    if file.stat().st_mode & 0o077:
        raise ConfigInvalid(f"{path} can be read by others", hint=f"chmod 600 {path}")
    return file.read_text(encoding="utf-8").strip()


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 and sync it. An existing file is replaced only once the new one is whole."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, and what was wrong with the file when they are not the file's."""

    settings: config.Settings
    problem: str | None = None
    flags: tuple[str, ...] = ()


def load_settings(home: Home, environ: Mapping[str, str], flags: Sequence[str] = ()) -> LoadedSettings:
    """Return the settings: flag over environment over file over default.

    A file that does not parse never stops anything: the last good one holds and `problem` says so. A wrong flag
    or environment variable raises ConfigInvalid.
    """
    values, problem = read_config(home)
    values |= config.parse_environment(environ)
    values |= config.parse_flags(flags)
    return LoadedSettings(config.Settings(values), problem, tuple(flags))


def read_config(home: Home) -> tuple[dict[str, object], str | None]:
    """Return what the configuration file sets, and what was wrong with it when the last good one holds instead."""
    good = Path(home.good_config)
    try:
        text = Path(home.config).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, None
    except (OSError, UnicodeDecodeError):
        return _read_good(good), f"{home.config} cannot be read; the last good configuration holds"
    try:
        values = config.parse_file(text)
    except ConfigInvalid as error:
        hint = f" ({error.hint})" if error.hint else ""
        return _read_good(good), f"{home.config}: {error.message}{hint}; the last good configuration holds"
    if not good.exists() or good.read_text(encoding="utf-8") != text:
        write_private(good, text.encode())
    return values, None


def _read_good(good: Path) -> dict[str, object]:
    try:
        return config.parse_file(good.read_text(encoding="utf-8"))
    except (OSError, ConfigInvalid, UnicodeDecodeError):
        return {}
