"""A timer of launchd: a property list in ~/Library/LaunchAgents. macOS only.

launchd has neither a rest after the start of the machine nor a jitter: it counts half an hour from the login, and puts
off what is of the background while the machine has better to do.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

from siftd.install.edits import OWN_MARK, OwnFile
from siftd.notes.timers.order import EVERY_MINUTES, NICE, Order
from siftd.notes.timers.programs import has_program, run_program

TRIES = 5
REST_SECONDS = 0.2
MODE = 0o644
"""launchd passes over a file that others may write to."""


def file(order: Order, user_home: str) -> OwnFile:
    """Return the property list."""
    return OwnFile(f"{user_home}/Library/LaunchAgents/{order.name}.plist", _text(order), mode=MODE)


def settings(order: Order) -> dict[str, Any]:
    """Return what launchd is told."""
    return {
        "Label": order.name,
        "ProgramArguments": list(order.argv),
        "EnvironmentVariables": dict(order.environment),
        "StartInterval": EVERY_MINUTES * 60,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": NICE,
        "Umask": 0o077,
    }


def named_paths(text: str) -> list[str]:
    """Return the files that a property list needs to be there."""
    try:
        words = plistlib.loads(text.encode())["ProgramArguments"]
        return [word for word in words if word.startswith("/")]
    except (plistlib.InvalidFileException, ValueError, LookupError, TypeError, AttributeError, SyntaxError):
        return []


def enable(order: Order, path: str, environ: Mapping[str, str], *, is_changed: bool) -> str | None:
    """Have launchd run it from now on; return what a person still has to do, if that fails."""
    by_hand = f"launchctl bootstrap {_domain()} {shlex.quote(path)}"
    if not has_program("launchctl", environ):
        return f"no launchd runs here: `{by_hand}` where one does"
    if is_enabled(order, environ):
        if not is_changed:
            return None
        _launchctl(["bootout", f"{_domain()}/{order.name}"], environ)
    for _ in range(TRIES):  # it lets go of the older one only after it has said so
        if _launchctl(["bootstrap", _domain(), path], environ):
            return None
        time.sleep(REST_SECONDS)
    return f"`{by_hand}` failed: the timer is written, and runs from your next login on"


def is_enabled(order: Order, environ: Mapping[str, str]) -> bool:
    """Whether launchd has it loaded."""
    return has_program("launchctl", environ) and _launchctl(["print", f"{_domain()}/{order.name}"], environ)


def disable(name: str, environ: Mapping[str, str]) -> None:
    """Have launchd let go of a timer."""
    if has_program("launchctl", environ):
        _launchctl(["bootout", f"{_domain()}/{name}"], environ)


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _launchctl(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    try:
        return run_program(["launchctl", *arguments], environ).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _text(order: Order) -> str:
    head, line_break, rest = plistlib.dumps(settings(order), sort_keys=False).decode().partition("\n")
    return f"{head}{line_break}<!-- {OWN_MARK} -->\n{rest}"
