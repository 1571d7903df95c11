"""`mem stop`: end the daemon and keep it down until `mem start` or a new session."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.workspaces.stopping import stop_and_hold


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    was_running = stop_and_hold(context.paths)
    if options.json:
        say_json({"stopped": was_running, "held": True})
    else:
        what = "the daemon has stopped" if was_running else "no daemon runs"
        say(f"{what}; none is started until `mem start` or a new session")
    return 0
