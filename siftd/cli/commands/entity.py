"""`mem entity`: who or what a name is, what is known of it, and what says so; two names of one merged, and parted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.graph_page import named, say_context, say_found
from siftd.cli.moments import find_moment
from siftd.cli.numbers import positive
from siftd.cli.output import note, say, say_json
from siftd.ids import parse_entity
from siftd.wire.asking import EntityContext, MergeEntities, SearchEntity, UnmergeEntity

KNOWN_BY_NAME = ("name", "alias")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", metavar="NAME", help="a name, an id (x3), or a question that holds a name")
    parser.add_argument("--find", action="store_true", help="list what is near instead of showing one")
    parser.add_argument("--type", help="of this type only: person, team, service, file, package, ...")
    parser.add_argument("-n", type=positive, default=10, metavar="N", help="how many (default: 10)")
    parser.add_argument("--as-of", metavar="WHEN", help="as it was then: a date, 2d (ago)")
    changes = parser.add_mutually_exclusive_group()
    changes.add_argument("--merge-into", metavar="OTHER", help="say that it is the same as this one (x5 or a name)")
    changes.add_argument("--unmerge", action="store_true", help="let it stand by itself again")


def run(context: Context, options: Namespace) -> int:
    query = " ".join(options.name)
    if options.merge_into is not None or options.unmerge:
        return _change(context, options, query)
    found = context.ask(SearchEntity(query=query, entity_type=options.type, limit=options.n))
    best = next(iter(found["entities"]), None)
    is_known = parse_entity(query) is not None or (best is not None and best["why"] in KNOWN_BY_NAME)
    if options.find or not is_known:
        if options.json:
            say_json(found)
            return 0
        if query and not options.find:
            note("mem: no entity has this name" + ("; near are" if found["entities"] else ""))
        say_found(found["entities"])
        return 0 if found["entities"] and (options.find or not query) else 1
    wanted = query if options.type is None or best is None else best["id"]
    answer = context.ask(EntityContext(id=wanted, as_of=find_moment(options.as_of), limit=options.n))
    if options.json:
        say_json(answer)
        return 0
    say_context(answer)
    return 0


def _change(context: Context, options: Namespace, query: str) -> int:
    if options.unmerge:
        entity = context.ask(UnmergeEntity(id=query))["entity"]
        done = "stands by itself"
    else:
        entity = context.ask(MergeEntities(id=query, into=options.merge_into))["entity"]
        done = f"now stands for both; `mem entity {query} --unmerge` parts them"
    if options.json:
        say_json(entity)
    else:
        say(f"{named(entity)} {entity['id']} {done}")
    return 0
