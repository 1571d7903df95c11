"""`mem drain`: summarise and embed now what is still raw."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.numbers import positive
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.progress import progress_bar
from siftd.wire.asking import Drain


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--backend", metavar="NAME", help="ask this one, this time (ollama:llama3.2:3b, extractive)")
    parser.add_argument("limit", nargs="?", type=positive, metavar="N", help="at most so many events (default: all)")


def run(context: Context, options: Namespace) -> int:
    with progress_bar("draining") as on_progress:
        request = Drain(limit=options.limit, backend=options.backend)
        result = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    if options.json:
        say_json(result)
    else:
        say(
            f"{count(result['processed'], 'event')} summarised by {clean(result['backend'])},"
            f" {result['embedded']:,} embedded, {result['pending']:,} still raw"
        )
        if result["rewritten"]:
            say(f"{result['rewritten']:,} summarised again; the old summaries stay in history")
        if not result["errors"] and result["firstError"]:
            note(f"mem: the built-in backend stands in: {clean(result['firstError'])}")
        if result["errors"]:
            note(f"mem: {count(result['errors'], 'error')}, the first: {clean(result['firstError'] or 'unknown')}")
    return 1 if result["errors"] and not result["processed"] else 0
