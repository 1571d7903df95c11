"""Starting a workspace's daemon on behalf of a person or an agent, and leaving it down while `mem stop` holds.

`<key>.start` is the start lock (flock) and the back-off that couriers keep: empty, or one line
`<failures> <ms since the epoch> <reason>`. Who asks here has a reason, so the back-off is not waited for; a failure
is added to it all the same, and the daemon empties it once it is ready.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from siftd.errors import DaemonTimedOut, DaemonUnreachable, HomeUnusable
from siftd.resources import entry_point
from siftd.wire.asking import Hello
from siftd.wire.client import Client, connect
from siftd.wire.environment import of_daemon
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import WorkspacePaths

START_SECONDS = 15.0
"""How long a start is waited for that shows no sign of work."""
START_MAX_SECONDS = 600.0
"""How long one that does: replaying a long log, or making a database anew, writes files there all the while."""
ALREADY_RUNNING_STATUS = 5
POLL_SECONDS = 0.02
RESPAWN_SECONDS = 0.25
"""Rest before another attempt when a daemon held the lock: it may be on its way out."""

_REASON_CHARS = 300


def ensure_daemon(paths: WorkspacePaths, folder: str, environ: Mapping[str, str]) -> Client:
    """Return a client of the workspace's daemon, started if need be; two callers start one.

    Raises DaemonUnreachable with the reason when it cannot be started or `mem stop` holds.
    """
    try:
        return connect(paths)
    except DaemonUnreachable:
        check_not_held(paths)
    lock = _open_lock(paths)
    try:
        return _start(paths, folder, environ, lock)
    finally:
        os.close(lock)


def check_not_held(paths: WorkspacePaths) -> None:
    """Raise DaemonUnreachable while `mem stop` holds the daemon down."""
    if Path(paths.hold).exists():
        raise DaemonUnreachable("stopped by `mem stop`", hint="run `mem start`")


def note_failure(paths: WorkspacePaths, reason: str) -> None:
    """Add a daemon's own end to the back-off, unless whoever started it still watches and will do so."""
    with suppress(DaemonUnreachable):
        lock = _open_lock(paths)
        try:
            if _is_locked_by_us(lock):
                _keep_reason(lock, reason)
        finally:
            os.close(lock)


def _open_lock(paths: WorkspacePaths) -> int:
    try:
        ensure_workspace(paths)
        return os.open(paths.start, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except HomeUnusable as error:
        raise DaemonUnreachable(error.message, hint=error.hint) from error
    except OSError as error:
        raise DaemonUnreachable(f"{paths.start} cannot be made ({error.strerror})", hint="see `mem doctor`") from error


def _start(paths: WorkspacePaths, folder: str, environ: Mapping[str, str], lock: int) -> Client:
    deadline = time.monotonic() + START_SECONDS
    last = time.monotonic() + START_MAX_SECONDS
    daemon: subprocess.Popen[bytes] | None = None
    spawn_at = 0.0
    while True:
        client = _find_ready(paths, deadline)
        if time.monotonic() > deadline and is_working(paths):
            deadline = min(time.monotonic() + START_SECONDS, last)
        is_late = time.monotonic() > deadline
        if daemon is not None and (client is not None or is_late):
            _let_go(daemon)
        if client is not None:
            return client
        if is_late:
            raise DaemonUnreachable(
                f"the daemon is not ready after {START_SECONDS:g} s", hint="`mem logs` shows what it does"
            )
        if daemon is None:
            if time.monotonic() >= spawn_at and _is_locked_by_us(lock):
                daemon = _spawn(paths, folder, environ)
        elif daemon.poll() is not None:
            reason = _reason(daemon)
            if daemon.returncode != ALREADY_RUNNING_STATUS:
                _keep_reason(lock, f"ended with status {daemon.returncode}: {reason}")
                raise DaemonUnreachable(f"the daemon did not start: {reason}", hint="see `mem doctor`")
            # Another one is just coming up or just going down.
            daemon, spawn_at = None, time.monotonic() + RESPAWN_SECONDS
        time.sleep(POLL_SECONDS)


def is_working(paths: WorkspacePaths) -> bool:
    """Whether a file of the workspace was written lately: a daemon that takes long to start is at it."""
    since = time.time() - START_SECONDS
    with suppress(OSError):
        return any(each.stat().st_mtime > since for each in Path(paths.folder).iterdir())
    return False


def _find_ready(paths: WorkspacePaths, deadline: float) -> Client | None:
    """Return a client once the daemon says hello: before that its socket only queues, and it may still end."""
    try:
        client = connect(paths)
    except (DaemonUnreachable, DaemonTimedOut):
        return None
    try:
        client.request(Hello(), timeout=max(deadline - time.monotonic(), POLL_SECONDS))
    except (DaemonUnreachable, DaemonTimedOut):
        client.close()
        return None
    return client


def _is_locked_by_us(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _spawn(paths: WorkspacePaths, folder: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", entry_point(), "run", "--detached", "--folder", folder],
        cwd="/",
        env=of_daemon(environ) | {"SIFTD_HOME": paths.home.root, "SIFTD_NS": paths.home.namespace},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        umask=0o077,
    )


def _let_go(daemon: subprocess.Popen[bytes]) -> None:
    assert daemon.stderr is not None
    daemon.stderr.close()
    daemon.returncode = 0  # it outlives us, which is the point: Popen would warn of it


def _reason(daemon: subprocess.Popen[bytes]) -> str:
    """Return the last line that a daemon which ended has said."""
    assert daemon.stderr is not None
    with daemon.stderr:
        said = daemon.stderr.read().decode("utf-8", "replace").strip()
    return said.rpartition("\n")[2][:_REASON_CHARS] or f"it ended with status {daemon.returncode}"


def _keep_reason(lock: int, reason: str) -> None:
    failures = os.pread(lock, 4096, 0).split(b" ", 1)[0]
    count = int(failures) + 1 if failures.isdigit() else 1
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{count} {int(time.time() * 1000)} {reason}\n".encode("utf-8", "replace"), 0)
