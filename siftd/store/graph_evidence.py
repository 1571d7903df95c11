"""What says that two entities hang together, what names one: events (e12), facts (m3), lines of documents (d4:12)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

_OF_RELATION = """
SELECT v.item, v.line, v.ts, v.until_ts FROM relation_evidence v
WHERE v.relation_id = :id AND v.ts <= :at ORDER BY v.ts DESC LIMIT :limit
"""
_MENTIONS = """
SELECT m.item, min(m.line) FROM mentions m
WHERE m.entity_id = :id AND m.item >= :letter AND m.item < :letter || ':' GROUP BY m.item
ORDER BY CAST(substr(m.item, 2) AS INTEGER) DESC LIMIT :limit
"""
"""Items of one letter lie together in the key; the digits stand before `:`."""
_FACTS = """
SELECT m.id, coalesce(m.valid_from, m.ts), m.said_by, m.text, m.valid_to
FROM json_each(?) j CROSS JOIN facts m ON m.id = j.value WHERE NOT m.waits
"""
_LINES = """
SELECT d.id, d.ingested_ts, c.line, c.text FROM documents d JOIN chunks c ON c.id = (
    SELECT x.id FROM chunks x WHERE x.document_id = d.id AND x.line <= max(1, :line) ORDER BY x.line DESC, x.id LIMIT 1)
WHERE d.id = :id
"""
_SHARED = """
SELECT other.entity_id, count(DISTINCT other.item) AS shared FROM (
    SELECT DISTINCT m.item FROM mentions m WHERE m.entity_id = :id
    ORDER BY CAST(substr(m.item, 2) AS INTEGER) DESC LIMIT :items) mine
CROSS JOIN mentions other ON other.item = mine.item AND other.entity_id <> :id
GROUP BY other.entity_id ORDER BY shared DESC, other.entity_id LIMIT :limit
"""
_FACTS_WITH = """
SELECT m.item, group_concat(DISTINCT m.entity_id), count(DISTINCT m.entity_id) AS n
FROM json_each(:ids) j CROSS JOIN mentions m ON m.entity_id = j.value AND m.item >= 'm' AND m.item < 'm:'
WHERE m.item <> :but GROUP BY m.item ORDER BY n DESC, CAST(substr(m.item, 2) AS INTEGER) DESC LIMIT :limit
"""
_NAMED_BY = "SELECT DISTINCT entity_id FROM mentions WHERE item = ? ORDER BY entity_id LIMIT ?"
ITEMS_MAX = 1_000
"""Of one entity that are compared with others', the newest: of a file that everything edits there are tens of
thousands."""


class Said(NamedTuple):
    """An item that says something, since when and until when, and in which line of a document."""

    item: str
    line: int | None
    ts: int | None
    until_ts: int | None


class FactSaid(NamedTuple):
    """What a fact says, since and until when."""

    ts: int
    said_by: str
    text: str
    valid_to: int | None


class ChunkSaid(NamedTuple):
    """A chunk of a document, and the line that it begins in."""

    ts: int
    line: int
    text: str


def of_relation(connection: sqlite3.Connection, relation_id: int, at: int, limit: int) -> list[Said]:
    """Return what says a relation, as far as it was said by then, the latest first."""
    values = {"id": relation_id, "at": at, "limit": limit}
    return [Said(*row) for row in connection.execute(_OF_RELATION, values)]


def of_entity(connection: sqlite3.Connection, entity_id: int, letter: str, limit: int) -> list[Said]:
    """Return the items of one kind (`e`, `m`, `d`) that name an entity, the newest first."""
    values = {"id": entity_id, "letter": letter, "limit": limit}
    return [Said(item, line, None, None) for item, line in connection.execute(_MENTIONS, values)]


def facts_said(connection: sqlite3.Connection, fact_ids: Sequence[int]) -> dict[int, FactSaid]:
    """Return what facts say; one that waits for a person says nothing yet."""
    rows = connection.execute(_FACTS, (json.dumps(list(fact_ids)),))
    return {number: FactSaid(*rest) for number, *rest in rows}


def find_chunk(connection: sqlite3.Connection, document_id: int, line: int) -> ChunkSaid | None:
    """Return the chunk of a document in which a line stands, and when the document was taken in."""
    row = connection.execute(_LINES, {"id": document_id, "line": line}).fetchone()
    return None if row is None else ChunkSaid(*row[1:])


def named_by(connection: sqlite3.Connection, item: str, limit: int) -> list[int]:
    """Return the entities that an item names."""
    return [row[0] for row in connection.execute(_NAMED_BY, (item, limit))]


def named_together(connection: sqlite3.Connection, entity_id: int, limit: int) -> list[tuple[int, int]]:
    """Return entities that the same items name, and how many of its newest items do, the most first."""
    values = {"id": entity_id, "items": ITEMS_MAX, "limit": limit}
    return [(row[0], row[1]) for row in connection.execute(_SHARED, values)]


def facts_with(
    connection: sqlite3.Connection, entity_ids: Sequence[int], but: str, limit: int
) -> list[tuple[int, list[int]]]:
    """Return facts that name any of these entities, those that name most of them first, and which they name."""
    rows = connection.execute(_FACTS_WITH, {"ids": json.dumps(list(entity_ids)), "but": but, "limit": limit})
    return [(int(item[1:]), [int(each) for each in named.split(",")]) for item, named, _ in rows]
