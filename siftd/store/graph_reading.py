"""Reading the graph: entities by id, name and words; an entity's relations; hubs. What says so: `graph_evidence`.

An entity that was merged into another one is only a name of that: whatever finds it gives the other.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from siftd import ids
from siftd.store.graph_names import canonical
from siftd.store.graph_walk import HOLDS, Along
from siftd.wire.requests.graph import Entity, EntityName

_ENTITIES = """
SELECT e.id, e.name, e.type, e.aliases, e.description, e.mention_count, e.ts,
       (SELECT count(*) FROM relations r WHERE r.src = e.id) + (SELECT count(*) FROM relations r WHERE r.dst = e.id)
FROM json_each(?) j CROSS JOIN entities e ON e.id = j.value ORDER BY j.key
"""
_NAMES = "SELECT e.id, e.name, e.type FROM json_each(?) j CROSS JOIN entities e ON e.id = j.value ORDER BY j.key"
_OF_KEYS = """
SELECT j.value, e.id, e.type, 0 FROM json_each(:keys) j JOIN entities e ON e.name_key = j.value
UNION SELECT j.value, e.id, e.type, 1 FROM json_each(:keys) j JOIN entity_aliases a ON a.alias_key = j.value
JOIN entities e ON e.id = a.entity_id
"""
_BY_WORDS = """
SELECT f.rowid FROM entities_fts f JOIN entities e ON e.id = f.rowid
WHERE entities_fts MATCH :match AND (:type IS NULL OR e.type = :type)
ORDER BY bm25(entities_fts, 4.0, 2.0, 1.0), e.mention_count DESC, e.id LIMIT :limit
"""
_HUBS = """
SELECT id FROM (
    SELECT e.id, sum(n) AS relations FROM (
        SELECT src AS id, count(*) AS n FROM relations GROUP BY src
        UNION ALL SELECT dst, count(*) FROM relations GROUP BY dst) c
    JOIN entities e ON e.id = c.id WHERE :type IS NULL OR e.type = :type
    GROUP BY e.id)
ORDER BY relations DESC, id LIMIT :limit
"""
_RELATIONS = f"""
SELECT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count FROM relations r
WHERE r.id IN (
    SELECT id FROM (
        SELECT r.id FROM relations r WHERE r.src = :id AND :outward AND {HOLDS}
        ORDER BY r.mention_count DESC LIMIT :limit)
    UNION ALL
    SELECT id FROM (
        SELECT r.id FROM relations r WHERE r.dst = :id AND :inward AND {HOLDS}
        ORDER BY r.mention_count DESC LIMIT :limit))
ORDER BY r.mention_count DESC, r.valid_from DESC, r.id LIMIT :limit
"""  # noqa: S608 - constants only
_BETWEEN = f"""
SELECT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count FROM json_each(:others) j
CROSS JOIN relations r ON r.src = :id AND r.dst = j.value AND {HOLDS}
UNION ALL
SELECT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count FROM json_each(:others) j
CROSS JOIN relations r ON r.src = j.value AND r.dst = :id AND {HOLDS}
ORDER BY 8 DESC, 1
"""  # noqa: S608 - constants only
_ENDED = """
SELECT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count FROM relations r
WHERE ((r.src = :id AND :outward) OR (r.dst = :id AND :inward)) AND r.valid_to <= :at
AND (:type IS NULL OR r.type = :type) ORDER BY r.valid_to DESC, r.id DESC LIMIT :limit
"""
_BY_ID = """
SELECT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count
FROM json_each(?) j CROSS JOIN relations r ON r.id = j.value ORDER BY j.key
"""
_OF_ITEM = """
SELECT DISTINCT r.id, r.src, r.type, r.dst, r.source, r.valid_from, r.valid_to, r.mention_count
FROM relation_evidence v JOIN relations r ON r.id = v.relation_id
WHERE v.item = ? ORDER BY r.mention_count DESC, r.id LIMIT ?
"""

RelationRow = tuple[int, int, str, int, str, int, int | None, int]
"""id, src, type, dst, source, valid_from, valid_to, mention_count."""


class Keyed(NamedTuple):
    """An entity that a key names, and whether as another name of it."""

    named: int
    """What was named, and may have been merged."""
    id: int
    type: str
    """Of what was named, before it was merged."""
    is_alias: bool


def list_entities(connection: sqlite3.Connection, entity_ids: Sequence[int]) -> list[Entity]:
    """Return entities whole, in the order that was asked for; those that are gone are left out."""
    rows = connection.execute(_ENTITIES, (json.dumps(entity_ids),))
    return [
        {
            "id": ids.cite_entity(row[0]),
            "name": row[1],
            "type": row[2],
            "aliases": _names_in(row[3]),
            "description": row[4],
            "mentions": row[5],
            "relations": row[7],
            "firstTs": row[6],
        }
        for row in rows
    ]


def names_of(connection: sqlite3.Connection, entity_ids: Iterable[int]) -> dict[int, EntityName]:
    """Return entities in short, by their number."""
    wanted = json.dumps(list(dict.fromkeys(entity_ids)))
    return {
        row[0]: {"id": ids.cite_entity(row[0]), "name": row[1], "type": row[2]}
        for row in connection.execute(_NAMES, (wanted,))
    }


def of_keys(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, list[Keyed]]:
    """Return by key the entities of that name or alias: what spellings of one name have in common
    (`siftd.graph.names`)."""
    found: dict[str, list[Keyed]] = {}
    for key, entity_id, type_, is_alias in connection.execute(_OF_KEYS, {"keys": json.dumps(keys)}):
        standing = canonical(connection, entity_id)
        found.setdefault(key, []).append(Keyed(entity_id, standing, type_, bool(is_alias) or standing != entity_id))
    return found


def by_words(connection: sqlite3.Connection, match: str, type_: str | None, limit: int) -> list[int]:
    """Return entities whose names or description match an FTS5 expression, best first by bm25."""
    rows = connection.execute(_BY_WORDS, {"match": match, "type": type_, "limit": limit}).fetchall()
    return list(dict.fromkeys(canonical(connection, row[0]) for row in rows))


def hubs(connection: sqlite3.Connection, type_: str | None, limit: int) -> list[int]:
    """Return the entities with the most relations."""
    return [row[0] for row in connection.execute(_HUBS, {"type": type_, "limit": limit})]


def mark_of(connection: sqlite3.Connection, entity_id: int) -> str:
    """Return the keyed hash by which records name an entity that is there."""
    return str(connection.execute("SELECT mark FROM entities WHERE id = ?", (entity_id,)).fetchone()[0])


def merged_into(connection: sqlite3.Connection, entity_id: int) -> list[int]:
    """Return what was merged into an entity."""
    sql = "SELECT id FROM entities WHERE merged_into = ? ORDER BY id"
    return [row[0] for row in connection.execute(sql, (entity_id,))]


def relations_of(connection: sqlite3.Connection, entity_id: int, along: Along, limit: int) -> list[RelationRow]:
    """Return an entity's relations, the most mentioned first."""
    return connection.execute(_RELATIONS, {**along.values, "id": entity_id, "limit": limit}).fetchall()


def relations_between(
    connection: sqlite3.Connection, entity_id: int, others: Sequence[int], along: Along
) -> list[RelationRow]:
    """Return the relations of an entity with any of these, the most mentioned first."""
    return connection.execute(_BETWEEN, {**along.values, "id": entity_id, "others": json.dumps(others)}).fetchall()


def ended_relations(connection: sqlite3.Connection, entity_id: int, along: Along, limit: int) -> list[RelationRow]:
    """Return an entity's relations that had ended by then, the latest first."""
    return connection.execute(_ENDED, {**along.values, "id": entity_id, "limit": limit}).fetchall()


def list_relations(connection: sqlite3.Connection, relation_ids: Sequence[int]) -> list[RelationRow]:
    """Return relations in the order that was asked for; those that are gone are left out."""
    return connection.execute(_BY_ID, (json.dumps(relation_ids),)).fetchall()


def relations_of_item(connection: sqlite3.Connection, item: str, limit: int) -> list[RelationRow]:
    """Return the relations that an item says."""
    return connection.execute(_OF_ITEM, (item, limit)).fetchall()


def count_relations(connection: sqlite3.Connection, entity_id: int) -> int:
    """Return how many relations an entity has, those that have ended too."""
    sql = "SELECT (SELECT count(*) FROM relations WHERE src = ?1) + (SELECT count(*) FROM relations WHERE dst = ?1)"
    return int(connection.execute(sql, (entity_id,)).fetchone()[0])


def _names_in(text: str) -> list[str]:
    """Return what a column of names holds, whatever a person has put there."""
    try:
        names: Any = json.loads(text)
    except ValueError:
        return []
    return [each for each in names if isinstance(each, str)] if isinstance(names, list) else []
