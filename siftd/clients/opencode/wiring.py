"""Wires OpenCode: a plugin of one file in its folder of plugins, and our server of tools in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.clients.opencode.facts import CLIENT
from siftd.clients.plugin_file import plugin_text
from siftd.finding import Finding
from siftd.install.edits import Edit, JsonFile, OwnFile

_CONFIGURATIONS = ("opencode.json", "opencode.jsonc")
"""The first is made where there is none."""
_FETCHED = "node_modules/@opencode-ai/plugin"
"""What OpenCode (1.18) fetches from npm into its folder once a plugin is there; until it has it, each start tries."""


class OpenCodeInstaller(FilesInstaller):
    """Writes `plugins/siftd.js` and the member `mcp.siftd`, for the user."""

    client, title, programs = CLIENT, "OpenCode", ("opencode",)

    def folders(self, where: Where) -> Iterable[str]:
        return [folder_of(where.environ, where.user_home)]

    def check(self, where: Where) -> Iterator[Finding]:
        folder = Path(folder_of(where.environ, where.user_home))
        yield from super().check(where)
        if (folder / "plugins/siftd.js").exists() and not (folder / _FETCHED).exists():
            message = f"OpenCode has not fetched its package for plugins into {folder} yet"
            yield Finding("start", "note", message, "start it once with npm's registry in reach, else each start waits")

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        folder = folder_of(where.environ, where.user_home)
        edits: list[Edit] = [OwnFile(f"{folder}/plugins/siftd.js", plugin_text("opencode.js", self.command(where)))]
        if server is not None:
            command = [server["command"], *server.get("args", ())]
            entry = {"type": "local", "command": command, "enabled": True}
            if server.get("env"):
                entry["environment"] = server["env"]
            path = next((path for name in _CONFIGURATIONS if Path(path := f"{folder}/{name}").exists()), None)
            schema = {"$schema": "https://opencode.ai/config.json"}
            edits.append(
                JsonFile(
                    path or f"{folder}/{_CONFIGURATIONS[0]}",
                    members={("mcp", "siftd"): entry},
                    base=schema,
                    holds_keys=True,
                )
            )
        return edits


def folder_of(environ: Mapping[str, str], user_home: str) -> str:
    """Return where OpenCode keeps what is the user's."""
    base = environ.get("XDG_CONFIG_HOME", "")
    return f"{base if base.startswith('/') else f'{user_home}/.config'}/opencode"
