"""`mem memories`: what is kept on purpose, what resembles it, what contradicts, how much there is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.numbers import add_cursor
from siftd.cli.output import clean, format_time, note, one_line, paint, say, say_json
from siftd.wire.asking import Memories, MemoryHealth, Similar, elsewhere
from siftd.wire.global_routing import LETTER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from siftd.wire.requests import Conflict, ListedMemory, MemoryHealthAnswer


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=int, default=50, metavar="N", help="how many (default: 50)")
    parser.add_argument("--type", help="of this type only")
    parser.add_argument("--tag", help="with this tag only")
    parser.add_argument("--pinned", action="store_true", help="standing instructions only")
    parser.add_argument("--superseded", action="store_true", help="also what was replaced or no longer holds")
    parser.add_argument("--as-of", metavar="WHEN", help="what held then: a date, 2d (ago)")
    parser.add_argument("--global", action="store_true", dest="everywhere", help="those for every project (g3)")
    add_cursor(parser)
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--similar", metavar="ID", help="those nearest to this one in meaning")
    views.add_argument("--conflicts", action="store_true", help="pairs that contradict each other")
    views.add_argument("--health", action="store_true", help="numbers and topics")


def run(context: Context, options: Namespace) -> int:
    letter = LETTER if options.everywhere else "m"
    answer, lines = _ask(context, options, letter)
    if options.json:
        say_json(answer)
        return 0
    for line in lines:
        say(line)
    if not lines:
        note("mem: no two contradict" if options.conflicts else "mem: there is none; `mem remember` keeps one")
    return 0


def _ask(context: Context, options: Namespace, letter: str) -> tuple[object, list[str]]:
    """Return the answer, and its lines for people."""
    if options.similar:
        near = context.ask(Similar(id=options.similar, limit=options.n))
        return near, [f"{each['id']:<6} {each['cosine']:.2f}  {one_line(each['text'], 14)}" for each in near["similar"]]
    if options.conflicts or options.health:
        whole = context.ask(elsewhere(MemoryHealth()) if options.everywhere else MemoryHealth())
        return whole, list(_conflicts(whole["conflicts"], letter) if options.conflicts else _health(whole))
    listed = Memories(**_filters(options))
    found = context.ask(elsewhere(listed) if options.everywhere else listed)
    return found, [_line(each, letter) for each in found["memories"]]


def _filters(options: Namespace) -> dict[str, Any]:
    filters = {
        "type": options.type,
        "tag": options.tag,
        "pinned": options.pinned,
        "superseded": options.superseded,
        "limit": options.n,
        "cursor": options.cursor,
    }
    if options.as_of:
        import time

        from siftd.timestamps import parse_moment

        filters["as_of"] = parse_moment(options.as_of, time.time_ns() // 1_000_000)
    return filters


def _line(memory: ListedMemory, letter: str) -> str:
    name = f"{letter}{memory['id']}"
    state = " waits" if memory["waits"] else " pinned" if memory["pinned"] else ""
    described = f"{clean(memory['type'])} ({clean(memory['saidBy'])}){state}"
    head = f"{name:<6} {format_time(memory['updatedTs'])}  {described}"
    return f"{paint(name, 'cyan')}{head[len(name) :]}  {one_line(memory['text'], len(head) + 2)}"


def _conflicts(pairs: Iterable[Conflict], letter: str) -> Iterable[str]:
    for pair in pairs:
        yield f"{letter}{pair['aId']:<5} {one_line(pair['aText'], 8)}"
        yield f"  against {letter}{pair['bId']}  {one_line(pair['bText'], 20)}"


def _health(answer: MemoryHealthAnswer) -> Iterable[str]:
    for name, value in answer["health"].items():
        shown = format_time(value) if name.endswith("Ts") and isinstance(value, int) else value
        yield f"{name:<17}  {shown}"
    for kind, topics in (("types", answer["topics"]["types"]), ("tags", answer["topics"]["tags"])):
        yield f"{kind:<13}  " + ", ".join(f"{clean(str(each['topic']))} ({each['count']})" for each in topics)
