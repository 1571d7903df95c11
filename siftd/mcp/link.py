"""The way from a tool to the workspace's daemon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from siftd.config import Settings
from siftd.errors import RequestInvalid
from siftd.wire.global_routing import workspace_of
from siftd.wire.requests import DocumentHit, Found, Hit, NoteHit, Request, Search
from siftd.wire.workspace_client import WorkspaceClient
from siftd.workspace.home import load_settings
from siftd.workspace.identity import start_folder
from siftd.workspace.paths import Home
from siftd.workspaces.across import find_workspace_at, search_every_project

A = TypeVar("A")
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

    @property
    def settings(self) -> Settings:
        """The configuration as it is now."""
        return load_settings(self._client.home).settings

    def ask(self, request: Request[A]) -> A:
        """Return the daemon's answer; what is asked here may be repeated (a memory that is there is told, not stored
        twice). Raises SiftdError."""
        return self._client.ask(request)

    def ask_every_project(self, request: Search) -> Found:
        """Return the best hits of every workspace, if the person lets agents ask them; ids of others name their folder.

        Raises RequestInvalid if not.
        """
        self._check_is_allowed()
        answer = search_every_project(self._client, request)
        found: list[Hit | NoteHit | DocumentHit] = [*answer["hits"], *answer["notes"], *answer["documents"]]
        for hit in found:
            if hit.get("workspace", self.workspace.root) != self.workspace.root:
                hit["id"] = f"{hit['id']}{AT}{hit['workspace']}"
        return answer

    def ask_about(self, cited: str, about: Callable[[str], Request[A]]) -> A:
        """Return the answer to what is asked `about` an id, which may name the folder of another project.

        Raises SiftdError.
        """
        cited, _, folder = cited.removeprefix("#").partition(AT)
        if not folder:
            return self._client.ask(about(cited))
        self._check_is_allowed()
        return find_workspace_at(self._client, folder).ask(about(cited))

    def _check_is_allowed(self) -> None:
        if not self.settings.search_across_projects:
            raise RequestInvalid(
                "the person lets no agent ask other projects",
                hint="they may: `mem config search.acrossProjects true`",
            )
