"""Wires Antigravity: a named set of hooks in `config/hooks.json`, and the server of our tools beside it.

`PreToolUse` is never asked for: an answer without a decision denies the call. The file that older versions read,
`antigravity-cli/hooks.json`, is a link to this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siftd.clients.antigravity.facts import CLIENT
from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import Edit, JsonFile

TIMEOUT_SECONDS = 5


class AntigravityInstaller(FilesInstaller):
    """Antigravity's configuration, of a person."""

    client = CLIENT
    title = "Antigravity"
    programs = ("agy", "antigravity")

    def folders(self, where: Where) -> Sequence[str]:
        names = ("antigravity", "antigravity-cli", "antigravity-ide")
        return [f"{where.user_home}/.gemini/{name}" for name in names]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        folder = f"{where.user_home}/.gemini/config"
        quiet = {"type": "command", "command": self.command(where, "quiet"), "timeout": TIMEOUT_SECONDS}
        hooks = {
            "PreInvocation": quiet | {"command": self.command(where)},
            "PostToolUse": {"matcher": "*", "hooks": [quiet]},
            "Stop": quiet,
        }
        edits: list[Edit] = [JsonFile(f"{folder}/hooks.json", hooks, under=("siftd",))]
        if server is not None:
            servers: dict[tuple[str, ...], Mapping[str, Any]] = {("mcpServers", "siftd"): server}
            edits.append(JsonFile(f"{folder}/mcp_config.json", members=servers, holds_keys=True))
        return edits
