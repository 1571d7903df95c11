"""Wires Factory's droid: hooks in `hooks.json`, whose events stand at the top, and our tools in `mcp.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from siftd.clients.client import Where
from siftd.clients.droid.facts import CLIENT, PROMPT
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import Edit, JsonFile

EVENTS: dict[str, Literal["", "quiet"]] = {
    "SessionStart": "",
    PROMPT: "",
    "PostToolUse": "quiet",
    "PreCompact": "quiet",
    "SessionEnd": "quiet",
}
TIMEOUT_SECONDS = 5


class DroidInstaller(FilesInstaller):
    """droid's files, of a person or of a project."""

    client = CLIENT
    title = "droid"
    programs = ("droid",)
    takes_project = True

    def folders(self, where: Where) -> Sequence[str]:
        return [f"{where.user_home}/.factory"]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:
        base = where.workspace_root if is_project else where.user_home
        inside = base if is_project else None
        hooks = {event: {"matcher": "*", "hooks": [self._handler(where, how)]} for event, how in EVENTS.items()}
        edits: list[Edit] = [JsonFile(f"{base}/.factory/hooks.json", hooks, under=(), inside=inside)]
        if server is not None:
            members: dict[tuple[str, ...], Mapping[str, Any]] = {("mcpServers", "siftd"): {"type": "stdio", **server}}
            edits.append(JsonFile(f"{base}/.factory/mcp.json", members=members, holds_keys=True, inside=inside))
        return edits

    def _handler(self, where: Where, how: Literal["", "quiet"]) -> dict[str, Any]:
        return {"type": "command", "command": self.command(where, how), "timeout": TIMEOUT_SECONDS}
