"""How a person sees the graph on a terminal: an entity with what says so, what is around it as a tree, a way.

auth service  x3  service
├─ DEPENDS_ON → billing  x5  service    d4:12 The auth service depends on billing.
│  └─ STORES_IN → postgres  x8  tool    e31 billing keeps its ledger in postgres
└─ WORKS_ON ← platform team  x9  team   m3 The platform team maintains auth.
"""

from __future__ import annotations

from siftd.cli.output import clean, count, format_day, format_time, one_line, paint, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from siftd.wire.requests import (
        EntityContextAnswer,
        EntityName,
        Evidence,
        FoundEntity,
        Relation,
        TraverseGraphAnswer,
        WalkedEntity,
    )

_TEXT_COLUMNS = 100
EARLIER = "an earlier reading of it said so"
"""Of what says a relation, behind it in a tree."""


def say_found(found: Sequence[FoundEntity]) -> None:
    """Print entities that were looked for, one a line."""
    for each in found:
        other = f"  also {', '.join(map(_name, each['aliases'][:3]))}" if each["aliases"] else ""
        figures = f"{count(each['relations'], 'relation')}, {count(each['mentions'], 'mention')}"
        say(f"{paint(each['id'].ljust(6), 'cyan')} {named(each)}  {paint(figures + other, 'dim')}")


def say_context(answer: EntityContextAnswer) -> None:
    """Print what is known of an entity, and what says so."""
    entity = answer["entity"]
    say(f"{paint(_name(entity['name']), 'bold')}  {paint(entity['id'], 'cyan')}  {clean(entity['type'])}")
    if entity["description"]:
        say(f"  {one_line(entity['description'], 2)}")
    if entity["aliases"]:
        say(f"  also called {', '.join(map(_name, entity['aliases']))}")
    for label, others in (("merged into it", answer["merged"]), ("of the same name", answer["others"])):
        if others:
            listed = ", ".join(f"{named(each)} {each['id']}" for each in others)
            say(f"  {label}: {listed}")
    figures = f"{count(entity['mentions'], 'mention')}, {count(entity['relations'], 'relation')}"
    say(paint(f"  {figures}, first spoken of {format_day(entity['firstTs'])}", "dim"))
    for relation in answer["relations"]:
        _say_relation(relation)
    if answer["hasMore"]:
        say(paint(f"  … more: `mem graph {entity['id']} -n 100`", "dim"))
    if answer["ended"]:
        say("held once")
    for relation in answer["ended"]:
        _say_relation(relation)
    if answer["asked"] is None and answer["items"]:
        say("named by")
        for item in answer["items"]:
            _say_evidence(item, "  ")


def say_walk(answer: TraverseGraphAnswer) -> None:
    """Print what a walk came to as a tree below its start."""
    below: dict[str, list[WalkedEntity]] = {}
    for node in answer["nodes"]:
        below.setdefault(node["parent"], []).append(node)
    start = answer["start"]
    say(f"{paint(_name(start['name']), 'bold')}  {paint(start['id'], 'cyan')}  {clean(start['type'])}")
    left: list[tuple[str, str, WalkedEntity]] = []

    def push(parent: str, indent: str) -> None:
        children = below.get(parent, [])
        for place, child in reversed(list(enumerate(children, start=1))):
            head, line = ("└─ ", "   ") if place == len(children) else ("├─ ", "│  ")
            left.append((indent + head, indent + line, child))

    push(start["id"], "")
    while left:
        head, indent, node = left.pop()
        _say_node(head, node)
        push(node["entity"]["id"], indent)


def say_path(answer: TraverseGraphAnswer) -> None:
    """Print a way step by step, each with what says it."""
    start = answer["start"]
    say(f"{paint(_name(start['name']), 'bold')}  {paint(start['id'], 'cyan')}  {clean(start['type'])}")
    for node in answer["nodes"]:
        _say_node("  ", node, is_proved=False)
        for item in node["relation"]["evidence"] if node["relation"] else ():
            _say_evidence(item, "      ")


def named(entity: EntityName) -> str:
    """Return an entity's name and what it is."""
    return f"{_name(entity['name'])} ({clean(entity['type'])})"


def _say_node(head: str, node: WalkedEntity, *, is_proved: bool = True) -> None:
    entity, relation = node["entity"], node["relation"]
    where = f"{paint(_name(entity['name']), 'bold')}  {paint(entity['id'], 'cyan')}  {clean(entity['type'])}"
    if relation is None:
        say(f"{head}{where}  {paint(count(node['shared'], 'item') + ' of both', 'dim')}")
        return
    arrow = "→" if relation["src"]["id"] == node["parent"] else "←"
    says = relation["evidence"][0] if relation["evidence"] and is_proved else None
    proof = "" if says is None else f"  {says['id']} {one_line(says['text'], -10_000)[:_TEXT_COLUMNS]}"
    say(f"{head}{clean(relation['type'])} {arrow} {where}{_ended(relation)}{paint(proof, 'dim')}")


def _say_relation(relation: Relation) -> None:
    src, dst = relation["src"], relation["dst"]
    since = f"since {format_day(relation['validFrom'])}"
    until = "" if relation["validTo"] is None else f", until {format_day(relation['validTo'])}"
    how = f"{since}{until}; {clean(relation['source'])}, {count(relation['mentions'], 'time')}"
    line = f"{_name(src['name'])} {paint(src['id'], 'cyan')} {clean(relation['type'])} "
    say(f"  {line}{_name(dst['name'])} {paint(dst['id'], 'cyan')}  {paint(how, 'dim')}")
    for item in relation["evidence"]:
        _say_evidence(item, "    ")


def _say_evidence(item: Evidence, indent: str) -> None:
    when = "" if item["ts"] is None else f"{format_time(item['ts'])}  "
    gone = "" if item["untilTs"] is None else f" (until {format_day(item['untilTs'])})"
    head = f"{indent}{item['id'].ljust(7)} {when}"
    said = one_line(item["text"] or EARLIER, len(head) + len(gone))
    say(f"{indent}{paint(item['id'].ljust(7), 'cyan')} {when}{said}{gone}")


def _ended(relation: Relation) -> str:
    return "" if relation["validTo"] is None else f"  until {format_day(relation['validTo'])}"


def _name(text: str) -> str:
    return one_line(text, -10_000)
