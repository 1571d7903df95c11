"""What siftd writes for Claude Code: a hook for each event, the slash command `/mem`, and its tools' MCP server.

A hook's command ends with status 0 whatever is missing: exit status 2 would block the agent, and that is what Python
itself exits with when the script is gone. Interpreter and script are absolute; the interpreter is the environment's
own, its symlink not followed, since the environment is what makes siftd importable.
"""

from __future__ import annotations

import json
import re
import secrets
import shlex
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import siftd
from siftd.clients.claude_code.facts import CLIENT
from siftd.clients.claude_code.servers_edit import Entry
from siftd.clients.claude_code.settings_edit import Handler
from siftd.clients.client import Where
from siftd.install.launcher import quote_path

EVENTS = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
)

TIMEOUT_SECONDS = 5
"""A hook takes milliseconds and gives up by itself after two seconds; without this the client would wait 600 s. At a
session's end it *raises* the client's 1.5 s."""

HOOK_SCRIPT = "hooks/hook.py"
_SCRIPTS = (HOOK_SCRIPT, "hooks/claude_code.py")
"""By which a command is known as ours: the second is what the script was called before it served every client."""

COMMAND_MARK = "# Written by `mem install`, which keeps it up to date. Take this line out to keep changes of your own."


@dataclass(frozen=True, slots=True)
class Wiring:
    """The absolute paths that one installation of siftd is run by."""

    python: str
    hook: str
    mem: str
    server: Entry | None = None
    """How the agent starts our tools; None: it is given none."""

    @property
    def guard(self) -> str:
        """The script of the guard, beside the hook."""
        return f"{self.hook.rpartition('/')[0]}/guard.py"

    @classmethod
    def of_this_installation(cls, server: Entry | None = None) -> Wiring:
        """Return the paths of the siftd that is running."""
        package = Path(siftd.__file__).parent
        in_wheel, in_checkout = package / "_data" / HOOK_SCRIPT, package.parent / HOOK_SCRIPT
        hook = in_wheel if in_wheel.exists() else in_checkout
        return cls(sys.executable, str(hook), str(Path(sysconfig.get_path("scripts"), "mem")), server)


@dataclass(frozen=True, slots=True)
class Target:
    """The files of one scope."""

    settings: str
    slash_command: str
    servers: str
    """The client's own file, where MCP servers are registered for a person."""
    project: str | None = None
    """The folder that the settings have to be in, for a project's: one may come with a link that leads elsewhere."""

    @classmethod
    def for_user(cls, environ: Mapping[str, str], user_home: str) -> Target:
        folder = claude_folder(environ, user_home)
        return cls(f"{folder}/settings.json", f"{folder}/commands/mem.md", servers_file(environ, user_home))

    @classmethod
    def for_project(cls, workspace_root: str, environ: Mapping[str, str], user_home: str) -> Target:
        """The project's private settings are the only file we write in a work tree; the rest stays with the person."""
        folder = claude_folder(environ, user_home)
        settings = f"{workspace_root}/.claude/settings.local.json"
        return cls(settings, f"{folder}/commands/mem.md", servers_file(environ, user_home), workspace_root)


def target_of(where: Where, *, is_project: bool) -> Target:
    """Return the files that the chosen scope means."""
    if is_project:
        return Target.for_project(where.workspace_root, where.environ, where.user_home)
    return Target.for_user(where.environ, where.user_home)


def claude_folder(environ: Mapping[str, str], user_home: str) -> str:
    """Return where Claude Code keeps what is the user's."""
    return environ.get("CLAUDE_CONFIG_DIR") or f"{user_home}/.claude"


def servers_file(environ: Mapping[str, str], user_home: str) -> str:
    """Return the file in which Claude Code registers a person's MCP servers."""
    return f"{environ.get('CLAUDE_CONFIG_DIR') or user_home}/.claude.json"


def hooks_for(wiring: Wiring) -> dict[str, Handler]:
    """Return our handler for each event."""
    command = format_command(wiring.python, wiring.hook)
    return {event: {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS} for event in EVENTS}


def format_command(python: str, hook: str) -> str:
    """Return the shell command of a hook. Raises SiftdError for a path that no settings file can hold."""
    p, h = quote_path(python), quote_path(hook)
    return f"test -x {p} && test -r {h} && exec {p} -I -S {h} {CLIENT}; exit 0"


def parse_command(command: str, scripts: Sequence[str] = _SCRIPTS) -> tuple[str, str] | None:
    """Return (interpreter, script) of a command that runs one of `scripts`, from whatever path; None for any other."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    for python, *flags, hook in zip(words, words[1:], words[2:], words[3:], strict=False):
        if flags == ["-I", "-S"] and hook.endswith(tuple(f"/{script}" for script in scripts)):
            return python, hook
    return None


def is_ours(handler: Handler) -> bool:
    """Whether a handler in a settings file runs our hook script."""
    command = handler.get("command")
    return isinstance(command, str) and parse_command(command) is not None


def format_slash_command(mem: str, current: str | None) -> str:
    """Return the text of commands/mem.md. `current` is ours as it stands, if there is one: its delimiter is kept.

    The client puts the typed text in place of $ARGUMENTS *before* a shell reads it, and escapes nothing. In a
    here-document with a quoted delimiter the shell reads nothing out of it either; the delimiter is random, so no
    pasted text can end it; and no other command than this one is permitted.
    """
    found = _DELIMITER.search(current or "")
    delimiter = found.group() if found else f"MEM_{secrets.token_hex(8)}"
    # A JSON string is a YAML string, whatever the path holds. The client knows no way to write a bracket in a rule:
    # under a path with one it refuses `/mem` and runs nothing.
    rule = json.dumps(f"Bash({quote_path(mem)} slash:*)", ensure_ascii=False)
    return _SLASH_COMMAND.format(mark=COMMAND_MARK, rule=rule, mem=quote_path(mem), delimiter=delimiter)


def is_our_slash_command(text: str) -> bool:
    """Whether commands/mem.md is the one that we wrote."""
    return COMMAND_MARK in text.splitlines()


_DELIMITER = re.compile(r"\bMEM_[0-9a-f]{16}\b")

_SLASH_COMMAND = """\
---
{mark}
description: siftd, the memory of this workspace (drain, info, backfill, search, brief, remember, forget)
argument-hint: drain [N] | info | backfill | search WORDS | brief | remember WORDS | forget ID
allowed-tools: {rule}
disable-model-invocation: true
---
```!
{mem} slash <<'{delimiter}'
$ARGUMENTS
{delimiter}
```

Above is what the person's own command printed. Show it as it is; add nothing unless it says that something is wrong.
"""
