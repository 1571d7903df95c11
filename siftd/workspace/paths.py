"""Where everything lives: names only, nothing is opened here.

    $SIFTD_HOME (default ~/.siftd)
      <ns>/config.json                      SIFTD_NS, "default" unless set
      <ns>/config.good.json                 the last configuration that was valid
      <ns>/install.json                     what `mem install` changed, to take it back
      <ns>/installation                     which siftd it was, for the plugin to find
      <ns>/hook.sh                          runs the hook, for clients' settings to name
      <ns>/CLAUDE.md                        the hot context, once it is asked for; the person's own words around it
      <ns>/run/<key>.sock .lock .start      socket (`.new` until it listens), lock held for life, start's back-off
      <ns>/run/<key>.hold .slow             `mem stop` holds; hooks do not wait for 30 s
      <ns>/run/<key>.relay .dropped         the courier that takes other hooks' frames; what could not be kept
      <ns>/run/web.json .token .lock        where `mem web` listens; what programs show it; held for its life
      <ns>/run/web-login.html               brings a browser its one-time code, for a minute
      <ns>/workspaces/<key>/                db.sqlite wal.ndjson spool/ secret brief knowledge.json
                                            snapshots/; `_global` too; of a team: team.db team.token
      <ns>/logs/<key>.ndjson                the daemon's structured log
      <ns>/logs/web.log                     what `mem web` could not do
      <ns>/logs/hooks.ndjson .seen          what hooks could not do, and what of it a person has seen

`hooks/hook.py` builds the same names without importing this module; `tests/unit/test_hook_paths.py`
holds the two together. The classes are plain ones, because `mem` would pay 10 ms for importing `dataclasses`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from siftd.errors import HomeUnusable

DEFAULT_NAMESPACE = "default"
GLOBAL = "_global"
"""The key of the workspace that keeps the memories for every project."""

_NAMESPACE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class Home:
    """One namespace of one siftd home."""

    __slots__ = ("namespace", "root")

    def __init__(self, root: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        self.root = root
        self.namespace = namespace

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], user_home: str) -> Home:
        """Return the home that SIFTD_HOME and SIFTD_NS name, else `user_home`/.siftd.

        A relative SIFTD_HOME raises HomeUnusable: it would be another one in each folder, and a cloned project, which
        does not know where it was cloned to, could name one that it brings along. Hooks pass over it.
        """
        namespace = environ.get("SIFTD_NS") or DEFAULT_NAMESPACE
        if namespace != DEFAULT_NAMESPACE and not re.fullmatch(_NAMESPACE, namespace):
            raise HomeUnusable(
                "SIFTD_NS is not a usable name", hint="use letters, digits, '.', '_' and '-', at most 64 of them"
            )
        root = environ.get("SIFTD_HOME") or f"{user_home}/.siftd"
        if not root.startswith("/"):
            raise HomeUnusable("SIFTD_HOME is no absolute path", hint="name the folder from / on, or unset it")
        return cls(root, namespace)

    @property
    def folder(self) -> str:
        return f"{self.root}/{self.namespace}"

    @property
    def config(self) -> str:
        return f"{self.folder}/config.json"

    @property
    def good_config(self) -> str:
        return f"{self.folder}/config.good.json"

    @property
    def manifest(self) -> str:
        return f"{self.folder}/install.json"

    @property
    def installation(self) -> str:
        """Which siftd is to be run here, for the plugin."""
        return f"{self.folder}/installation"

    @property
    def launcher(self) -> str:
        """What clients' settings name to run the hook."""
        return f"{self.folder}/hook.sh"

    @property
    def hot_context(self) -> str:
        """What agents' clients load by themselves, where a person asked for it (`siftd.install.hot_context`)."""
        return f"{self.folder}/CLAUDE.md"

    @property
    def run(self) -> str:
        return f"{self.folder}/run"

    @property
    def logs(self) -> str:
        return f"{self.folder}/logs"

    @property
    def workspaces(self) -> str:
        return f"{self.folder}/workspaces"

    @property
    def hook_failures(self) -> str:
        return f"{self.logs}/hooks.ndjson"

    @property
    def hook_failures_seen(self) -> str:
        """When what is told there was acknowledged."""
        return f"{self.logs}/hooks.seen"

    @property
    def web_state(self) -> str:
        """Where the page is served, and by which process, while it is."""
        return f"{self.run}/web.json"

    @property
    def web_token(self) -> str:
        """What a program shows the running page's process with each request."""
        return f"{self.run}/web.token"

    @property
    def web_lock(self) -> str:
        return f"{self.run}/web.lock"

    @property
    def web_login(self) -> str:
        """A page for the browser alone, which hands its one-time code over."""
        return f"{self.run}/web-login.html"

    @property
    def web_log(self) -> str:
        return f"{self.logs}/web.log"

    def for_workspace(self, key: str) -> WorkspacePaths:
        return WorkspacePaths(self, key)


class WorkspacePaths:
    """The files of one workspace."""

    __slots__ = ("home", "key")

    def __init__(self, home: Home, key: str) -> None:
        self.home = home
        self.key = key

    def _run(self, suffix: str) -> str:
        return f"{self.home.run}/{self.key}.{suffix}"

    @property
    def socket(self) -> str:
        return self._run("sock")

    @property
    def lock(self) -> str:
        return self._run("lock")

    @property
    def start(self) -> str:
        return self._run("start")

    @property
    def hold(self) -> str:
        return self._run("hold")

    @property
    def slow(self) -> str:
        return self._run("slow")

    @property
    def dropped(self) -> str:
        return self._run("dropped")

    @property
    def daemon_log(self) -> str:
        return f"{self.home.logs}/{self.key}.ndjson"

    @property
    def folder(self) -> str:
        return f"{self.home.workspaces}/{self.key}"

    @property
    def database(self) -> str:
        return f"{self.folder}/db.sqlite"

    @property
    def wal(self) -> str:
        return f"{self.folder}/wal.ndjson"

    @property
    def spool(self) -> str:
        return f"{self.folder}/spool"

    @property
    def brief(self) -> str:
        """The kept brief, which a hook prints while no daemon answers: a line of ids, then the output. For clients that
        want it printed otherwise `brief.<client>` lies beside it."""
        return f"{self.folder}/brief"

    @property
    def knowledge(self) -> str:
        """The snapshot of the codebase (`siftd.knowledge.format`)."""
        return f"{self.folder}/knowledge.json"

    @property
    def secret(self) -> str:
        return f"{self.folder}/secret"

    @property
    def secret_copy(self) -> str:
        return f"{self.folder}/secret.copy"

    @property
    def new_secret(self) -> str:
        """The mark that lets a store go on with another secret."""
        return f"{self.folder}/new-secret"

    @property
    def quarantine(self) -> str:
        return f"{self.folder}/quarantine"

    @property
    def snapshots(self) -> str:
        return f"{self.folder}/snapshots"

    @property
    def team_replica(self) -> str:
        """The items of the team that the workspace has joined (`siftd.store.team_replica`)."""
        return f"{self.folder}/team.db"

    @property
    def team_token(self) -> str:
        """What shows the team's server who asks; it is nowhere else."""
        return f"{self.folder}/team.token"

    @property
    def crash_guard(self) -> str:
        return f"{self.folder}/at-work"

    @property
    def suspects(self) -> str:
        return f"{self.folder}/suspects.json"

    @property
    def rebuild(self) -> str:
        """The mark that asks the next start for a rebuild."""
        return f"{self.folder}/rebuild"
