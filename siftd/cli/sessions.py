"""`mem sessions`: the conversations, newest first."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import format_time, print_table, say_json, tell


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=int, default=20, metavar="N", help="how many (default: 20)")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask({"kind": "sessions", "limit": options.n})
    if options.json:
        say_json(answer)
        return 0
    rows = [
        (
            each["session_id"],
            format_time(each["last_ts"]),
            str(each["events"]),
            each["source"] or "-",
            each["asked"] or "",
        )
        for each in answer["sessions"]
    ]
    if rows:
        print_table(("session", "last", "events", "by", "asked first"), rows)
    else:
        tell("mem: no session is remembered here yet")
    return 0
