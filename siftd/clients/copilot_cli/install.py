"""Wires siftd into Copilot: a hook file of our own in the folder that Copilot CLI and VS Code both read, and our tools
in its list of servers.

The events have the names of Claude Code: Copilot then says in each input which event it is, and VS Code knows no
others. What may decide about a call (`preToolUse`, `permissionRequest`) is never asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.copilot_cli.facts import CLIENT
from siftd.clients.copilot_cli.home import copilot_home
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import Edit, JsonFile

_SECONDS = 5
_PRINTING = ("SessionStart", "UserPromptSubmit", "PostToolUseFailure")
_QUIET = ("PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
EVENTS = (*_PRINTING, *_QUIET)


class CopilotInstaller(FilesInstaller):
    """For Copilot CLI from version 1.0.71 on, and VS Code's agent."""

    client, title, programs = CLIENT, "GitHub Copilot CLI", ("copilot",)

    def folders(self, where: Where) -> Iterable[str]:
        return [copilot_home(where.environ, where.user_home)]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002 - never of a project
        home = copilot_home(where.environ, where.user_home)
        hooks = {
            event: {
                "type": "command",
                "command": self.command(where, "quiet" if event in _QUIET else ""),
                "timeout": _SECONDS,
            }
            for event in EVENTS
        }
        edits = [JsonFile(f"{home}/hooks/siftd.json", hooks=hooks, base={"version": 1})]
        if server is not None:
            entry = {"type": "local", "tools": ["*"]} | {
                key: server[key] for key in ("command", "args", "env") if key in server
            }
            edits.append(JsonFile(f"{home}/mcp-config.json", members={("mcpServers", "siftd"): entry}, holds_keys=True))
        return edits
