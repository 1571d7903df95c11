"""The workspaces of the home, as routes name them; each is asked by way of its own daemon.

The list starts none: it reads what is stored, and asks those daemons that run. A workspace's daemon is started when
something of the workspace itself is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import siftd
from siftd.errors import DaemonTimedOut, DaemonUnreachable, HttpRefused, ProtocolError, RequestRefused, SiftdError
from siftd.web.types import Project, ProjectsAnswer
from siftd.wire.asking import Hello
from siftd.wire.global_routing import global_workspace
from siftd.wire.requests import Request
from siftd.wire.workspace_client import ANSWER_SECONDS, WorkspaceClient
from siftd.workspace.identity import Workspace, path_from_text
from siftd.workspace.paths import GLOBAL, Home
from siftd.workspaces.listing import Known, describe, iter_known

A = TypeVar("A")

HELLO_SECONDS = 1.0
"""How long a daemon may take to say who it is before it counts as busy."""
KEY_CHARS = 16
EVERYWHERE = "every project"
"""The name of what is kept for every project."""


class Projects:
    """Every workspace that has a memory in a home."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self.home = home
        self.environ = environ
        self._roots: dict[str, str] = {}

    def list(self) -> ProjectsAnswer:
        """Return all of them, with what their daemons are doing. Starts none."""
        return ProjectsAnswer(
            projects=[self._describe(known) for known in iter_known(self.home)], version=siftd.__version__
        )

    def client(self, key: str) -> WorkspaceClient:
        """Return the way to a workspace's daemon. Raises HttpRefused for one that is not there."""
        if key == GLOBAL:
            return WorkspaceClient(self.home, global_workspace(self.home), self.environ)
        return WorkspaceClient(self.home, Workspace(self.folder(key), key), self.environ)

    def folder(self, key: str) -> str:
        """Return what `mem --workspace` takes for a workspace. Raises HttpRefused for one that is not there."""
        if key == GLOBAL:
            return GLOBAL
        root = self._roots.get(key) or self._find_root(key)
        if not Path(root).is_dir():
            raise HttpRefused(
                410, "workspace_gone", "the folder of this workspace is gone", hint=f"`mem workspaces adopt {key}`"
            )
        return root

    def ask(
        self,
        key: str,
        request: Request[A],
        *,
        timeout: float = ANSWER_SECONDS,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> A:
        """Return a daemon's answer; it is started if need be. Raises SiftdError.

        One of another version, which may not know what is asked, is told from one that refuses.
        """
        client = self.client(key)
        try:
            return client.ask(request, timeout=timeout, on_progress=on_progress)
        except (RequestRefused, ProtocolError) as error:
            raise self.explained(client, error) from error

    def explained(self, client: WorkspaceClient, error: SiftdError) -> SiftdError:
        """Return why a daemon refuses what it may not know: it is of another version, or as it says itself."""
        other = self._other_version(client)
        if other is None:
            return error
        return HttpRefused(
            409,
            "other_version",
            f"the daemon is siftd {other}, this is {siftd.__version__}",
            hint="`mem stop`, `mem start`; where two are installed, `mem doctor` tells",
        )

    def _find_root(self, key: str) -> str:
        is_key = len(key) == KEY_CHARS and key.isascii() and key.isalnum()
        paths = self.home.for_workspace(key)
        if not is_key or not Path(paths.folder).is_dir():
            raise HttpRefused(404, "no_such_project", "there is no such project", hint="GET /api/projects lists them")
        known = describe(paths)
        if known.root is None:
            raise HttpRefused(
                503, "store_unreadable", known.problem or "its folder is not known", hint="see `mem doctor`"
            )
        self._roots[key] = path_from_text(known.root)
        return self._roots[key]

    def _describe(self, known: Known) -> Project:
        state, version = self._state(known)
        is_shared = known.key == GLOBAL
        folder = None if known.root is None or is_shared else known.root.rstrip("/").rpartition("/")[2]
        return Project(
            id=known.key,
            root=None if is_shared else known.root,
            name=EVERYWHERE if is_shared else folder or known.key,
            events=known.events,
            state=state,
            version=version,
            problem=known.problem,
        )

    def _state(self, known: Known) -> tuple[Any, str | None]:
        client = WorkspaceClient(self.home, Workspace("/", known.key), self.environ)
        try:
            running = client.find_running()
            if running is None:
                if known.problem is not None:
                    return "broken", None
                return "gone" if known.key != GLOBAL and known.is_orphaned else "asleep", None
            with running:
                version = running.request(Hello(), timeout=HELLO_SECONDS)["version"]
        except DaemonTimedOut:
            return "busy", None
        except DaemonUnreachable:
            return "asleep", None
        except SiftdError:
            return "other_version", None
        return ("running" if version == siftd.__version__ else "other_version"), version

    def _other_version(self, client: WorkspaceClient) -> str | None:
        """Return the version of a daemon that is not ours; None where it is, or does not say."""
        try:
            running = client.find_running()
            if running is None:
                return None
            with running:
                version = running.request(Hello(), timeout=HELLO_SECONDS)["version"]
        except (SiftdError, KeyError):
            return None
        return None if version == siftd.__version__ else version
