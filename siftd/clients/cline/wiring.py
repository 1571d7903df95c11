"""Wires Cline: an executable for each event in its folder of hooks, and our server of tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.cline.facts import CLIENT
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import OWN_MARK, Edit, JsonFile, OwnFile

_ANSWERED = ("UserPromptSubmit",)
"""What may be answered."""
_REPORTED = ("TaskStart", "PostToolUse", "TaskComplete", "SessionShutdown")


class ClineInstaller(FilesInstaller):
    """Writes `hooks/<event>.sh` and the member `mcpServers.siftd`, for the user."""

    client, title, programs = CLIENT, "Cline", ("cline",)

    def folders(self, where: Where) -> Iterable[str]:
        return [f"{where.user_home}/.cline"]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        folder = f"{where.user_home}/.cline"
        commands = {
            **dict.fromkeys(_ANSWERED, self.command(where)),
            **dict.fromkeys(_REPORTED, self.command(where, "quiet")),
        }
        edits: list[Edit] = [
            OwnFile(f"{folder}/hooks/{event}.sh", f"#!/bin/sh\n# {OWN_MARK}\n{command}\n", mode=0o777)
            for event, command in commands.items()
        ]
        if server is not None:
            edits.append(
                JsonFile(
                    f"{folder}/data/settings/cline_mcp_settings.json",
                    members={("mcpServers", "siftd"): {"transport": {"type": "stdio", **server}}},
                    holds_keys=True,
                )
            )
        return edits
