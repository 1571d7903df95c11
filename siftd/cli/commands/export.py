"""`mem export`: write everything into a file, or to standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import count, say, say_json
from siftd.cli.progress import progress_bar
from siftd.errors import RequestInvalid
from siftd.wire.asking import Export

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import ExportAnswer

_COPY_BYTES = 1 << 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="a new file (default: standard output)")


def run(context: Context, options: Namespace) -> int:
    if options.file == "-":
        if options.json:
            raise RequestInvalid("standard output cannot have both", hint="give a FILE with --json")
        _print_export(context)
        return 0
    answer = _export(context, os.path.abspath(os.path.expanduser(options.file)))  # noqa: PTH100, PTH111 - as text
    counts = answer["counts"]
    if options.json:
        say_json(answer)
    else:
        say(
            f"{answer['path']}: {count(counts['events'], 'event')}, {counts['summaries']:,} summarised,"
            f" {counts['memories']:,} remembered"
        )
    return 0


def _export(context: Context, path: str) -> ExportAnswer:
    with progress_bar("exporting") as on_progress:
        return context.ask(Export(path=path), timeout=WORK_SECONDS, on_progress=on_progress)


def _print_export(context: Context) -> None:
    """Have the daemon write beside its database, where nobody else looks, and print that."""
    path = f"{context.paths.folder}/export-{os.getpid()}.jsonl"
    try:
        _export(context, path)
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib would cost 10 ms
            while data := file.read(_COPY_BYTES):
                sys.stdout.buffer.write(data)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - as above
