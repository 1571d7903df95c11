"""Wires siftd into Cursor: hooks in the user's `hooks.json`, our tools in `mcp.json`.

What may decide about anything (`preToolUse`, the `before…` events of shell, servers and files) is never asked for, but
for the prompt's, which is told and answered with nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.cursor.facts import CLIENT
from siftd.clients.installer import FilesInstaller
from siftd.install.edits import Edit, JsonFile

_SECONDS = 5
_PRINTING = ("sessionStart",)
_QUIET = (
    "beforeSubmitPrompt",
    "postToolUse",
    "postToolUseFailure",
    "afterAgentResponse",
    "stop",
    "subagentStop",
    "preCompact",
    "sessionEnd",
)
EVENTS = (*_PRINTING, *_QUIET)


class CursorInstaller(FilesInstaller):
    """By the published form of its files."""

    client, title, programs = CLIENT, "Cursor", ("cursor", "cursor-agent")

    def folders(self, where: Where) -> Iterable[str]:
        return [f"{where.user_home}/.cursor"]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002 - never of a project
        home = f"{where.user_home}/.cursor"
        hooks = {
            event: {"command": self.command(where, "quiet" if event in _QUIET else ""), "timeout": _SECONDS}
            for event in EVENTS
        }
        edits = [JsonFile(f"{home}/hooks.json", hooks=hooks, base={"version": 1})]
        if server is not None:
            edits.append(JsonFile(f"{home}/mcp.json", members={("mcpServers", "siftd"): server}, holds_keys=True))
        return edits
