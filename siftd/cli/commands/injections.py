"""`mem injections`: what agents were given unasked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.numbers import add_cursor, positive
from siftd.cli.output import clean, format_time, note, paint, print_table, say, say_json
from siftd.wire.asking import Injections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import Injection


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=20, metavar="N", help="how many (default: 20)")
    add_cursor(parser)
    parser.add_argument("--session", help="of this session only")
    parser.add_argument("--last", action="store_true", help="what was given last, whole")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Injections(session=options.session, limit=options.n, cursor=options.cursor))
    if options.last:
        return _say_last(answer["injections"], is_json=options.json)
    if options.json:
        say_json(answer)
        return 0
    rows = [
        (
            format_time(each["ts"]),
            each["sessionId"][:8],
            each["hook"],
            each["piece"],
            f"by e{each['touchedBy']}" if each["touchedBy"] else "no",
            each["text"] or "",
        )
        for each in answer["injections"]
    ]
    if rows:
        print_table(("when", "session", "at", "piece", "touched", "text"), rows)
    else:
        note("mem: no agent was given anything yet")
    return 0


def _say_last(injections: list[Injection], *, is_json: bool) -> int:
    """Print all pieces that one session was given at one moment, the newest one."""
    moment = [(each["sessionId"], each["ts"]) for each in injections[:1]]
    given = [each for each in injections if (each["sessionId"], each["ts"]) in moment][::-1]
    if is_json:
        say_json({"injections": given})
        return 0
    if not given:
        note("mem: no agent was given anything yet")
        return 0
    first = given[0]
    say(paint(f"{clean(first['sessionId'][:8])}  {format_time(first['ts'])}  {first['hook']}", "bold"))
    for each in given:
        say(f"{paint(each['piece'], 'cyan')}  {clean(each['text'] or 'it is gone')}")
    note(f"mem: `mem why {first['piece']}` says why")
    return 0
