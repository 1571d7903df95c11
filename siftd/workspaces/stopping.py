"""Ending a workspace's daemon in good order, for a moment or for good."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siftd.errors import DaemonTimedOut, DaemonUnreachable
from siftd.wire.asking import Stop
from siftd.wire.client import connect
from siftd.workspace.home import ensure_folder
from siftd.workspace.paths import WorkspacePaths

STOP_SECONDS = 10.0
"""How long a daemon may take to finish what is in flight."""
_POLL_SECONDS = 0.02


def end_borrowed(paths: WorkspacePaths) -> None:
    """End a daemon that was started for one question; any hook or command starts the next one."""
    with suppress(DaemonUnreachable, DaemonTimedOut), connect(paths) as client:
        client.request(Stop(hold=False), timeout=STOP_SECONDS)
        _wait_for_end(paths)


def stop_until(paths: WorkspacePaths, is_over: Callable[[], bool]) -> None:
    """End a daemon that runs, for the next one; `is_over` says that it has come meanwhile. Raises DaemonTimedOut."""
    try:
        with connect(paths) as client:
            client.request(Stop(hold=False), timeout=STOP_SECONDS)
    except DaemonUnreachable:
        return
    _wait_for_end(paths, is_over)


def stop_and_hold(paths: WorkspacePaths) -> bool:
    """End the workspace's daemon and hold it down; return whether one ran. Raises DaemonTimedOut if it stays."""
    try:
        client = connect(paths)
    except DaemonUnreachable:
        ensure_folder(paths.home.run)
        Path(paths.hold).touch(mode=0o600)
        return False
    with client:
        try:
            client.request(Stop(hold=True), timeout=STOP_SECONDS)
        except DaemonUnreachable:
            Path(paths.hold).touch(mode=0o600)  # it ended before it could
    _wait_for_end(paths)
    return True


def _wait_for_end(paths: WorkspacePaths, is_over: Callable[[], bool] = lambda: False) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while Path(paths.socket).exists() and not is_over():
        if time.monotonic() > deadline:
            raise DaemonTimedOut(f"the daemon has not ended within {STOP_SECONDS:g} s", hint="see `mem logs`")
        time.sleep(_POLL_SECONDS)
