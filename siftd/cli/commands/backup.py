"""`mem backup`: copy the database, checked, into a file of your own; what you forget later stays in it."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import format_bytes, say, say_json
from siftd.wire.asking import Backup


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="a new file (default: siftd-DATE.sqlite here)")


def run(context: Context, options: Namespace) -> int:
    name = options.file or f"siftd-{time.strftime('%Y-%m-%d')}.sqlite"
    path = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111 - pathlib would cost 10 ms at every run
    answer = context.ask(Backup(path=path), timeout=WORK_SECONDS)
    if options.json:
        say_json(answer)
    else:
        say(f"{answer['path']}: {format_bytes(answer['bytes'])}, whole; open it with sqlite3")
    return 0
