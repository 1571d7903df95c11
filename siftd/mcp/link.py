"""The way from a tool to the workspace's daemon: one connection a request, so that none can be a dead one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siftd.client import Client, connect
from siftd.errors import DaemonUnreachable
from siftd.everywhere import ask_where_it_is, global_workspace, workspace_of
from siftd.paths import Home
from siftd.starting import ensure_daemon
from siftd.workspace import Workspace, start_folder

ANSWER_SECONDS = 30.0


class Link:
    """One workspace, as a tool asks it."""

    def __init__(self, home: Home, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self.workspace = workspace
        self._home = home
        self._environ = environ

    @property
    def session(self) -> str | None:
        """The session of the agent that asks, as far as its client says; after `/clear` it is the one before."""
        return self._environ.get("CLAUDE_CODE_SESSION_ID") or None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Link:
        """Return the link to the workspace that the environment or the current folder names."""
        home = Home.from_environment(environ, str(Path.home()))
        home = Home(str(Path(home.root).absolute()), home.namespace)
        return cls(home, workspace_of(home, start_folder(environ, str(Path.cwd()))), environ)

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the daemon's answer; the daemon is started if need be.

        One that ends at that very moment is asked again, once: what is asked here may be repeated (a memory that is
        there already is told, not stored twice). Raises SiftdError.
        """
        message = {"kind": kind, **fields}
        return ask_where_it_is(message, self.workspace.root, self._ask_here, self._ask_global)

    def _ask_here(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._ask(message, self.workspace)

    def _ask_global(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._ask(message, global_workspace(self._home))

    def _ask(self, message: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
        with self._reach(workspace) as client:
            try:
                return client.request(message, timeout=ANSWER_SECONDS)
            except DaemonUnreachable:
                pass
        with self._reach(workspace) as client:
            return client.request(message, timeout=ANSWER_SECONDS)

    def _reach(self, workspace: Workspace) -> Client:
        paths = self._home.for_workspace(workspace.key)
        try:
            return connect(paths)
        except DaemonUnreachable:
            return ensure_daemon(paths, workspace.root, self._environ)
