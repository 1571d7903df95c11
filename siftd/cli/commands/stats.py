"""`mem stats`: what was captured and given, day by day, and what became of it, as text bars. Starts no daemon."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.numbers import positive
from siftd.cli.output import note, say_json
from siftd.cli.statistics_page import say_statistics
from siftd.cli.stored import read_both_stores
from siftd.store.access import Database
from siftd.store.statistics import Statistics
from siftd.store.stored_kinds import list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import StatsAnswer


def add_arguments(parser: ArgumentParser) -> None:
    text = "the last so many days (default: 30)"
    parser.add_argument("-n", "--days", type=positive, default=30, metavar="DAYS", dest="days", help=text)


def run(context: Context, options: Namespace) -> int:
    found = read_statistics(context, options.days)
    if options.json:
        say_json(found)
        return 0
    if not found["days"]:
        note("mem: nothing is remembered in this workspace yet: `mem install` wires your agents, `mem doctor` checks")
        return 0
    say_statistics(found)
    return 0


def read_statistics(context: Context, days: int) -> StatsAnswer:
    """Return what the daemon's request `stats` answers, from the files; zeros where nothing is."""
    now_ms = time.time_ns() // 1_000_000

    def read(own: Database, shared: Database | None) -> StatsAnswer:
        return Statistics(days, now_ms, lambda: shared).read_all(own)

    found = read_both_stores(context, read) or Statistics(days, now_ms).answer()
    return {**found, "storage": found["storage"] + list_files(context.paths)}
