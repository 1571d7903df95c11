"""`mem start`: start the daemon, whatever `mem stop` or an earlier failure said."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.wire.asking import Hello
from siftd.wire.launch import ensure_daemon
from siftd.wire.workspace_client import ANSWER_SECONDS


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    hold = Path(context.paths.hold)
    if hold.exists():
        hold.unlink()
    with ensure_daemon(context.paths, context.workspace.root, context.environ) as client:
        hello = client.request(Hello(), timeout=ANSWER_SECONDS)
    if options.json:
        say_json(hello)
    else:
        say(f"the daemon runs for {hello['workspace']['root']} (pid {hello['pid']}, version {hello['version']})")
    return 0
