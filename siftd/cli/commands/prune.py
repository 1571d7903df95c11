"""`mem prune`: forget now what the configuration says is too old."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.wire.asking import Prune


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Prune(), timeout=WORK_SECONDS)
    if options.json:
        say_json(answer)
        return 0
    say(f"{count(answer['events'], 'event')} forgotten, {count(answer['segments'], 'log segment')} removed")
    if answer["held"]:
        held = count(answer["held"], "more event")
        note(f"mem: {held} too old by the clock alone: work of another day has to confirm it first")
        note("mem: if the clock is right, `mem forget --until DATE` forgets them now")
    for each in answer["pending"]:
        note(f"mem: still held by {clean(each)}; it is tried again at every tick")
    return 0
