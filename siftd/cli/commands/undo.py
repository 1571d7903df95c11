"""`mem undo`: bring a superseded summary back for good."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.wire.asking import Undo


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the summary (s7)")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Undo(id=options.id))
    if options.json:
        say_json(answer)
    elif answer["restored"]:
        say("it is back, and will not be superseded by the same again")
    else:
        note("mem: nothing supersedes it")
    return 0 if answer["restored"] else 1
