"""`mem timeline`: events in the order in which they happened."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.numbers import add_cursor
from siftd.cli.output import clean, format_time, note, one_line, paint, say, say_json
from siftd.wire.asking import Timeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import EventLine


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="around this event or summary (default: the latest)")
    parser.add_argument("--session", help="the latest of this session")
    parser.add_argument("--client", metavar="NAME", help="the latest of this agent's program")
    parser.add_argument("--before", type=int, default=10, metavar="N", help="how many before it (default: 10)")
    parser.add_argument("--after", type=int, default=10, metavar="N", help="how many after it (default: 10)")
    add_cursor(parser)


def run(context: Context, options: Namespace) -> int:
    asked = {name: getattr(options, name) for name in ("session", "client", "before", "after", "cursor")}
    answer = context.ask(Timeline(around=options.id, **asked))
    if options.json:
        say_json(answer)
        return 0
    for event in answer["events"]:
        say_event(event, names_client=len(answer["clients"]) > 1)
    if not answer["events"]:
        note("mem: nothing is remembered here yet")
    return 0


def say_event(event: EventLine, *, names_client: bool = False) -> None:
    """Print one event of a timeline as one line, with its agent's program where several have written."""
    name = f"e{event['eventId']}"
    failed = " failed" if event["outcome"] == "failed" else ""
    by = f" · {clean(event['client'])}" if names_client and event["client"] else ""
    head = f"{name:<6}{by} {format_time(event['ts'])}  {clean(event['tool'])}{failed} ({clean(event['saidBy'])})"
    text = one_line(event["text"], used=len(head) + 2)
    say(f"{paint(name, 'cyan')}{head[len(name) :]}  {text}")
