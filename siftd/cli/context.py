"""What every command knows: the workspace it is about, and the way to its daemon."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from siftd.cli.nothing import answer_of_nothing
from siftd.errors import RequestInvalid
from siftd.wire.asking import message_of
from siftd.wire.global_routing import workspace_of
from siftd.wire.workspace_client import ANSWER_SECONDS, WorkspaceClient
from siftd.workspace.identity import Workspace, start_folder
from siftd.workspace.paths import GLOBAL, Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any, TypeVar

    from siftd.clients.client import Where
    from siftd.wire.requests import Request

    A = TypeVar("A")

WORK_SECONDS = 900.0
"""The longest silence of a daemon at long work: one batch of a slow model."""


class Context(WorkspaceClient):
    """One command's workspace and environment."""

    def __init__(self, home: Home, workspace: Workspace, environ: Mapping[str, str], user_home: str) -> None:
        super().__init__(home, workspace, environ)
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

    def where(self) -> Where:
        """Return what a client would be wired for here."""
        from siftd.clients.client import Where

        return Where(self.workspace.root, self.environ, self.user_home, self.home.manifest, self.home.launcher)

    def ask(
        self,
        request: Request[A],
        *,
        timeout: float = ANSWER_SECONDS,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> A:
        """As `WorkspaceClient.ask`; a command that only looks where nothing is starts no daemon."""
        nothing: Any = answer_of_nothing(message_of(request), self.home, self.paths)
        if nothing is not None and not self.is_running():
            return nothing  # type: ignore[no-any-return]  # as the daemon would answer
        return super().ask(request, timeout=timeout, on_progress=on_progress)
