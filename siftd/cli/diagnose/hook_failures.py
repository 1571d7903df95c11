"""What hooks and couriers could not do before a daemon answered: read, told once, acknowledged.

They append to `<namespace>/logs/hooks.ndjson` (the form is in hooks/failure.py). `mem doctor` tells what is in it,
`mem doctor --ack` keeps the time in `hooks.seen`, and every other command says in one line that there is something
newer. Every command asks, so this imports next to nothing.
"""

from __future__ import annotations

import json
import os
import sys

from siftd.workspace.paths import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REMEDIES = {
    "DaemonNotStarted": "`mem start` says why it does not start",
    "PackageNotOurs": "reinstall siftd-memory: another package has taken its place",
    "NotKept": "make room on the disk; if there is room, reinstall siftd",
    "TooLate": "the agent did not finish its input within 2 s, or a folder did not answer; if it comes again, look at"
    " what starts the hook",
    "PermissionError": "the home must belong to you and be writable by nobody else: see `home` here",
    "FileNotFoundError": "set SIFTD_HOME to a folder that can be made",
    "NotADirectoryError": "set SIFTD_HOME to a folder that can be made",
    "KeyboardInterrupt": "nothing to mend: the agent was interrupted",
    "ImportError": "reinstall siftd: its hooks are not whole",
    "ModuleNotFoundError": "reinstall siftd: its hooks are not whole",
}
OTHER_REMEDY = "run `mem install` again; if it comes back, report it with this line"


class Failures:
    """Failures of one kind: how often, and when last."""

    __slots__ = ("count", "error", "hook", "last_ts")

    def __init__(self, hook: str, error: str) -> None:
        self.hook = hook
        self.error = error
        self.count = 0
        self.last_ts = 0

    @property
    def remedy(self) -> str:
        return REMEDIES.get(self.error, OTHER_REMEDY)


def has_unseen(home: Home) -> bool:
    """Whether something failed since the last acknowledgement."""
    try:
        failed_at = os.stat(home.hook_failures).st_mtime  # noqa: PTH116 - pathlib would cost 10 ms at every run
    except OSError:
        return False
    return failed_at * 1000 > _seen_ts(home)


def list_unseen(home: Home) -> list[Failures]:
    """Return the failures since the last acknowledgement by hook and class, the most frequent first."""
    seen_ts = _seen_ts(home)
    found: dict[tuple[str, str], Failures] = {}
    for line in _read_lines(f"{home.hook_failures}.1") + _read_lines(home.hook_failures):
        entry = _parse(line)
        if entry is None or entry["ts"] <= seen_ts:
            continue
        key = str(entry["hook"]), str(entry["error"])
        failures = found.setdefault(key, Failures(*key))
        failures.count += 1
        failures.last_ts = max(failures.last_ts, entry["ts"])
    return sorted(found.values(), key=lambda each: -each.count)


def acknowledge(home: Home, until_ms: int) -> None:
    """Tell nothing any more of what failed until then."""
    from pathlib import Path

    from siftd.workspace.home import ensure_folder, write_private

    ensure_folder(home.logs)
    write_private(Path(home.hook_failures_seen), b"%d\n" % until_ms)


def report_unseen(home: Home) -> None:
    """Say on standard error, in one line, that something failed."""
    if has_unseen(home):
        print("mem: hooks have failed; `mem doctor` says why, `mem doctor --ack` ends this line", file=sys.stderr)


def _seen_ts(home: Home) -> int:
    try:
        return int(b"".join(_read_lines(home.hook_failures_seen)))
    except ValueError:
        return 0


def _read_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return file.read().splitlines()
    except OSError:
        return []


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return what a line tells; None for half a line, or one that nobody of ours wrote."""
    try:
        entry = json.loads(line)
        is_ours = isinstance(entry["ts"], int) and isinstance(entry["hook"], str) and isinstance(entry["error"], str)
    except (ValueError, TypeError, KeyError):
        return None
    return entry if is_ours else None
