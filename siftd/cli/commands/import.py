"""`mem import`: merge an exported file in."""

# ruff: noqa: N999 - a verb's module has the verb's name; nothing imports it by statement

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.person import is_at_terminal
from siftd.cli.progress import progress_bar
from siftd.errors import RequestInvalid
from siftd.wire.asking import Import


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that `mem export` has written")
    parser.add_argument("--own", action="store_true", help="it is your own: believe it who said what")
    parser.add_argument("--yes", action="store_true", help="into the memories for every project too")


def run(context: Context, options: Namespace) -> int:
    if options.own and not is_at_terminal(context.environ):
        raise RequestInvalid("a person has to say whose file it is", hint="say --own in a terminal of your own")
    path = os.path.abspath(os.path.expanduser(options.file))  # noqa: PTH100, PTH111 - pathlib would cost 10 ms
    with progress_bar("importing") as on_progress:
        request = Import(path=path, own=options.own, yes=options.yes)
        answer = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    added = answer["added"]
    if options.json:
        say_json(answer)
    else:
        say(
            f"{count(added['events'], 'event')}, {added['summaries']:,} summarised, {added['memories']:,} remembered"
            f" added; {sum(answer['known'].values()):,} of the file's lines were known already"
        )
        if answer["forgotten"]:
            note(f"mem: {count(answer['forgotten'], 'event')} stayed out: forgotten here")
        if answer["errors"]:
            note(f"mem: {count(answer['errors'], 'error')}, the first: {clean(answer['firstError'] or 'unknown')}")
    return 1 if answer["errors"] else 0
