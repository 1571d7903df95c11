"""`mem retry`: summarise again what was skipped, or what stands in for what a model could not say."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import count, say, say_json
from siftd.wire.asking import Retry


def add_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("id", nargs="?", metavar="ID", help="this event (e12)")
    which.add_argument("--all", action="store_true", help="every skipped event")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Retry(id=options.id))
    if options.json:
        say_json(answer)
    else:
        say(f"{count(answer['retried'], 'event')} to be tried again; `mem drain` does it now")
    return 0 if answer["retried"] or options.all else 1
