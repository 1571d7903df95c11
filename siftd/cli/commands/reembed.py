"""`mem reembed`: embed everything again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import count, say, say_json
from siftd.wire.asking import Reembed

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_HOUR_SECONDS = 3600.0
"""A model may take milliseconds for each of 100,000 summaries."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--since", metavar="WHEN", help="only of what happened since: 2d, 3h, 1w, a date")


def run(context: Context, options: Namespace) -> int:
    since = None
    if options.since is not None:
        import time

        from siftd.timestamps import parse_moment

        since = parse_moment(options.since, time.time_ns() // 1_000_000)
    answer = context.ask(Reembed(since=since), timeout=_HOUR_SECONDS)
    if options.json:
        say_json(answer)
    else:
        say(f"{count(answer['cleared'], 'vector')} taken out, {answer['embedded']:,} made")
    return 0
