"""`mem rebuild`: set the database aside and make it anew from the newest snapshot and the log."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import count, say, say_json
from siftd.errors import DaemonTimedOut, DaemonUnreachable
from siftd.wire.asking import Info, Stop
from siftd.workspace.home import ensure_workspace

_POLL_SECONDS = 0.02
STOP_SECONDS = 10.0
"""How long a daemon may take to finish what is in flight."""


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    ensure_workspace(context.paths)
    asked_ms = time.time_ns() // 10**6
    mark = Path(context.paths.rebuild)
    mark.touch(mode=0o600)  # first: whatever starts the daemon from now on makes it rebuild
    _stop(context)
    answer = context.ask(Info(), timeout=WORK_SECONDS)
    rescued = answer["recovery"]["rescued"]
    if rescued is not None and rescued["ts"] < asked_ms:
        rescued = None  # at an earlier rebuild
    if options.json:
        say_json({"counts": answer["counts"], "log": answer["log"], "rescued": rescued})
    else:
        counts = answer["counts"]
        say(f"rebuilt: {count(counts['events'], 'event')}, {counts['raw']:,} of them to be summarised again")
        if rescued is not None:
            what = f"{count(rescued['events'], 'event')} and {count(rescued['rest'], 'other row')}"
            say(f"the log had lost {what}: taken over from the database that was set aside")
        if rescued is not None and rescued["left"]:
            say(f"{count(rescued['left'], 'event')} there did not pass the check: see {answer['database']}.damaged-*")
    return 0


def _stop(context: Context) -> None:
    client = context.find_running()
    if client is None:
        return
    with client:
        try:
            client.request(Stop(hold=False), timeout=STOP_SECONDS)
        except DaemonUnreachable:
            return
    deadline = time.monotonic() + STOP_SECONDS
    while Path(context.paths.socket).exists() and time.monotonic() < deadline:
        if not Path(context.paths.rebuild).exists():
            return  # another one has been started, and has rebuilt
        time.sleep(_POLL_SECONDS)
    if Path(context.paths.rebuild).exists() and Path(context.paths.socket).exists():
        raise DaemonTimedOut(f"the daemon has not ended within {STOP_SECONDS:g} s", hint="see `mem logs`")
