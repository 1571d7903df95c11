"""Wires pi: an extension of one file in its folder of extensions. It takes no servers of tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.clients.pi.facts import CLIENT
from siftd.clients.pi.home import folder_of
from siftd.clients.plugin_file import plugin_text
from siftd.install.edits import Edit, OwnFile


class PiInstaller(FilesInstaller):
    """Writes `extensions/siftd.ts`, for the user."""

    client, title, programs = CLIENT, "pi", ()

    def folders(self, where: Where) -> Iterable[str]:
        return [folder_of(where.environ, where.user_home)]

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:  # noqa: ARG002
        folder = folder_of(where.environ, where.user_home)
        return [OwnFile(f"{folder}/extensions/siftd.ts", plugin_text("pi.js", self.command(where)))]
