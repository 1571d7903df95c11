"""A database with a graph in it, for tests of whoever writes or reads one: in memory, without a daemon."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from siftd.graph.model import Found, Link, Named, relation_code
from siftd.graph.names import Marks
from siftd.store import graph_writing
from siftd.store.access import Database
from siftd.store.graph_writing import Said
from siftd.store.migrate import migrate

MARKS = Marks(b"a secret of tests")


@contextmanager
def graph_store() -> Iterator[Database]:
    """Open an empty store."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, 1)
        yield Database(connection)


def says(
    connection: Database,
    item: str,
    *triples: tuple[tuple[str, str], str, tuple[str, str]],
    ts: int = 1,
    until: int | None = None,
    keeps_history: bool = False,
) -> None:
    """Let an item say that these hang together: (("service", "auth"), "DEPENDS_ON", ("tool", "Redis"))."""
    found = Found()
    for line, (src, relation, dst) in enumerate(triples, start=1):
        found.link(Link(Named(*src), relation_code(relation), Named(*dst), "prose", line))  # type: ignore[arg-type]
    graph_writing.put(connection, item, found, Said(ts, until, keeps_history, is_judged=item.startswith("m")), MARKS)


def entity_id(connection: Database, kind: str, name: str) -> int:
    """Return the number of an entity, by its name as it is stored."""
    row = connection.execute("SELECT id FROM entities WHERE type = ? AND name = ?", (kind, name)).fetchone()
    return int(row[0])


def relations(connection: Database) -> list[tuple[str, str, str, int, int | None]]:
    """Return (source, type, target, since, until) of every relation, by names."""
    return connection.execute(
        "SELECT s.name, r.type, d.name, r.valid_from, r.valid_to FROM relations r"
        " JOIN entities s ON s.id = r.src JOIN entities d ON d.id = r.dst ORDER BY r.valid_from, s.name, r.type, d.name"
    ).fetchall()
