"""What siftd writes for goose: a plugin of ours in the folder where a person's plugins lie."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import OWN_MARK, Edit, JsonFile, OwnFile

EVENTS = ("SessionStart", "SessionEnd", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop")
TIMEOUT_SECONDS = 5


class GooseInstaller(FilesInstaller):
    """Hooks alone: the tools' server would be an entry in a YAML file, which a person makes with `goose configure`."""

    client = "goose"
    title = "goose"
    programs = ("goose",)

    def folders(self, where: Where) -> Iterable[str]:
        return [f"{where.user_home}/.config/goose"]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        folder = f"{where.user_home}/.agents/plugins/siftd"
        plugin = {"name": "siftd", "version": "1.0.0", "description": f"siftd, the agents' memory. {OWN_MARK}"}
        handler = {"type": "command", "command": self.command(where, "quiet"), "timeout": TIMEOUT_SECONDS}
        return [
            OwnFile(f"{folder}/plugin.json", json.dumps(plugin, indent=2) + "\n"),
            JsonFile(f"{folder}/hooks/hooks.json", hooks={event: {"hooks": [handler]} for event in EVENTS}),
        ]
