"""The guard as the client's settings hold it: one hook, before the tools that edit files (`hooks/guard.py`).

It is there only because a person asked for it (`mem install --guard-auto-memory`). Another `mem install` leaves it, and
keeps its paths up to date; `mem uninstall` takes it out with the rest.
"""

from __future__ import annotations

from siftd.clients.claude_code.settings import TIMEOUT_SECONDS, Wiring, parse_command
from siftd.clients.claude_code.settings_edit import Handler, add_hooks, list_handlers
from siftd.install.launcher import quote_path

EVENT = "PreToolUse"
MATCHER = "Edit|Write|MultiEdit|NotebookEdit"
SCRIPTS = ("hooks/guard.py",)
"""By which a command is known as the guard."""


def add_guard(text: str, wiring: Wiring) -> str:
    """Return the settings with the guard in them, its paths up to date. Raises SettingsUnreadable."""
    handler = {"type": "command", "command": format_guard(wiring), "timeout": TIMEOUT_SECONDS}
    return add_hooks(text, {EVENT: handler}, is_guard, matcher=MATCHER)


def has_guard(text: str) -> bool:
    """Whether the settings hold the guard, of whichever siftd. Raises SettingsUnreadable."""
    return any(is_guard(handler) for _, handler in list_handlers(text))


def is_guard(handler: Handler) -> bool:
    """Whether a handler in a settings file runs the guard."""
    command = handler.get("command")
    return isinstance(command, str) and parse_command(command, SCRIPTS) is not None


def format_guard(wiring: Wiring) -> str:
    """Return the guard's shell command. Raises SiftdError for a path that no settings file can hold."""
    p, g = quote_path(wiring.python), quote_path(wiring.guard)
    return f"test -x {p} && test -r {g} && exec {p} -I -S {g}; exit 0"
