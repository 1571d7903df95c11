"""`mem stats`: how much was remembered, day by day, and what became of what agents were given. Starts no daemon."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.numbers import positive
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.stored import read_store
from siftd.store import statistics

_BAR = 30


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=14, metavar="DAYS", help="the last so many days (default: 14)")


def run(context: Context, options: Namespace) -> int:
    found = read_store(context, lambda c: statistics.read_statistics(c, options.n))
    if options.json:
        say_json(found or statistics.NOTHING)
        return 0
    if not found:
        note("mem: nothing is remembered in this workspace yet")
        return 0
    most = max((day["events"] for day in found["days"]), default=0)
    for day in found["days"]:
        bar = "█" * max(1, round(_BAR * day["events"] / most))
        say(f"{day['day']}  {day['events']:>7,}  {day['sessions']:>3} {bar}")
    say(f"{'events':<10}  {_listed(found['tools'])}")
    given = found["injections"]
    where = f"{count(given['pieces'], 'piece')} in {count(given['sessions'], 'session')}"
    say(f"{'given':<10}  " + (f"{where}, {given['touched']:,} then touched" if given["pieces"] else "nothing yet"))
    return 0


def _listed(tools: list[dict[str, Any]]) -> str:
    return ", ".join(f"{clean(each['tool'])} {each['events']:,}" for each in tools)
