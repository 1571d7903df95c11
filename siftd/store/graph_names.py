"""From names to entities: the known one whose name or alias it is, one that a vector has found, or a new one.

Everything runs within a transaction of the one writer, and `(type, name_key)` is unique: two who name the same thing at
once get the same entity.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from siftd.graph.model import PROSE_TYPES, EntityType, Named
from siftd.graph.names import Marks, is_better_type, may_be_one, name_key

HOPS_MAX = 16
"""So often something merged may have been merged on; further ones are not followed."""
_BY_KEY = """
SELECT id, type FROM entities WHERE name_key = ?1
UNION ALL SELECT e.id, e.type FROM entity_aliases a JOIN entities e ON e.id = a.entity_id WHERE a.alias_key = ?1
"""
"""Names come before aliases: what has taken an old name for itself is meant by it."""
_INSERT = """
INSERT INTO entities (name, type, name_key, mark, ts) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (type, name_key) DO UPDATE SET ts = min(ts, excluded.ts) RETURNING id
"""
_UPGRADE = "UPDATE OR IGNORE entities SET type = ?, name_key = ?, mark = ? WHERE id = ?"
_PROSE = ", ".join(f"'{each}'" for each in PROSE_TYPES)
_UNEMBEDDED = f"""
SELECT e.id, e.name FROM entities e WHERE e.type IN ({_PROSE}) AND e.id < ? AND NOT EXISTS (
    SELECT 1 FROM embeddings v WHERE v.owner_kind = 'entity' AND v.owner_id = e.id AND v.embedder = ?)
ORDER BY e.id DESC LIMIT ?
"""  # noqa: S608 - constants only
_VECTORS = """
SELECT v.owner_id, e.type, e.name, v.vec FROM embeddings v JOIN entities e ON e.id = v.owner_id
WHERE v.owner_kind = 'entity' AND v.embedder = ? ORDER BY v.owner_id DESC LIMIT ?
"""
_INSERT_VECTOR = """
INSERT OR REPLACE INTO embeddings SELECT 'entity', id, ?, ?, ? FROM entities WHERE id = ?
"""


class KnownName(NamedTuple):
    """An entity with its vector."""

    entity_id: int
    type: EntityType
    name: str
    vector: bytes


def find(connection: sqlite3.Connection, named: Named) -> int | None:
    """Return the entity whose name or alias a name is, merged or not; None where it is nobody's."""
    kind, _ = named
    rows = connection.execute(_BY_KEY, (name_key(named),)).fetchall()
    same = [number for number, known in rows if known == kind]
    if same:
        return int(same[0])
    if kind not in PROSE_TYPES:
        return None
    # The spelling of another type leaves other words out: "auth service" is "auth" as a service.
    for other in PROSE_TYPES:
        if other != kind and may_be_one(kind, other):
            rows += connection.execute(_BY_KEY, (name_key(Named(other, named.name)),)).fetchall()
    fitting = [number for number, known in rows if may_be_one(kind, known)]
    return int(fitting[0]) if fitting else None


def ensure(connection: sqlite3.Connection, named: Named, marks: Marks, ts: int, *, known: int | None = None) -> int:
    """Return the entity that a name is of, made if there is none. `known`: the one that a vector has found."""
    found = find(connection, named)
    if found is None and known is not None:
        row = connection.execute("SELECT id FROM entities WHERE id = ?", (known,)).fetchone()
        found = None if row is None else int(row[0])
    if found is not None:
        _upgrade(connection, found, named, marks)
        return found
    key = name_key(named)
    inserted = connection.execute(_INSERT, (named.name, named.type, key, marks.of(named.type, key), ts)).fetchone()
    return int(inserted[0])


def canonical(connection: sqlite3.Connection, entity_id: int) -> int:
    """Return the entity into which one was merged, at last; itself where it was not, or where merges go in a circle."""
    seen = {entity_id}
    at = entity_id
    for _ in range(HOPS_MAX):
        row = connection.execute("SELECT merged_into FROM entities WHERE id = ?", (at,)).fetchone()
        if row is None or row[0] is None or row[0] in seen:
            return at
        at = int(row[0])
        seen.add(at)
    return at


def find_id(connection: sqlite3.Connection, mark: str) -> int | None:
    """Return the entity that a merge names."""
    row = connection.execute("SELECT id FROM entities WHERE mark = ? ORDER BY id LIMIT 1", (mark,)).fetchone()
    return None if row is None else int(row[0])


def list_unembedded(connection: sqlite3.Connection, embedder: str, below: int, limit: int) -> list[tuple[int, str]]:
    """Return entities that words name and that have no vector of this embedder, the newest first."""
    return [(int(row[0]), str(row[1])) for row in connection.execute(_UNEMBEDDED, (below, embedder, limit))]


def insert_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, rows: Iterable[tuple[int, bytes, str]]
) -> None:
    """Keep vectors: (entity, vector, words that are not kept: names are found by their own index)."""
    connection.executemany(_INSERT_VECTOR, [(embedder, dim, vector, number) for number, vector, _ in rows])


def list_vectors(connection: sqlite3.Connection, embedder: str, limit: int) -> list[KnownName]:
    """Return the newest entities that have a vector of this embedder."""
    return [KnownName(*row) for row in connection.execute(_VECTORS, (embedder, limit))]


def unknown(connection: sqlite3.Connection, names: Iterable[Named]) -> list[Named]:
    """Return those that words name and that are nobody's name yet."""
    return [each for each in names if each.type in PROSE_TYPES and find(connection, each) is None]


def _upgrade(connection: sqlite3.Connection, entity_id: int, named: Named, marks: Marks) -> None:
    """Say what an entity is, now that somebody does. Its place may be taken: then it stays what it was."""
    row = connection.execute("SELECT type, name FROM entities WHERE id = ?", (entity_id,)).fetchone()
    if row is not None and is_better_type(named.type, row[0]):
        key = name_key(Named(named.type, row[1]))
        connection.execute(_UPGRADE, (named.type, key, marks.of(named.type, key), entity_id))


Resolved = Mapping[Named, int]
"""Names, and the entities that they are of."""
