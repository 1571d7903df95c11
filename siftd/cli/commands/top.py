"""`mem top`: what happens in this workspace, as it happens: captures, the drain, searches, what was given.

Starts no daemon: it shows that none runs, and goes on by itself when one does.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.columns import columns
from siftd.cli.context import Context
from siftd.cli.live.glance import take
from siftd.cli.live.terminal import can_draw
from siftd.cli.output import note, say, say_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="print what is now, and end")


def run(context: Context, options: Namespace) -> int:
    can_be_live = can_draw(os.environ.get("TERM"))
    if can_be_live and not options.once and not options.json:
        from siftd.cli.live.watching import watch

        return watch(context)
    glance = take(context)
    if options.json:
        say_json(glance.as_json())
        return 0
    from siftd.cli.live.view import lines_of

    for line in lines_of(glance, columns(), None):
        say(line.plain.rstrip())
    if not can_be_live and not options.once:
        note("mem: this is no terminal that can be drawn on: it was one look; `mem tail` goes on")
    return 0
