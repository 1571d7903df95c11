"""`mem resume`: capture again what happens from now on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.wire.asking import Resume


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--session", default="", metavar="ID", help="only this session, by its id or the beginning of it"
    )


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Resume(session=options.session, known=bool(options.session)))
    if options.json:
        say_json(answer)
    else:
        say("it was not paused" if answer["since"] is None else "what happens from now on is captured again")
    return 0
