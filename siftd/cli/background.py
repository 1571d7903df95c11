"""`siftd notes …`: `mem notes` as a timer and a daemon start it, with nobody to read what it says.

It works with a daemon's environment whoever starts it (`siftd.wire.environment`): a person's manager of services knows
what their shell has exported. It yields to whatever a person waits for.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from siftd.cli import run as run_mem
from siftd.notes.timers.order import NICE, programs_path
from siftd.wire.environment import keep_harmless


def run(arguments: Sequence[str]) -> int:
    """Run `mem notes` with these arguments and return its exit status."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    keep_harmless(os.environ)
    os.environ["PATH"] = programs_path(str(Path.home()))
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    return run_mem(["notes", *arguments])
