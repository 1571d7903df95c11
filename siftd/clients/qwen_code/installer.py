"""Wires Qwen Code: hooks and the server of our tools, both in `settings.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.clients.qwen_code.facts import CLIENT
from siftd.install.edits import Edit, JsonFile

EVENTS: dict[str, Literal["", "quiet"]] = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PostToolUse": "quiet",
    "PostToolUseFailure": "",
    "Stop": "quiet",
    "SubagentStop": "quiet",
    "PreCompact": "quiet",
    "SessionEnd": "quiet",
}
TIMEOUT_SECONDS = 5
"""From 1000 on the client takes it for milliseconds."""


class QwenCodeInstaller(FilesInstaller):
    """Qwen Code's settings, of a person or of a project."""

    client = CLIENT
    title = "Qwen Code"
    programs = ("qwen",)
    takes_project = True
    timeout_limits = dict.fromkeys(EVENTS, 999)

    def folders(self, where: Where) -> Sequence[str]:
        return [f"{where.user_home}/.qwen"]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:
        base = where.workspace_root if is_project else where.user_home
        hooks = {event: {"hooks": [self._handler(where, how)]} for event, how in EVENTS.items()}
        servers: dict[tuple[str, ...], Mapping[str, Any]] = {} if server is None else {("mcpServers", "siftd"): server}
        inside = base if is_project else None
        return [JsonFile(f"{base}/.qwen/settings.json", hooks, members=servers, holds_keys=True, inside=inside)]

    def _handler(self, where: Where, how: Literal["", "quiet"]) -> dict[str, Any]:
        return {"type": "command", "name": "siftd", "command": self.command(where, how), "timeout": TIMEOUT_SECONDS}
