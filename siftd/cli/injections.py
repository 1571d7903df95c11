"""`mem injections`: what agents were given unasked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.numbers import positive
from siftd.cli.output import format_time, print_table, say_json, tell


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument("--session", help="of this session only")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask({"kind": "injections", "session": options.session, "limit": options.n})
    if options.json:
        say_json(answer)
        return 0
    rows = [
        (
            format_time(each["ts"]),
            each["session_id"][:8],
            each["hook"],
            each["piece"],
            f"by e{each['touched_by']}" if each["touched_by"] else "no",
            each["text"] or "",
        )
        for each in answer["injections"]
    ]
    if rows:
        print_table(("when", "session", "at", "piece", "touched", "text"), rows)
    else:
        tell("mem: no agent was given anything yet")
    return 0
