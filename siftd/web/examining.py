"""What `mem doctor` finds in a project, for the page: by a process of its own, `siftd doctor`.

It reads the files of the home and of the agents, and asks the daemon; it starts none. Doing the same in this process
was rejected: it would hold SQLite and all that a database's check reads. The person's own shell is not looked at: this
process does not have its environment.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping

import msgspec

from siftd.errors import HttpRefused
from siftd.resources import entry_point
from siftd.web.types import DoctorAnswer
from siftd.workspace.paths import Home

SECONDS = 30.0
"""For a database of many gigabytes on a slow disk."""
_STATUSES = (0, 1)
"""All is well, and not all is well."""


class Examinations:
    """One at a time, however many pages look."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self._environ = {**environ, "SIFTD_HOME": home.root, "SIFTD_NS": home.namespace}
        self._turn = threading.Lock()

    def of(self, folder: str) -> DoctorAnswer:
        """Return the findings about a workspace's folder. Raises HttpRefused where there are none in time."""
        with self._turn:
            return _examine(folder, self._environ)


def _examine(folder: str, environ: Mapping[str, str]) -> DoctorAnswer:
    command = [sys.executable, "-I", entry_point(), "doctor", "--folder", folder]
    try:
        done = subprocess.run(
            command, cwd="/", env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise HttpRefused(504, "timed_out", "`mem doctor` is not done", hint="run it in a terminal") from None
    try:
        if done.returncode in _STATUSES:
            return msgspec.json.decode(done.stdout, type=DoctorAnswer)
    except msgspec.MsgspecError:
        pass
    raise HttpRefused(
        503, "no_findings", f"`mem doctor` ended with status {done.returncode}", hint="run it in a terminal"
    )
