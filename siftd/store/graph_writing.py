"""Writing what an item says into the graph: entities, mentions, relations and their evidence, each with the item's id.

Within the caller's transaction. Putting the same twice changes nothing. Where the text of an event or a fact changes,
or goes, triggers take out what it said; what a document says no longer ends, and stays as history, until the document
goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import NamedTuple

from siftd.graph.model import Found, Named
from siftd.graph.names import Marks, name_key
from siftd.store import graph_merges, graph_names, graph_relations, meta
from siftd.store.graph_names import Resolved
from siftd.store.graph_relations import Evidence

READ_UPTO = "graph_read_upto"
"""In `meta`: up to this event, the graph holds what they say."""

_MENTIONS = "SELECT named, count, line FROM mentions WHERE item = ?"
_PUT_MENTION = "INSERT INTO mentions (entity_id, item, named, count, line) VALUES (?, ?, ?, ?, ?)"
_COUNT_MENTION = "UPDATE mentions SET count = ?, line = ? WHERE item = ? AND named = ?"
_DROP_MENTION = "DELETE FROM mentions WHERE item = ? AND named = ?"
_ALIASES = "SELECT entity_id, alias_key FROM entity_aliases WHERE item = ?"
_PUT_ALIAS = "INSERT OR IGNORE INTO entity_aliases (entity_id, alias_key, item, alias) VALUES (?, ?, ?, ?)"
_DROP_ALIAS = "DELETE FROM entity_aliases WHERE entity_id = ? AND alias_key = ? AND item = ?"
_DESCRIBE = """
UPDATE entities SET description = ?1, described_by = ?2
WHERE id = ?3 AND (description = '' OR described_by = ?2) AND description <> ?1
"""
_UNDESCRIBE = "UPDATE entities SET description = '', described_by = NULL WHERE described_by = ? AND id = ?"
_DESCRIBED = "SELECT id FROM entities WHERE described_by = ?"
_TABLES = (
    "graph_ends",
    "relation_evidence",
    "relations",
    "entity_aliases",
    "mentions",
    "entities",
    "graph_queue",
    "graph_documents",
)
_NAMES = "SELECT id, name, aliases, description FROM entities WHERE id > ? ORDER BY id LIMIT 512"
_QUEUE_ALL = """
INSERT OR IGNORE INTO graph_queue SELECT 'm' || id FROM facts UNION ALL SELECT 'd' || id FROM documents
"""


class Said(NamedTuple):
    """When an item says what it says."""

    ts: int
    until: int | None = None
    """When it stopped to hold, as of a fact that another one has replaced."""
    keeps_history: bool = False
    """Whether what it said before, and says no longer, has ended: a document's. Else it was never said."""
    is_partial: bool = False
    """Whether more of the same comes at once: nothing ends that is not in it."""
    is_judged: bool = False
    """Whether it says itself until when it holds, as a fact does. What another item has ended begins not again else."""


def put(
    connection: sqlite3.Connection, item: str, found: Found, said: Said, marks: Marks, *, known: Resolved | None = None
) -> None:
    """Let an item say this, in the place of what it said before.

    `known` are the entities that vectors have found for names nobody had seen; one that is gone by now counts not.
    """
    numbers = _resolve(connection, found, said.ts, marks, known or {})
    renamed = _put_relations(connection, item, found, said, numbers)
    held_by = _named_by(connection, item)
    _put_mentions(connection, item, found, numbers, None if said.is_partial else held_by)
    if said.is_partial:
        return
    _put_aliases(connection, item, found, said, numbers)
    _put_descriptions(connection, item, found, numbers)
    _end_incomplete(connection, item, found, said, numbers)
    graph_merges.settle_all(connection, renamed)
    graph_merges.settle_queued(connection)


def forget_item(connection: sqlite3.Connection, item: str) -> None:
    """Let an item never have said anything. What goes with a row of ours goes by trigger; this is for the others."""
    connection.execute("DELETE FROM entity_aliases WHERE item = ?", (item,))
    connection.execute("DELETE FROM relation_evidence WHERE item = ?", (item,))
    connection.execute("DELETE FROM mentions WHERE item = ?", (item,))
    while graph_merges.settle_queued(connection):
        pass


def clear(connection: sqlite3.Connection) -> None:
    """Leave nothing but a person's merges: it is read again, in the background."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
    connection.execute(_QUEUE_ALL)
    meta.put(connection, READ_UPTO, "0")


def scrub(connection: sqlite3.Connection, rewrite: Callable[[str], str], *, dry_run: bool) -> list[tuple[str, str]]:
    """Take out entities that today's rules would write otherwise; return (text, rewritten text) of each.

    Their items are rewritten themselves, and read again.
    """
    changed: list[tuple[int, str, str]] = []
    last = 0
    while rows := connection.execute(_NAMES, (last,)).fetchall():
        last = rows[-1][0]
        for number, *texts in rows:
            said = "\n".join(texts)
            if (new := rewrite(said)) != said:
                changed.append((number, said, new))
    if changed and not dry_run:
        for number, _, _ in changed:
            graph_merges.part_members(connection, number)
            connection.execute("DELETE FROM entities WHERE id = ?", (number,))
    return [(said, new) for _, said, new in changed]


def _resolve(connection: sqlite3.Connection, found: Found, ts: int, marks: Marks, known: Resolved) -> dict[Named, int]:
    numbers: dict[Named, int] = {}
    for each in found.spoken:
        before = graph_names.find(connection, each.named)
        number = graph_names.ensure(connection, each.named, marks, ts, known=known.get(each.named))
        numbers[each.named] = number
        if before is None and each.named not in known:
            graph_merges.settle_created(connection, number)
    return numbers


def _put_relations(connection: sqlite3.Connection, item: str, found: Found, said: Said, numbers: Resolved) -> set[int]:
    """Put the relations; return the entities that were renamed by it, or are so no longer."""
    wanted: dict[tuple[int, int, str], Evidence] = {}
    later = {
        numbers[each]: graph_relations.later_manifests(connection, numbers[each], item=item, ts=said.ts)
        for each in found.complete & numbers.keys()
    }
    for link, count in found.links:
        src, dst = numbers[link.src], numbers[link.dst]
        newer = later.get(src, []) if link.way == "manifest" else []
        until = next((ts for ts, named in newer if dst not in named), said.until)
        if src != dst:
            each = Evidence(0, src, dst, link.type, link.line, count, said.ts, until, link.way)
            ended = graph_relations.ended_at(connection, each, item)
            if ended is not None and (until is None or ended < until):
                each = each._replace(until=ended)
            wanted.setdefault((src, dst, link.type), each)
    renamed: set[int] = set()
    for before in graph_relations.of_item(connection, item):
        key = before.src, before.dst, before.type
        now = wanted.get(key)
        if now is None and said.is_partial:
            continue
        if now is None and not said.keeps_history:
            graph_relations.drop(connection, item, before)
        elif now is None and before.until is None:
            graph_relations.close(connection, item, before, said.ts)
        elif now is not None and not said.keeps_history:
            if before[4:] == now[4:] or (before.until is not None and before.ts == now.ts and not said.is_judged):
                wanted.pop(key)
            else:
                graph_relations.drop(connection, item, before)
        elif now is not None and (before.until is None or before.ts == now.ts):  # or another item has ended it since
            graph_relations.move(connection, item, before, now.line, now.times)
            wanted.pop(key)
        if before.type == graph_merges.RENAMED_TO:
            renamed |= {before.src, before.dst}
    for each in wanted.values():
        graph_relations.put(connection, item, each)
        if each.type == graph_merges.RENAMED_TO:
            renamed |= {each.src, each.dst}
    if not said.is_partial:
        ends = {(numbers[each.src], numbers[each.dst], each.type) for each in found.ended}
        graph_relations.put_ends(connection, item, ends, said.ts)
    return renamed


def _end_incomplete(connection: sqlite3.Connection, item: str, found: Found, said: Said, numbers: Resolved) -> None:
    """End what earlier manifests named and the newest does not."""
    for src in found.complete & numbers.keys():
        named = {numbers[link.dst] for link, _ in found.links if link.src == src}
        graph_relations.end_others(connection, numbers[src], named, item=item, ts=said.ts)


def _named_by(connection: sqlite3.Connection, item: str) -> set[int]:
    """Return the entities that what an item says, or has said, hangs on."""
    evidence = graph_relations.of_item(connection, item)
    return {each.src for each in evidence} | {each.dst for each in evidence}


def _put_mentions(
    connection: sqlite3.Connection, item: str, found: Found, numbers: Resolved, held_by: Iterable[int] | None
) -> None:
    """Put the mentions; those that nothing hangs on any more go. `held_by` of None: they stay."""
    wanted: dict[int, tuple[int, int | None]] = {}
    for each in found.spoken:
        number = numbers[each.named]
        count, line = wanted.get(number, (0, None))
        lines = [at for at in (line, each.line) if at is not None]
        wanted[number] = count + each.times, min(lines) if lines else None
    before = {named: (count, line) for named, count, line in connection.execute(_MENTIONS, (item,))}
    gone = set() if held_by is None else before.keys() - wanted.keys() - set(held_by)
    connection.executemany(_DROP_MENTION, [(item, named) for named in gone])
    for named, mention in wanted.items():
        if named not in before:
            belongs = graph_names.canonical(connection, named)
            connection.execute(_PUT_MENTION, (belongs, item, named, *mention))
        elif before[named] != mention:
            connection.execute(_COUNT_MENTION, (*mention, item, named))


def _put_aliases(connection: sqlite3.Connection, item: str, found: Found, said: Said, numbers: Resolved) -> None:
    wanted = {
        (numbers[each.named], name_key(Named(each.named.type, each.alias))): each.alias
        for each in found.aliases
        if each.named in numbers
    }
    before = {(row[0], row[1]) for row in connection.execute(_ALIASES, (item,))}
    if not said.keeps_history:
        connection.executemany(_DROP_ALIAS, [(*key, item) for key in before - wanted.keys()])
    rows = [(number, key, item, alias) for (number, key), alias in wanted.items() if (number, key) not in before]
    connection.executemany(_PUT_ALIAS, rows)


def _put_descriptions(connection: sqlite3.Connection, item: str, found: Found, numbers: Resolved) -> None:
    wanted = {numbers[named]: text for named, text in found.descriptions.items() if named in numbers}
    for (number,) in connection.execute(_DESCRIBED, (item,)).fetchall():
        if number not in wanted:
            connection.execute(_UNDESCRIBE, (item, number))
    connection.executemany(_DESCRIBE, [(text, item, number) for number, text in wanted.items()])
