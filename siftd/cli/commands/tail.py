"""`mem tail`: what is captured, as it comes in. Reads the database; starts no daemon."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from siftd.cli.commands.timeline import say_event
from siftd.cli.context import Context
from siftd.cli.numbers import positive
from siftd.cli.output import note, say_json
from siftd.cli.stored import read_store
from siftd.search.unsummarised import summarise_now
from siftd.store import event_views
from siftd.store.access import Database
from siftd.wire.requests import EventLine

FOLLOW_SECONDS = 0.5
AT_ONCE = 200


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=10, metavar="N", help="begin with the last N (default: 10)")
    parser.add_argument("--once", action="store_true", help="end there, and do not wait for more")


def run(context: Context, options: Namespace) -> int:
    events = read_store(context, lambda c: _with_lines(c, event_views.timeline_latest(c, None, options.n, None))) or []
    if not events and options.once:
        note("mem: nothing is remembered in this workspace yet")
    last = _say(events, 0, is_json=options.json)
    while not options.once:
        time.sleep(FOLLOW_SECONDS)
        last = _say(_newer(context, last), last, is_json=options.json)
    return 0


def _newer(context: Context, last: int) -> list[EventLine]:
    return read_store(context, lambda c: _with_lines(c, event_views.timeline_since(c, last, AT_ONCE))) or []


def _with_lines(connection: Database, events: list[EventLine]) -> list[EventLine]:
    return [{**each, "text": each["text"] or summarise_now(connection, each["eventId"])} for each in events]


def _say(events: list[EventLine], last: int, *, is_json: bool) -> int:
    for event in events:
        say_json(event) if is_json else say_event(event)
        last = max(last, event["eventId"])
    return last
