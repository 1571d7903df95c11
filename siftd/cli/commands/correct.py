"""`mem correct`: say what holds in the place of a fact."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.cli.person import is_at_terminal
from siftd.wire.asking import Correct


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the fact that does not hold (m3)")
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what holds")


def run(context: Context, options: Namespace) -> int:
    typed = is_at_terminal(context.environ)
    answer = context.ask(Correct(id=options.id, text=" ".join(options.text), source="mem", typed=typed))
    if options.json:
        say_json(answer)
    else:
        say(f"{answer['id']} holds in the place of {answer['corrected']}")
    if answer["waits"]:
        note("mem: it waits for a person: `mem pins --accept` in a terminal lets it stand")
    return 0
