"""Wires siftd into Codex: hooks in `hooks.json`, our tools in `config.toml`, both in its home.

Codex trusts an entry by its place and by its every byte, so ours is a group of its own behind all others, and its
command is the launcher's, which never changes.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.codex.home import codex_home
from siftd.clients.codex.trust import trust_of
from siftd.clients.installer import FilesInstaller
from siftd.errors import SiftdError
from siftd.finding import Finding
from siftd.install.edits import Edit, JsonFile, TomlFile
from siftd.install.files import read_file

_SECONDS = 5
_SECONDS_AT_AN_END = 3
"""Codex takes no more for a session's end, and warns at each start of what asks for more."""
_PRINTING = ("SessionStart", "UserPromptSubmit")
_QUIET = ("PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
EVENTS = (*_PRINTING, *_QUIET)
_TRUST = "start `codex` and choose to trust the new hooks: it runs none before"


class CodexInstaller(FilesInstaller):
    """For Codex CLI 0.169 and what shares its home."""

    client, title, programs = "codex", "Codex", ("codex",)
    next_step = _TRUST
    timeout_limits = {"SessionEnd": _SECONDS_AT_AN_END}  # noqa: RUF012 - the base says ClassVar

    def folders(self, where: Where) -> Iterable[str]:
        return [codex_home(where.environ, where.user_home)]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002 - never of a project
        hooks = {event: {"hooks": [self._handler(where, event)]} for event in EVENTS}
        edits: list[Edit] = [JsonFile(_hooks_file(where), hooks=hooks)]
        if server is not None:
            edits.append(TomlFile(_configuration(where), tables={("mcp_servers", "siftd"): server}))
        return edits

    def check(self, where: Where) -> Iterator[Finding]:
        yield from super().check(where)
        try:
            configuration = tomllib.loads((read_file(_configuration(where)) or b"").decode())
            hooks = json.loads(read_file(_hooks_file(where)) or b"{}")
        except (SiftdError, ValueError, RecursionError):
            return  # what does not parse is told by the above
        yield from _check_trust(_hooks_file(where), hooks, configuration)

    def _handler(self, where: Where, event: str) -> dict[str, Any]:
        return {
            "type": "command",
            "command": self.command(where, "quiet" if event in _QUIET else ""),
            "timeout": _SECONDS_AT_AN_END if event == "SessionEnd" else _SECONDS,
        }


def _check_trust(path: str, hooks: Any, configuration: Mapping[str, Any]) -> Iterator[Finding]:
    features = configuration.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        yield Finding("trust", "problem", "Codex's hooks are switched off", "`codex features enable hooks`")
        return
    entries = list(trust_of(path, hooks, configuration))
    for state, why in (
        ("new", "Codex was not asked yet whether it may run our hooks for"),
        ("changed", "Codex trusts other hooks than ours are now, for"),
        ("off", "Codex was told not to run our hooks for"),
    ):
        events = [each.event for each in entries if each.state == state]
        if events:
            yield Finding("trust", "problem", f"{why} {', '.join(events)}", f"{_TRUST} (`/hooks` shows them)")
    if entries and all(each.state == "trusted" for each in entries):
        yield Finding("trust", "ok", "Codex trusts our hooks")


def _hooks_file(where: Where) -> str:
    return f"{codex_home(where.environ, where.user_home)}/hooks.json"


def _configuration(where: Where) -> str:
    return f"{codex_home(where.environ, where.user_home)}/config.toml"
