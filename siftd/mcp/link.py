"""The way from a tool to the workspace's daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siftd.errors import RequestInvalid
from siftd.wire.asking import Search, untyped
from siftd.wire.global_routing import workspace_of
from siftd.wire.workspace_client import WorkspaceClient
from siftd.workspace.home import load_settings
from siftd.workspace.identity import start_folder
from siftd.workspace.paths import Home
from siftd.workspaces.across import find_workspace_at, search_every_project

AT = "@"
"""Between an id and the folder of another project, whose thing it names."""


class Link:
    """One workspace, as a tool asks it."""

    def __init__(self, client: WorkspaceClient) -> None:
        self.workspace = client.workspace
        self._client = client

    @property
    def session(self) -> str | None:
        """The session of the agent that asks, as far as its client says; after `/clear` it is the one before."""
        return self._client.environ.get("CLAUDE_CODE_SESSION_ID") or None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Link:
        """Return the link to the workspace that the environment or the current folder names."""
        home = Home.from_environment(environ, str(Path.home()))
        home = Home(str(Path(home.root).absolute()), home.namespace)
        return cls(WorkspaceClient(home, workspace_of(home, start_folder(environ, str(Path.cwd()))), environ))

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the daemon's answer; what is asked here may be repeated (a memory that is there is told, not stored
        twice). Raises SiftdError."""
        return self._client.ask(untyped({"kind": kind, **fields}))

    def ask_every_project(self, _: str, **fields: Any) -> dict[str, Any]:
        """Return the best hits of every workspace, if the person lets agents ask them; ids of others name their folder.

        Raises RequestInvalid if not.
        """
        self._check_is_allowed()
        answer = search_every_project(self._client, Search(**fields))
        for hit in answer["hits"]:
            if hit.get("workspace", self.workspace.root) != self.workspace.root:
                hit["id"] = f"{hit['id']}{AT}{hit['workspace']}"
        return dict(answer)

    def ask_about(self, kind: str, cited: str, name: str = "id", **fields: Any) -> dict[str, Any]:
        """Return the answer about an id (the request's field `name`), which may name the folder of another project.

        Raises SiftdError.
        """
        cited, _, folder = cited.removeprefix("#").partition(AT)
        message = {"kind": kind, **fields, name: cited or None}
        if not folder:
            return self._client.ask(untyped(message))
        self._check_is_allowed()
        return find_workspace_at(self._client, folder).ask(untyped(message))

    def _check_is_allowed(self) -> None:
        if not load_settings(self._client.home).settings.search_across_projects:
            raise RequestInvalid(
                "the person lets no agent ask other projects",
                hint="they may: `mem config search.acrossProjects true`",
            )
