"""`mem scrub`: apply today's redaction rules to everything stored."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.wire.asking import Scrub

_NOUNS = {
    "events": ("event", "events"),
    "summaries": ("summary", "summaries"),
    "facts": ("fact", "facts"),
    "sessions": ("session", "sessions"),
    "records": ("record of the log", "records of the log"),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what it would change")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Scrub(dry_run=options.dry_run), timeout=WORK_SECONDS)
    if options.json:
        say_json(answer)
        return 0
    changed = [f"{number:,} {_nouns(table)[number != 1]}" for table, number in answer["changed"].items() if number]
    say(f"{', '.join(changed) or 'nothing'} {'would change' if options.dry_run else 'changed'}")
    for name, number in sorted(answer["byRule"].items(), key=lambda each: -each[1]):
        say(f"  {name}  {count(number, 'secret')}")
    for each in answer["pending"]:
        note(f"mem: still held by {clean(each)}; it is tried again at every tick")
    return 0


def _nouns(table: str) -> tuple[str, str]:
    return _NOUNS.get(table, (f"row of {table}", f"rows of {table}"))
