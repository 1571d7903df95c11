"""The way to a workspace's daemon: one connection a request, so that none can be a dead one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from siftd.errors import DaemonUnreachable
from siftd.wire.asking import message_of, request_of
from siftd.wire.client import Client, connect
from siftd.wire.global_routing import ask_where_it_is, global_workspace
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import Home, WorkspacePaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from siftd.wire.requests import Request

    A = TypeVar("A")


ANSWER_SECONDS = 30.0
"""The longest silence of a daemon that is asked something small."""


class WorkspaceClient:
    """One workspace, as somebody asks it."""

    def __init__(self, home: Home, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self.home = home
        self.workspace = workspace
        self.paths: WorkspacePaths = home.for_workspace(workspace.key)
        self.environ = environ

    def ask(
        self,
        request: Request[A],
        *,
        timeout: float = ANSWER_SECONDS,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> A:
        """Return the daemon's answer to a request that may be repeated; the daemon is started if need be.

        One that ends at that very moment (it was idle, or its package has changed) is started again, once. What is
        about memories for every project goes to the daemon that keeps them. Raises SiftdError.
        """

        def here(local: dict[str, Any]) -> dict[str, Any]:
            return self._ask(local, timeout, on_progress)

        def everywhere(local: dict[str, Any]) -> dict[str, Any]:
            shared = WorkspaceClient(self.home, global_workspace(self.home), self.environ)
            return shared._ask(local, timeout, on_progress)

        answer: Any = ask_where_it_is(message_of(request), self.workspace.root, here, everywhere)
        return answer  # type: ignore[no-any-return]  # it is what stands beside the request

    def _ask(
        self, message: dict[str, Any], timeout: float, on_progress: Callable[[dict[str, Any]], object] | None
    ) -> dict[str, Any]:
        request: Request[dict[str, Any]] = request_of(message)
        with self.reach() as client:
            try:
                return client.request(request, timeout=timeout, on_progress=on_progress)
            except DaemonUnreachable:
                pass
        with self.reach() as client:
            return client.request(request, timeout=timeout, on_progress=on_progress)

    def reach(self) -> Client:
        """Return a client of the daemon, started if need be."""
        try:
            return connect(self.paths)
        except DaemonUnreachable:
            from siftd.wire.launch import ensure_daemon

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
