"""`mem brief`: what a session would be given at its start."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.wire.asking import Brief


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="a folder of the workspace (default: where you are)")


def run(context: Context, options: Namespace) -> int:
    if options.path:
        context = context.of_folder(options.path)
    answer = context.ask(Brief())
    if options.json:
        say_json(answer)
    elif answer["text"]:
        say(answer["text"])  # made of harmless pieces; `clean` would break its fence
        note(f"mem: about {answer['tokens']} tokens")
    else:
        note("mem: there is nothing to say at a session's start")
    return 0
