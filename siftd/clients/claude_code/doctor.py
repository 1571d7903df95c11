"""What is wrong with the wiring, each with its remedy. Reads; changes nothing, and runs nothing.

A cloned project brings settings of its own: what they name is compared with what this siftd is, and told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from siftd.clients.claude_code.settings import EVENTS, Wiring, claude_folder, format_command, is_ours, parse_command
from siftd.clients.claude_code.settings_edit import list_handlers, scan_settings
from siftd.clients.client import Where
from siftd.errors import SiftdError
from siftd.finding import Finding
from siftd.install.files import read_file
from siftd.install.json_spans import BYTE_ORDER_MARK

MANAGED_SETTINGS = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
PLUGIN_NAME = "siftd"
REINSTALL = "run `mem install`"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and what to do about it."""

    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Settings:
    """What one settings file says that matters to us."""

    path: str
    is_managed: bool
    commands: Mapping[str, Sequence[str]]
    """Our hooks' commands by event."""
    are_hooks_off: bool
    are_only_managed_hooks_on: bool
    has_plugin: bool


def check_hooks(where: Where) -> Iterator[Finding]:
    """Yield what keeps the hooks from reaching this siftd, or that nothing does."""
    wiring = Wiring.of_this_installation()
    problems = check_wiring(wiring, where.workspace_root, where.environ, where.user_home)
    for problem in problems:
        yield Finding("hooks", "problem", problem.message, problem.remedy)
    if not problems:
        yield Finding("hooks", "ok", "Claude Code is wired to this siftd")


def check_wiring(
    wiring: Wiring,
    workspace_root: str,
    environ: Mapping[str, str],
    user_home: str,
    managed: Sequence[str] = MANAGED_SETTINGS,
) -> list[Problem]:
    """Return what keeps Claude Code's hooks from reaching this siftd, in the order to be mended; empty if nothing."""
    problems: list[Problem] = []
    files: list[_Settings] = []
    own = f"{claude_folder(environ, user_home)}/settings.json"
    project = [f"{workspace_root}/.claude/{name}" for name in ("settings.json", "settings.local.json")]
    for path in dict.fromkeys([own, *project, *managed]):
        try:
            files += _read_settings(path, is_managed=path in managed, follow=path == own or path in managed)
        except SiftdError as error:
            problems.append(Problem(f"{path}: {error.message}", error.hint or "correct it by hand"))
    return [*problems, *_check_switches(files), *_check_events(files), *_check_commands(files, wiring)]


def _read_settings(path: str, *, is_managed: bool, follow: bool) -> list[_Settings]:
    data = read_file(path, follow=follow)
    text = (data or b"").decode("utf-8", "replace")
    if not text.removeprefix(BYTE_ORDER_MARK).strip():
        return []
    values = scan_settings(text).value
    commands: dict[str, list[str]] = {}
    for event, handler in list_handlers(text):
        if is_ours(handler):
            commands.setdefault(event, []).append(handler["command"])
    plugins = values.get("enabledPlugins")
    has_plugin = isinstance(plugins, dict) and any(
        name.partition("@")[0] == PLUGIN_NAME and on for name, on in plugins.items()
    )
    return [
        _Settings(
            path,
            is_managed,
            commands,
            values.get("disableAllHooks") is True,
            is_managed and values.get("allowManagedHooksOnly") is True,
            has_plugin,
        )
    ]


def _check_switches(files: Sequence[_Settings]) -> Iterator[Problem]:
    for file in files:
        if file.are_hooks_off:
            yield Problem(f"{file.path} switches all hooks off", 'take "disableAllHooks" out of it')
        if file.are_only_managed_hooks_on:
            yield Problem(f"{file.path} allows managed hooks only", "ask who manages this machine to allow siftd's")


def _check_events(files: Sequence[_Settings]) -> Iterator[Problem]:
    has_plugin = any(file.has_plugin for file in files)
    wired = {event for file in files for event in file.commands}
    if not wired and not has_plugin:
        yield Problem("Claude Code is not wired to siftd: nothing is captured", REINSTALL)
        return
    missing = [event for event in EVENTS if event not in wired]
    if missing and not has_plugin:
        yield Problem(f"some hooks are missing: {', '.join(missing)}", REINSTALL)
    if wired and has_plugin:
        yield Problem("each hook runs twice, by the plugin and by the settings", "run `mem uninstall`, or remove one")
    # Equal commands in several files are run once by the client; different ones are all run.
    doubled = [
        event
        for event in EVENTS
        if len({command for file in files for command in file.commands.get(event, ())}) > 1
        or any(len(file.commands.get(event, ())) > 1 for file in files)
    ]
    if doubled:
        where = ", ".join(file.path for file in files if file.commands)
        yield Problem(f"hooks run more than once ({', '.join(doubled)}), by {where}", f"{REINSTALL} for each of them")


def _check_commands(files: Sequence[_Settings], wiring: Wiring) -> Iterator[Problem]:
    expected = format_command(wiring.python, wiring.hook)
    seen = {command: file.path for file in files for commands in file.commands.values() for command in commands}
    for command, path in seen.items():
        parsed = parse_command(command)
        if parsed is None:
            continue
        python, hook = parsed
        if not os.access(python, os.X_OK):
            yield Problem(f"{path} names an interpreter that is gone: {python}", REINSTALL)
        elif not Path(hook).is_file():
            yield Problem(f"{path} names a hook that is gone: {hook}", REINSTALL)
        elif python != wiring.python:  # whose it is, and how old, is not found out by running it
            yield Problem(f"{path} is wired to another interpreter: {python}", f"{REINSTALL} to use {wiring.python}")
        elif command != expected:
            yield Problem(f"{path} is wired to another siftd: {hook}", f"{REINSTALL} to use {wiring.hook}")
