"""`siftd web`: serve, and say on standard output in one line of JSON where, or why not."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from siftd.errors import SiftdError
from siftd.workspace.paths import Home

FAILED = 1


def run(port: int, *, is_detached: bool) -> int:
    """Serve the page of the home that the environment names; return the exit status."""

    def say_ready(taken: int) -> None:
        _say({"port": taken, "pid": os.getpid()})
        if is_detached:
            _detach()

    # uvicorn ends in good order, and then raises the signal again: by default that would leave our files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        from siftd.web.process import serve

        home = Home.from_environment(os.environ, str(Path.home()))
        serve(Home(str(Path(home.root).absolute()), home.namespace), dict(os.environ), port, say_ready)
    except SiftdError as error:
        _say({"code": error.code, "message": error.message, "hint": error.hint})
        return FAILED
    except KeyboardInterrupt:
        return 0
    return 0


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _detach() -> None:
    """Let go of whoever started us: they wait for the end of our output."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.close(null)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
