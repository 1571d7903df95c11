"""`mem update`: change what a memory says, or link it to another one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.cli.person import is_at_terminal, says_yes
from siftd.errors import RequestInvalid
from siftd.wire.asking import Link, Show, Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import UpdateAnswer


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory (m3)")
    parser.add_argument("text", nargs="*", default=[], metavar="TEXT", help="what it says from now on")
    parser.add_argument("--type", help="fact, preference, decision, procedure, context, episode, instruction")
    parser.add_argument("--tag", action="append", dest="tags", help="its tags from now on; may be repeated")
    parser.add_argument("--importance", type=int, metavar="1-5")
    parser.add_argument("--confidence", type=float, metavar="0-1")
    parser.add_argument("--until", metavar="WHEN", help="holds until then: a date")
    pin = parser.add_mutually_exclusive_group()
    pin.add_argument("--pin", action="store_true", default=None, help="a standing instruction from now on")
    pin.add_argument("--unpin", action="store_false", dest="pin", help="no standing instruction any more")
    parser.add_argument("--contradicts", metavar="ID", help="link it: both cannot hold")
    parser.add_argument("--related-to", metavar="ID", help="link it to another one")


def run(context: Context, options: Namespace) -> int:
    changes = _changes(options)
    links = {"contradicts": options.contradicts, "related_to": options.related_to}
    typed = bool(changes) and is_at_terminal(context.environ)
    if typed and _would_stand(context, options) and not says_yes("Every session may be given this. Change it?"):
        note("mem: nothing was changed")
        return 1
    linked = [
        context.ask(Link(from_id=options.id, to_id=other, relation=relation))
        for relation, other in links.items()
        if other
    ]
    if not changes and not linked:
        raise RequestInvalid("nothing is to be changed", hint="`mem update --help` lists what can be")
    answer: UpdateAnswer = {"id": options.id, "changed": []}
    if changes:
        answer = context.ask(Update(id=options.id, typed=typed, **changes))
    if options.json:
        say_json({**answer, "linked": linked})
    else:
        say(f"{answer['id']} changed" if changes else f"{answer['id']} linked")
    if answer.get("waits"):
        note("mem: it waits for a person: `mem pins --accept` in a terminal lets it stand")
    return 0


def _would_stand(context: Context, options: Namespace) -> bool:
    """Whether the memory is, or is to be, one that stands in sessions unasked."""
    item = None if options.pin else context.ask(Show(id=options.id))["item"]
    is_pinned = item is None or (item["kind"] == "memory" and item["pinned"])
    return is_pinned or options.id.strip().startswith(("g", "#g"))


def _changes(options: Namespace) -> dict[str, Any]:
    names = ("type", "tags", "importance", "confidence", "pin")
    changes = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.text:
        changes["text"] = " ".join(options.text)
    if options.until:
        import time

        from siftd.timestamps import parse_moment

        changes["valid_until"] = parse_moment(options.until, time.time_ns() // 1_000_000)
    return changes
