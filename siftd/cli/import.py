"""`mem import`: merge an exported file in."""

# ruff: noqa: N999 - a verb's module has the verb's name; nothing imports it by statement

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, say, say_json, tell
from siftd.cli.progress import progress_bar


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that `mem export` has written")


def run(context: Context, options: Namespace) -> int:
    path = os.path.abspath(os.path.expanduser(options.file))  # noqa: PTH100, PTH111 - pathlib would cost 10 ms
    with progress_bar("importing") as on_progress:
        answer = context.ask({"kind": "import", "path": path}, timeout=WORK_SECONDS, on_progress=on_progress)
    added = answer["added"]
    if options.json:
        say_json(answer)
    else:
        say(
            f"{count(added['events'], 'event')}, {added['summaries']:,} summarised, {added['memories']:,} remembered"
            f" added; {sum(answer['known'].values()):,} of the file's lines were known already"
        )
        if answer["forgotten"]:
            tell(f"mem: {count(answer['forgotten'], 'event')} stayed out: forgotten here")
        if answer["errors"]:
            tell(f"mem: {count(answer['errors'], 'error')}, the first: {clean(answer['firstError'] or 'unknown')}")
    return 1 if answer["errors"] else 0
