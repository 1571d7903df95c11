"""Wires Gemini CLI: hooks and the server of our tools, both in `settings.json`.

Events that fire for every request to a model (`PreCompress`, `BeforeModel`, `AfterModel`) are not asked for: the client
waits for each hook, and gives some of them the whole request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from siftd.clients.client import Where
from siftd.clients.gemini_cli.facts import CLIENT
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import Edit, JsonFile

EVENTS: dict[str, Literal["", "quiet"]] = {
    "SessionStart": "",
    "BeforeAgent": "",
    "AfterTool": "quiet",
    "AfterAgent": "quiet",
    "SessionEnd": "quiet",
}
TIMEOUT_MS = 5_000


class GeminiCliInstaller(FilesInstaller):
    """Gemini CLI's settings, of a person or of a project."""

    client = CLIENT
    title = "Gemini CLI"
    programs = ("gemini",)
    takes_project = True

    def folders(self, where: Where) -> Sequence[str]:
        return [f"{where.user_home}/.gemini/tmp"]  # the folder above it may be Antigravity's

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:
        base = where.workspace_root if is_project else where.user_home
        hooks = {event: {"hooks": [self._handler(where, how)]} for event, how in EVENTS.items()}
        servers: dict[tuple[str, ...], Mapping[str, Any]] = {} if server is None else {("mcpServers", "siftd"): server}
        inside = base if is_project else None
        return [JsonFile(f"{base}/.gemini/settings.json", hooks, members=servers, holds_keys=True, inside=inside)]

    def _handler(self, where: Where, how: Literal["", "quiet"]) -> dict[str, Any]:
        return {"type": "command", "name": "siftd", "command": self.command(where, how), "timeout": TIMEOUT_MS}
