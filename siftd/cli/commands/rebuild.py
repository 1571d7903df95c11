"""`mem rebuild`: set the database aside and make it anew from the newest snapshot and the log."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import count, say, say_json
from siftd.wire.asking import Info
from siftd.workspace.home import ensure_workspace
from siftd.workspaces.stopping import stop_until


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    ensure_workspace(context.paths)
    asked_ms = time.time_ns() // 10**6
    mark = Path(context.paths.rebuild)
    mark.touch(mode=0o600)  # first: whatever starts the daemon from now on makes it rebuild
    stop_until(context.paths, is_over=lambda: not mark.exists())  # another one was started, and has rebuilt
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
