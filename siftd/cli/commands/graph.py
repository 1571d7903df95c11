"""`mem graph`: what hangs together with an entity, as a tree; the way from one to another; the hubs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.graph_page import say_found, say_path, say_walk
from siftd.cli.moments import find_moment
from siftd.cli.numbers import positive
from siftd.cli.output import note, say_json
from siftd.errors import RequestInvalid
from siftd.wire.asking import SearchEntity, TraverseGraph

DEPTH = 2
DEPTH_OF_A_PATH = 6


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("start", nargs="?", metavar="A", help="an entity, by id (x3) or name (default: the hubs)")
    parser.add_argument("target", nargs="?", metavar="B", help="the way from A to this one")
    parser.add_argument("-n", type=positive, default=20, metavar="N", help="how many entities (default: 20)")
    parser.add_argument("--depth", type=positive, metavar="N", help="steps, at most 6 (default: 2, of a way 6)")
    parser.add_argument("--relation", metavar="TYPE", help="along this relation only: DEPENDS_ON, USES, ...")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--out", action="store_true", help="only from A on: what it depends on")
    ways.add_argument("--in", action="store_true", dest="inward", help="only towards A: what depends on it")
    ways.add_argument("--related", action="store_true", help="what the same events, facts and documents name")
    parser.add_argument("--as-of", metavar="WHEN", help="as it was then: a date, 2d (ago)")
    parser.add_argument("--history", action="store_true", help="also along relations that hold no more")


def run(context: Context, options: Namespace) -> int:
    if options.start is None:
        hubs = context.ask(SearchEntity(limit=options.n))
        if options.json:
            say_json(hubs)
            return 0
        say_found(hubs["entities"])
        if not hubs["entities"]:
            note("mem: the graph is empty: it grows with events, facts and documents")
        return 0
    if options.related and options.target is not None:
        raise RequestInvalid("a way follows relations", hint="leave --related out")
    answer = context.ask(TraverseGraph(**_asked(options)))
    if options.json:
        say_json(answer)
        return 0
    if options.target is None:
        say_walk(answer)
    elif answer["nodes"]:
        say_path(answer)
    if answer["shortened"] is not None:
        note(f"mem: {answer['shortened']}")
    elif not answer["nodes"]:
        note("mem: there is no way between them" if options.target else "mem: nothing hangs together with it")
    return 0 if answer["nodes"] else 1


def _asked(options: Namespace) -> dict[str, Any]:
    action = "path" if options.target is not None else "related" if options.related else "neighbors"
    return {
        "start_entity_id": options.start,
        "target_entity_id": options.target,
        "action": action,
        "relation_type": options.relation,
        "direction": "out" if options.out else "in" if options.inward else "both",
        "max_depth": options.depth or (DEPTH_OF_A_PATH if action == "path" else DEPTH),
        "limit": options.n,
        "as_of": find_moment(options.as_of),
        "history": options.history,
    }
