"""`mem resummarise`: have what happened in a time told anew by the configured backend."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.timestamps import parse_moment
from siftd.wire.asking import Resummarise


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--since", required=True, metavar="WHEN", help="2026-01-31, 90m, 2h, 7d")
    parser.add_argument("--until", metavar="WHEN", help="default: now")


def run(context: Context, options: Namespace) -> int:
    now_ms = int(time.time() * 1000)
    until = None if options.until is None else parse_moment(options.until, now_ms)
    answer = context.ask(Resummarise(since=parse_moment(options.since, now_ms), until=until))
    if options.json:
        say_json(answer)
    else:
        said = "1 summary" if answer["summaries"] == 1 else f"{answer['summaries']:,} summaries"
        say(f"{said} will be summarised again; `mem drain` does it now, the old ones stay in history")
    return 0
