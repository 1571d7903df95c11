"""The files of a home that are not the log or the store: folders, the configuration.

Folders are 0700 and files 0600 whatever the umask says.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from siftd import config
from siftd.errors import ConfigInvalid, HomeUnusable
from siftd.foreign_file import open_regular, read
from siftd.workspace.paths import Home, WorkspacePaths

KEY_BYTES_MAX = 64 * 1024
CONFIG_BYTES_MAX = 1024 * 1024


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
    check_owners(paths)  # before anything is made: what root makes in a user's home, its user cannot use
    for folder in (home.run, home.logs, paths.folder, paths.spool):
        ensure_folder(folder)
    check_owners(paths)
    _make_count(paths.dropped)


def _make_count(path: str) -> None:
    """Make the file beforehand: a disk without a free inode takes no new one, but a few bytes in one that is there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def check_owners(paths: WorkspacePaths) -> None:
    """Raise HomeUnusable unless every folder that is there is ours and nobody else may write to it."""
    home = paths.home
    for folder in (home.root, home.folder, home.run, home.logs, home.workspaces, paths.folder, paths.spool):
        try:
            is_there = Path(folder).exists()
        except PermissionError as error:
            raise HomeUnusable(
                f"{folder} cannot be entered: {error.strerror}", hint=f"`ls -ld {home.root}` tells whose it is"
            ) from error
        if is_there:
            check_owner(folder)


def check_links(paths: WorkspacePaths) -> None:
    """Raise HomeUnusable for a link at a name of ours. The home itself may be one, and so may config.json."""
    home = paths.home
    folders = (home.folder, home.run, home.logs, home.workspaces, paths.folder, paths.spool, paths.snapshots)
    files = (paths.socket, paths.lock, paths.start, paths.hold, paths.slow, paths.dropped, home.hook_failures)
    stored = (paths.secret, paths.secret_copy, paths.wal, paths.daemon_log, paths.quarantine, paths.knowledge)
    marks = (paths.rebuild, paths.new_secret)
    databases = [f"{each}{end}" for each in (paths.database, paths.team_replica) for end in ("", "-wal", "-shm")]
    for path in (*folders, *files, *stored, *marks, *databases, paths.team_token):
        if Path(path).is_symlink():
            raise HomeUnusable(f"{path} is a link, and siftd follows none", hint="move it away")


def check_owner(path: str) -> None:
    """Raise HomeUnusable unless `path` is ours and nobody else may write to it."""
    found = Path(path).stat()
    if found.st_uid != os.getuid():
        raise HomeUnusable(f"{path} belongs to another user", hint="set SIFTD_HOME to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise HomeUnusable(f"{path} can be written by others", hint=f"chmod 700 {path}")


def check_apart(home: Home, *folders: str) -> None:
    """Raise HomeUnusable when the home lies in a folder that its daemon would serve.

    A cloned project could bring one along, with a configuration that runs something, and name it in its settings.
    Where the user's own home folder is the project, or lies in it, there is nothing cloned to fear.
    """
    root, own = os.path.realpath(home.root), _user_folder()
    for folder in map(os.path.realpath, folders):
        if _is_below(root, folder) and not _is_below(own, folder):
            raise HomeUnusable(f"the home {home.root} lies in the project itself", hint="set SIFTD_HOME to another")


def login_name() -> str:
    """Return the user's name as the system knows it, whatever USER says; empty for one it does not know."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def _user_folder() -> str:
    """Return the user's home folder as the system knows it, whatever HOME says."""
    try:
        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return ""


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def read_api_key(path: str) -> str | None:
    """Return the API key in the file that the configuration names, which nobody else may read."""
    if not path:
        return None
    with open_regular(str(Path(path).expanduser()), follow=True) as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise ConfigInvalid(f"{path} can be read by others", hint=f"chmod 600 {path}")
        return file.read(KEY_BYTES_MAX).decode().strip()


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


def load_settings(home: Home, flags: Sequence[str] = ()) -> LoadedSettings:
    """Return the settings: flag over file over default.

    A file that does not parse never stops anything: the last good one holds and `problem` says so. A wrong flag
    raises ConfigInvalid.
    """
    values, problem = read_config(home)
    values |= config.parse_flags(flags)
    return LoadedSettings(config.Settings.of(values), problem, tuple(flags))


def read_config(home: Home) -> tuple[dict[str, object], str | None]:
    """Return what the configuration file sets, and what was wrong with it when the last good one holds instead."""
    good = Path(home.good_config)
    try:
        text = read(home.config, CONFIG_BYTES_MAX, follow=True).decode()
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
