"""The installer of a client that takes an MCP server and rules, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from siftd import instructions
from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.clients.support import Support
from siftd.errors import RequestInvalid
from siftd.install.change import Change
from siftd.install.edits import OWN_MARK, Edit, JsonFile, MarkedBlock, OwnFile

RULES = "\n".join(instructions.RULES)
_OWN_RULES = f"<!-- {OWN_MARK} -->\n{RULES}\n"

Shape = Literal["plain", "stdio"]
"""How an entry is written: command and arguments, or with the transport beside them."""


@dataclass(frozen=True, slots=True)
class Files:
    """A scope's files, below the person's home or the workspace; "" where there is none."""

    servers: str = ""
    rules: str = ""
    """A file of our own in a folder of rules, or one that holds others' rules too."""

    @property
    def is_own(self) -> bool:
        return self.rules.rpartition("/")[2] == "siftd.md"


class ToolsOnly(FilesInstaller):
    """One client: what it is called, and where it keeps what. It is what `registry.TOOLS_ONLY` lists, too."""

    def __init__(
        self,
        name: str,
        title: str,
        *,
        support: Support,
        programs: tuple[str, ...] = (),
        folder: str = "",
        user: Files = Files(),
        project: Files = Files(),
        holder: str = "mcpServers",
        shape: Shape = "plain",
    ) -> None:
        self.name = self.client = name
        self.title = title
        self.support = support
        self.programs = programs
        self.takes_project = bool(project.servers or project.rules)
        self._folder = folder
        self._user = user
        self._project = project
        self._holder = holder
        self._shape = shape

    @property
    def installer(self) -> ToolsOnly:
        return self

    def folders(self, where: Where) -> Sequence[str]:
        return [f"{where.user_home}/{self._folder}"] if self._folder else []

    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:
        files = self._project if is_project else self._user
        base = where.workspace_root if is_project else where.user_home
        inside = base if is_project else None
        edits: list[Edit] = []
        if server is not None and files.servers:
            entry = dict(server) if self._shape == "plain" else {"type": "stdio", **server}
            members: dict[tuple[str, ...], dict[str, Any]] = {(self._holder, "siftd"): entry}
            edits.append(JsonFile(f"{base}/{files.servers}", members=members, holds_keys=True, inside=inside))
        if server is not None and files.rules:
            path = f"{base}/{files.rules}"
            edits.append(OwnFile(path, _OWN_RULES, inside=inside) if files.is_own else MarkedBlock(path, RULES, inside))
        return edits

    def install(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Change]:
        if not self.edits(where, is_project=is_project, server=server):
            raise RequestInvalid(f"there is nothing of {self.title} to be wired", hint=self.support.note)
        return super().install(where, is_project=is_project, server=server)
