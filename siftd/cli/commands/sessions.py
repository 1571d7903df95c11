"""`mem sessions`: the conversations, newest first."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.hits import say_in_short, say_wrapped
from siftd.cli.numbers import add_cursor, positive
from siftd.cli.output import clean, format_time, is_terminal, note, paint, say, say_json
from siftd.wire.asking import Sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import Session


GOALS = 3
"""Of a session that had several, in a list of many."""
LINES = 2
"""Of a session's story on a terminal."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument("--client", metavar="NAME", help="of this agent's program: claude-code, codex, ...")
    add_cursor(parser)


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Sessions(limit=options.n, client=options.client, cursor=options.cursor))
    if options.json:
        say_json(answer)
        return 0
    for each in answer["sessions"]:
        by = f" · {clean(each['client'])}" if len(answer["clients"]) > 1 and each["client"] else ""
        head = f"{clean(each['sessionId'][:8])}{by}  {format_time(each['lastTs'])}  {each['events']:>5}  "
        painted = paint(head[:8], "cyan") + head[8:]
        if (goals := each.get("goals")) and is_terminal():
            say(painted.rstrip())
            say_in_short(goals, each.get("open", ""), "  ", most=GOALS)
        else:
            say_wrapped(head, painted, _title(each), LINES)
    if answer["sessions"]:
        note("mem: `mem session ID` tells one whole")
    else:
        note("mem: no session is remembered here yet")
    return 0


def _title(session: Session) -> str:
    """Return how a session is known again: by its story, else by what was asked first."""
    story = str(session["summary"] or session["asked"] or "")
    return story.partition(": ")[2] if story.startswith("Session") else story
