"""`mem conversations`: named sessions and what they follow up on or branch from; one's tree; those long idle."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.numbers import add_cursor
from siftd.cli.output import clean, count, format_time, note, one_line, paint, say, say_json
from siftd.errors import RequestInvalid
from siftd.wire.asking import Conversations, Converse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import Conversation


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="the whole tree that this one belongs to")
    parser.add_argument("-n", type=int, default=20, metavar="N", help="how many (default: 20)")
    add_cursor(parser)
    parser.add_argument("--stale", type=int, metavar="DAYS", help="those in which nothing happened for so long")
    parser.add_argument("--start", metavar="TITLE", help="begin one; its id goes with what is remembered in it")
    parent = parser.add_mutually_exclusive_group()
    parent.add_argument("--follows", metavar="ID", help="the new one follows up on this one")
    parent.add_argument("--branches", metavar="ID", help="the new one branches from this one")


def run(context: Context, options: Namespace) -> int:
    if options.start is not None:
        return _start(context, options)
    if options.follows or options.branches:
        raise RequestInvalid("only a new conversation is given a parent", hint="--start TITLE begins one")
    answer = context.ask(Conversations(id=options.id, stale_days=options.stale, limit=options.n, cursor=options.cursor))
    if options.json:
        say_json(answer)
        return 0
    rows = [each for each in answer["conversations"] if options.id or each["title"] or each["parentId"]]
    for depth, each in _as_tree(rows) if options.id else ((0, each) for each in rows):
        say(_line(each, "  " * depth))
    if not rows:
        note("mem: none was named or follows up on another; `mem sessions` lists all")
    return 0


def _start(context: Context, options: Namespace) -> int:
    answer = context.ask(Converse(title=options.start, follows_up_on=options.follows, branches_from=options.branches))
    say_json(answer) if options.json else say(f"{answer['id']} begun")
    return 0


def _as_tree(rows: list[Conversation]) -> list[tuple[int, Conversation]]:
    """Return (how far below its root, conversation), each before its children."""
    children: dict[str | None, list[Conversation]] = {}
    known = {each["id"] for each in rows}
    for each in rows:
        children.setdefault(each["parentId"] if each["parentId"] in known else None, []).append(each)
    shown: list[tuple[int, Conversation]] = []
    waiting = [(0, each) for each in reversed(children.get(None, []))]
    while waiting:
        depth, each = waiting.pop()
        shown.append((depth, each))
        waiting += [(depth + 1, child) for child in reversed(children.get(each["id"], []))]
    return shown


def _line(row: Conversation, indent: str) -> str:
    head = f"{indent}{clean(row['id'])}"
    held = f"{count(row['events'], 'event')}, {row['memories']} remembered"
    latest = format_time(max(row["lastTs"], row["rememberedTs"]))
    shown = row["title"] or row["asked"] or ""
    return f"{paint(head, 'cyan')}  {latest}  {held}  {one_line(shown, len(head) + len(held) + 24)}".rstrip()
