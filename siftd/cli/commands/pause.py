"""`mem pause`: capture nothing more until `mem resume`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.wire.asking import Pause


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--session", default="", metavar="ID", help="only this session, by its id or the beginning of it"
    )


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Pause(session=options.session, known=bool(options.session)))
    if options.json:
        say_json(answer)
    else:
        say(
            "nothing more is captured here; `mem resume` ends that"
            if not options.session
            else "nothing more of this session is captured"
        )
    return 0
