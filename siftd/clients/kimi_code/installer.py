"""Wires Kimi Code: rows of `[[hooks]]` in `config.toml`, and the server of our tools in `mcp.json`.

Only what the hook of prompts prints reaches the agent, as it stands; every other hook is quiet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.clients.kimi_code.facts import CLIENT, PROMPT
from siftd.clients.kimi_code.files import home_of
from siftd.install.edits import Edit, JsonFile, TomlFile

EVENTS: dict[str, Literal["", "quiet"]] = {
    "SessionStart": "quiet",
    PROMPT: "",
    "PostToolUse": "quiet",
    "PostToolUseFailure": "quiet",
    "PreCompact": "quiet",
    "SessionEnd": "quiet",
}
TIMEOUT_SECONDS = 5


class KimiCodeInstaller(FilesInstaller):
    """Kimi Code's configuration, of a person."""

    client = CLIENT
    title = "Kimi Code"
    programs = ("kimi",)

    def folders(self, where: Where) -> Sequence[str]:
        return [home_of(where.environ, where.user_home)]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        home = home_of(where.environ, where.user_home)
        rows = [
            {"event": event, "command": self.command(where, how), "timeout": TIMEOUT_SECONDS}
            for event, how in EVENTS.items()
        ]
        edits: list[Edit] = [TomlFile(f"{home}/config.toml", rows={("hooks",): rows})]
        if server is not None:
            servers: dict[tuple[str, ...], Mapping[str, Any]] = {("mcpServers", "siftd"): server}
            edits.append(JsonFile(f"{home}/mcp.json", members=servers, holds_keys=True))
        return edits
