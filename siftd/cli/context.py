"""What every command knows: the workspace it is about, and the way to its daemon."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from siftd.cli.nothing import answer_of_nothing
from siftd.client import Client, connect
from siftd.errors import DaemonUnreachable, RequestInvalid
from siftd.everywhere import ask_where_it_is, global_workspace, workspace_of
from siftd.paths import GLOBAL, Home, WorkspacePaths
from siftd.workspace import Workspace, start_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

ANSWER_SECONDS = 30.0
"""The longest silence of a daemon that is asked something small."""
WORK_SECONDS = 900.0
"""The longest silence of a daemon at long work: one batch of a slow model."""


class Context:
    """One command's workspace and environment."""

    def __init__(self, home: Home, workspace: Workspace, environ: Mapping[str, str], user_home: str) -> None:
        self.home = home
        self.workspace = workspace
        self.paths: WorkspacePaths = home.for_workspace(workspace.key)
        self.environ = environ
        self.user_home = user_home

    @classmethod
    def of(cls, options: Namespace, environ: Mapping[str, str]) -> Context:
        """Return the context of the workspace that the options, the environment or the current folder name."""
        user_home = os.path.expanduser("~")  # noqa: PTH111 - pathlib would cost 10 ms at every run
        home = Home.from_environment(environ, user_home)
        home = Home(os.path.abspath(home.root), home.namespace)  # noqa: PTH100 - as above
        named = options.workspace or environ.get("SIFTD_WORKSPACE")
        folder = named or start_folder(environ, os.getcwd())  # noqa: PTH109 - as above
        context = cls(home, workspace_of(home, folder), environ, user_home)
        is_known = context.workspace.key == GLOBAL or os.path.isdir(context.paths.folder)  # noqa: PTH112 - as above
        if not is_known and not os.path.isdir(context.workspace.root):  # noqa: PTH112
            raise RequestInvalid("there is no such folder", hint="`mem workspaces` lists those that have a memory")
        return context

    def of_folder(self, folder: str) -> Context:
        """Return the context of another workspace's folder."""
        return Context(self.home, workspace_of(self.home, folder), self.environ, self.user_home)

    def ask(
        self,
        message: dict[str, Any],
        *,
        timeout: float = ANSWER_SECONDS,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any]:
        """Return the daemon's answer to a request that may be repeated; the daemon is started if need be.

        One that ends at that very moment (it was idle, or its package has changed) is started again, once. What is
        about memories for every project goes to the daemon that keeps them.
        """

        nothing = answer_of_nothing(message, self.home, self.paths)
        if nothing is not None and not self.is_running():
            return nothing

        def here(local: dict[str, Any]) -> dict[str, Any]:
            return self._ask(local, timeout, on_progress)

        def everywhere(local: dict[str, Any]) -> dict[str, Any]:
            shared = Context(self.home, global_workspace(self.home), self.environ, self.user_home)
            return shared._ask(local, timeout, on_progress)

        return ask_where_it_is(message, self.workspace.root, here, everywhere)

    def _ask(
        self, message: dict[str, Any], timeout: float, on_progress: Callable[[dict[str, Any]], object] | None
    ) -> dict[str, Any]:
        with self.reach() as client:
            try:
                return client.request(message, timeout=timeout, on_progress=on_progress)
            except DaemonUnreachable:
                pass
        with self.reach() as client:
            return client.request(message, timeout=timeout, on_progress=on_progress)

    def reach(self) -> Client:
        """Return a client of the daemon, started if need be."""
        try:
            return connect(self.paths)
        except DaemonUnreachable:
            from siftd.starting import ensure_daemon

            return ensure_daemon(self.paths, self.workspace.root, self.environ)

    def is_running(self) -> bool:
        """Whether a daemon of this workspace answers; never starts one."""
        client = self.find_running()
        if client is not None:
            client.close()
        return client is not None

    def find_running(self) -> Client | None:
        """Return a client of the daemon if one runs; never starts one."""
        try:
            return connect(self.paths)
        except DaemonUnreachable:
            return None
