"""`mem mute`: what an agent was given in vain is given unasked no more; it is found as before."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.wire.asking import Mute


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="as cited: e12, s7, t12")
    parser.add_argument("--undo", action="store_true", help="let it be given again")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Mute(id=options.id, muted=not options.undo))
    if options.json:
        say_json(answer)
    elif options.undo:
        say(f"{answer['event']} may be given again")
    else:
        say(f"nothing of {answer['event']} is given unasked any more; a search finds it as before")
    return 0
