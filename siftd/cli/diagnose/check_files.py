"""What `mem doctor` looks at itself: the interpreter, the home, the wiring, the database file."""

from __future__ import annotations

import fcntl
import os
import platform
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import siftd
from siftd.cli.context import Context
from siftd.cli.diagnose.hook_failures import list_unseen
from siftd.cli.output import count, format_time
from siftd.errors import HomeUnusable, StoreError
from siftd.finding import Finding
from siftd.install.installation import find_others, find_recorded
from siftd.log.recovery import iter_records
from siftd.store import sqlite_checks
from siftd.store.access import SQLITE_VERSION, DatabaseError
from siftd.store.connection import open_reader
from siftd.store.log_diff import count_differing
from siftd.workspace.home import check_links, check_owners, load_settings

VARIABLES = ("SIFTD_HOME", "SIFTD_NS", "SIFTD_WORKSPACE", "SIFTD_OFF", "SIFTD_BACKEND")


def check_python() -> Iterator[Finding]:
    missing = sqlite_checks.find_missing()
    if missing:
        yield Finding("python", "problem", missing, "install siftd under a Python with a newer SQLite")
    else:
        yield Finding("python", "ok", f"Python {platform.python_version()}, SQLite {SQLITE_VERSION}")


def check_home(context: Context) -> Iterator[Finding]:
    folder = context.home.folder
    if not Path(folder).exists():
        yield Finding("home", "note", f"{folder} is not made yet", "the first capture or `mem start` makes it")
        return
    try:
        check_links(context.paths)
        check_owners(context.paths)
        if Path(context.home.run).exists():
            _probe(context.home.run)
    except HomeUnusable as error:
        yield Finding("home", "problem", error.message, error.hint)
        return
    readable = [path for path in _private_paths(context) if path.exists() and path.stat().st_mode & 0o077]
    for path in readable:
        yield Finding("home", "problem", f"{path} is open to others", f"chmod go= {path}")
    if not readable:
        yield Finding("home", "ok", folder)


def check_config(context: Context) -> Iterator[Finding]:
    for name in sorted(context.environ):
        if name.startswith("SIFTD_") and name not in VARIABLES:
            message = f"{name} in the environment decides nothing"
            yield Finding("config", "note", message, f"write the setting into {context.home.config}")
    problem = load_settings(context.home).problem
    if problem:
        yield Finding("config", "problem", problem, f"correct {context.home.config}")
    else:
        yield Finding("config", "ok", "every setting is valid")


def check_shell(context: Context) -> Iterator[Finding]:
    if context.environ.get("SIFTD_OFF") == "1":
        yield Finding("hooks", "note", "SIFTD_OFF=1 switches capture off in this shell", "unset SIFTD_OFF")


def check_path(context: Context) -> Iterator[Finding]:
    """Tell which other `siftd` the plugin or a shell would find: the name is another project's on the package index."""
    recorded = find_recorded(context.home)
    if recorded not in (None, (sys.executable, str(Path(siftd.__file__).parent))):
        message = f"the plugin is to run another siftd: {' -I '.join(recorded or ())}"
        yield Finding("path", "note", message, "`mem install --plugin` here, if it should be this one")
    for program, is_ours in find_others(context.environ.get("PATH", "")):
        if is_ours:
            yield Finding("path", "note", f"{program} is another installation of siftd", "keep one of them")
        else:
            message = f"{program} is another program of that name; nothing of siftd's runs it"
            yield Finding("path", "note", message, "where it comes first, `siftd` in a shell is not ours; `mem` is")


def check_failures(context: Context) -> Iterator[Finding]:
    """What hooks and couriers could not do before a daemon answered."""
    for each in list_unseen(context.home):
        message = f"{each.hook} failed {count(each.count, 'time')} ({each.error}), last {format_time(each.last_ts)}"
        yield Finding("hooks", "problem", message, f"{each.remedy}; then `mem doctor --ack`")


def check_database(context: Context) -> Iterator[Finding]:
    path = context.paths.database
    if not Path(path).exists():
        yield Finding("database", "note", "there is none yet", "the first capture or `mem start` makes it")
    else:
        yield from _check_integrity(path, context.paths.wal)


def _private_paths(context: Context) -> list[Path]:
    paths = context.paths
    folders = (context.home.folder, context.home.run, context.home.workspaces, context.home.logs, paths.folder)
    return [Path(path) for path in (*folders, paths.secret, paths.database, paths.wal, paths.socket)]


def _probe(run: str) -> None:
    """Make a lock and a socket in `run`, as the daemon does, and take them away again."""
    back = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    names = [f"doctor-{os.getpid()}.{suffix}" for suffix in ("lock", "sock")]
    try:
        os.chdir(run)
        descriptor = os.open(names[0], os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(names[1])
    except OSError as error:
        raise HomeUnusable(
            f"{run} cannot hold sockets and locks ({error.strerror})", hint="set SIFTD_HOME to a folder on a local disk"
        ) from error
    finally:
        for name in names:
            Path(name).unlink(missing_ok=True)
        os.fchdir(back)
        os.close(back)


def _check_integrity(path: str, wal: str) -> Iterator[Finding]:
    remedy = "it is set aside and rebuilt from the log at the next start: `mem stop`, then `mem start`"
    try:
        connection = open_reader(path)
    except StoreError as error:
        yield Finding("database", "problem", error.message, error.hint)
        return
    try:
        if not sqlite_checks.is_whole(connection):
            yield Finding("database", "problem", "the database is damaged", remedy)
        elif differing := count_differing(connection, iter_records(wal)):
            message = f"{count(differing, 'event')} changed since the log was written: by hand, or by a failing disk"
            yield Finding("database", "problem", message, "`mem rebuild` builds them again from the log")
        else:
            yield Finding("database", "ok", path)
    except DatabaseError:
        yield Finding("database", "problem", "the database is damaged", remedy)
    finally:
        connection.close()
