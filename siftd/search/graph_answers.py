"""The graph as it is answered: entities and relations with what says so, in the words that say it.

An item's text is the passage of it that holds both names, not its beginning; a line of a document is that line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from siftd import ids
from siftd.embed.words import split_words
from siftd.search.passages import PASSAGE_CHARS, Wanted, passage, shortened
from siftd.search.unsummarised import summarise_now
from siftd.store import event_views, fact_pages, graph_evidence, graph_reading
from siftd.store.access import Database
from siftd.store.graph_evidence import Said
from siftd.store.graph_reading import RelationRow
from siftd.store.graph_walk import Along, Met
from siftd.store.payload import find_object
from siftd.wire.requests.graph import EntityName, Evidence, FactContextAnswer, RelatedFact, Relation, WalkedEntity
from siftd.wire.requests.memories import Memory

ITEMS_OF_EACH = {"m": 5, "d": 5, "e": 5}
"""What is told of what names an entity: facts first, then documents, then events."""
ENTITIES_OF_A_FACT = 20
SOURCES_OF_A_FACT = 10
DOCUMENT_SAYS = "outside"
"""Whose words a document is: nobody's here."""


def relations(connection: Database, rows: Sequence[RelationRow], at: int, evidence: int) -> list[Relation]:
    """Return relations with up to so many items each that say so, the latest first."""
    names = graph_reading.names_of(connection, [each for row in rows for each in (row[1], row[3])])
    found: list[Relation] = []
    for number, src, type_, dst, source, valid_from, valid_to, mentions in rows:
        if src in names and dst in names:
            said = graph_evidence.of_relation(connection, number, at, evidence)
            about = [names[src]["name"], names[dst]["name"]]
            relation: Relation = {
                "src": names[src],
                "type": type_,
                "dst": names[dst],
                "source": source,
                "validFrom": valid_from,
                "validTo": valid_to,
                "mentions": mentions,
                "evidence": says(connection, said, about),
            }
            found.append(relation)
    return found


def walked(connection: Database, met: Sequence[Met], at: int) -> list[WalkedEntity]:
    """Return what a walk came to, each with the relation that it came by and the latest that says so."""
    names = graph_reading.names_of(connection, [each.id for each in met])
    rows = graph_reading.list_relations(connection, [each.relation for each in met])
    by_number = dict(zip([row[0] for row in rows], relations(connection, rows, at, 1), strict=True))
    return [
        {
            "entity": names[each.id],
            "depth": each.depth,
            "parent": ids.cite_entity(each.parent),
            "relation": by_number.get(each.relation),
            "shared": 0,
        }
        for each in met
        if each.id in names
    ]


def named_together(connection: Database, entity_id: int, along: Along, limit: int) -> list[WalkedEntity]:
    """Return the entities that the same items name, with the relation to each where there is one."""
    together = graph_evidence.named_together(connection, entity_id, limit)
    names = graph_reading.names_of(connection, [each for each, _ in together])
    direct = {
        row[3] if row[1] == entity_id else row[1]: row
        for row in reversed(graph_reading.relations_between(connection, entity_id, list(names), along))
    }
    related = {each: relations(connection, [row], along.at, 1) for each, row in direct.items()}
    return [
        {
            "entity": names[each],
            "depth": 1,
            "parent": ids.cite_entity(entity_id),
            "relation": next(iter(related.get(each, ())), None),
            "shared": shared,
        }
        for each, shared in together
        if each in names
    ]


def items_of(connection: Database, entity_id: int, names: Sequence[str], at: int) -> list[Evidence]:
    """Return what names an entity, as far as it was said by then."""
    said = [
        each
        for letter, limit in ITEMS_OF_EACH.items()
        for each in graph_evidence.of_entity(connection, entity_id, letter, limit)
    ]
    return [each for each in says(connection, said, names) if each["ts"] is None or each["ts"] <= at]


def says(connection: Database, said: Sequence[Said], about: Sequence[str]) -> list[Evidence]:
    """Return items with the words of theirs that are about these names; those that are gone are left out."""
    wanted = Wanted(dict.fromkeys((word for name in about for word in split_words(name)), 1.0))
    found = (_say(connection, each, wanted) for each in said)
    return [each for each in found if each is not None]


def fact_context(connection: Database, memory: Memory, at: int, limit: int) -> FactContextAnswer:
    """Return what a fact speaks of, what it says of that, and which other facts speak of the same."""
    item = f"m{memory['id']}"
    events = fact_pages.list_sources(connection, memory["id"], SOURCES_OF_A_FACT)
    sources = [Said(ids.cite(ids.EVENT, each["id"]), None, None, None) for each in events]
    named = graph_evidence.named_by(connection, item, ENTITIES_OF_A_FACT)
    rows = graph_reading.relations_of_item(connection, item, ENTITIES_OF_A_FACT)
    return {
        "memory": memory,
        "sources": says(connection, sources, [memory["text"]]),
        "entities": graph_reading.list_entities(connection, named),
        "relations": relations(connection, rows, at, 1),
        "related": related_facts(connection, named, item, limit),
    }


def related_facts(connection: Database, named: Sequence[int], but: str, limit: int) -> list[RelatedFact]:
    """Return facts that name any of these entities, those that name most of them first, and through which ones."""
    found = graph_evidence.facts_with(connection, named, but, limit)
    facts = graph_evidence.facts_said(connection, [each for each, _ in found])
    names = graph_reading.names_of(connection, named)
    return [
        {
            "id": f"m{each}",
            "text": facts[each].text,
            "ts": facts[each].ts,
            "saidBy": facts[each].said_by,
            "through": [names[one] for one in through if one in names],
        }
        for each, through in found
        if each in facts
    ]


def entity_names(connection: Database, entity_ids: Iterable[int]) -> list[EntityName]:
    """Return entities in short, in their order."""
    return list(graph_reading.names_of(connection, entity_ids).values())


def _say(connection: Database, said: Said, wanted: Wanted) -> Evidence | None:
    letter, number = said.item[:1], int(said.item[1:])
    if letter == "e":
        return _event_says(connection, number, said, wanted)
    if letter == "m":
        fact = graph_evidence.facts_said(connection, [number]).get(number)
        if fact is None:
            return None
        return {
            "id": said.item,
            "ts": fact.ts if said.ts is None else said.ts,
            "untilTs": fact.valid_to if said.until_ts is None else said.until_ts,
            "saidBy": fact.said_by,
            "text": fact.text,
        }
    return _document_says(connection, number, said, wanted)


def _event_says(connection: Database, number: int, said: Said, wanted: Wanted) -> Evidence | None:
    row = next(iter(event_views.list_hits(connection, [(number, None)], superseded=True)), None)
    if row is None:
        return None
    text = row["text"] or summarise_now(connection, number)
    payload = find_object(event_views.find_payload(connection, number) or "")
    return {
        "id": said.item,
        "ts": row["ts"],
        "untilTs": said.until_ts,
        "saidBy": row["saidBy"],
        "text": text if payload is None else passage(payload, text, wanted) or text,
    }


def _document_says(connection: Database, number: int, said: Said, wanted: Wanted) -> Evidence | None:
    line = said.line or 1
    chunk = graph_evidence.find_chunk(connection, number, line)
    if chunk is None:
        return None
    if said.until_ts is not None:
        said_there = ""  # an earlier reading said so: what stands there by now says something else
    else:
        lines = chunk.text.split("\n")
        place = line - chunk.line
        text = lines[place].strip() if said.line is not None and 0 <= place < len(lines) else ""
        said_there = shortened(text or chunk.text, wanted, PASSAGE_CHARS)
    return {
        "id": ids.cite_document(number, line),
        "ts": chunk.ts if said.ts is None else said.ts,
        "untilTs": said.until_ts,
        "saidBy": DOCUMENT_SAYS,
        "text": said_there,
    }
