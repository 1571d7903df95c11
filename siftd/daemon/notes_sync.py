"""Notes are brought up to date where a session ends or is about to be compacted, by a process that nobody waits for.

The hook has told the daemon of it and is long gone. The daemon starts `siftd notes sync` for each project with notes
that the session's folder is in, and forgets it: the process is of a session of its own, has no descriptor of the
daemon's, and outlives it. Of a project one runs at a time; what is asked for meanwhile is done once, when it has ended.
What is lost with the daemon, or with a process, the next sweep does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

import structlog

from siftd.errors import SiftdError
from siftd.notes import registry
from siftd.resources import entry_point
from siftd.wire.environment import of_daemon
from siftd.workspace.paths import Home, WorkspacePaths

log = structlog.get_logger()

Trigger: TypeAlias = Literal["session-end", "pre-compact"]
Run: TypeAlias = Callable[[Sequence[str], Home], None]
"""Runs a program to its end; called in a thread of its own."""


class NotesSync:
    """Starts what brings notes up to date."""

    def __init__(
        self,
        paths: WorkspacePaths,
        root: str,
        is_off: Callable[[str], bool],
        run: Run | None = None,
        *,
        excluded: Sequence[str] = (),
        on_end: Callable[[], object] = bool,
    ) -> None:
        """`root` is the workspace's folder; `is_off` says whether nothing of a session, or of any, is captured;
        `excluded` are folders without notes; `on_end` is called after each process."""
        self._home = paths.home
        self._key = paths.key
        self._root = root
        self._is_off = is_off
        self._excluded = excluded
        self._run = run or _run
        self._on_end = on_end
        self._again: dict[str, Trigger | None] = {}
        """By project that is synced now, why it is to be synced once more."""

    @property
    def is_running(self) -> bool:
        """Whether a process runs."""
        return bool(self._again)

    async def note(
        self, session_id: str, folder: str, trigger: Trigger, take_in: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """A session in a folder has ended, or is about to be compacted; what it did is stored.

        `take_in` is waited for before notes are brought up to date, and not asked for where there are none.
        """
        if self._is_off(session_id):
            return
        try:
            projects = await asyncio.to_thread(self._find, folder)
        except (SiftdError, OSError) as error:
            log.warning("notes_registry_unreadable", error=getattr(error, "code", type(error).__name__))
            return
        if projects and take_in is not None:
            await take_in()
        for project in projects:
            self._request(project, trigger)

    def _find(self, folder: str) -> list[str]:
        """Return the projects that a session in a folder is of: those that the folder is in, and the workspace's own,
        whose worktrees may lie anywhere. None for the folders of siftd itself: in one a curator works."""
        real = os.path.realpath(folder)
        own = os.path.realpath(self._home.root)
        if f"{real}/".startswith(f"{own}/"):
            return []
        known = registry.load(self._home)
        return [
            each.id
            for each in known.projects
            if (each.covers(real) or (each.workspace, each.path) == (self._key, self._root))
            and not known.is_excluded(each.path, self._excluded)
        ]

    def _request(self, project: str, trigger: Trigger) -> None:
        if project in self._again:
            self._again[project] = trigger
            return
        arguments = ["notes", "sync", "--project", project, "--trigger", trigger]
        argv = [sys.executable, "-I", entry_point(), *arguments]
        loop = asyncio.get_running_loop()
        # A thread that waits takes the process's end, so that none is left over; it does not keep the daemon from
        # ending, as one of the loop's own threads would.
        waiting = threading.Thread(target=self._wait, args=(argv, project, loop), name="notes", daemon=True)
        try:
            waiting.start()
        except RuntimeError:  # no thread can be started
            log.warning("notes_sync_not_started", project=project)
            return
        self._again[project] = None
        log.info("notes_sync_started", project=project, trigger=trigger)

    def _wait(self, argv: Sequence[str], project: str, loop: asyncio.AbstractEventLoop) -> None:
        try:
            self._run(argv, self._home)
        except (OSError, subprocess.SubprocessError):
            log.warning("notes_sync_not_started", project=project)
        with suppress(RuntimeError):  # the daemon has ended meanwhile
            loop.call_soon_threadsafe(self._end, project)

    def _end(self, project: str) -> None:
        self._on_end()
        again = self._again.pop(project)
        if again is not None:
            self._request(project, again)


def _run(argv: Sequence[str], home: Home) -> None:
    subprocess.Popen(
        argv,
        cwd="/",
        env=of_daemon(os.environ) | {"SIFTD_HOME": home.root, "SIFTD_NS": home.namespace},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        umask=0o077,
    ).wait()
