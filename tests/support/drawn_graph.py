"""A database with a graph that a test draws: entities by number, relations as it likes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from graph_store import graph_store

from siftd.store.access import Database

Edge = tuple[int, int]


@contextmanager
def drawn(entities: int, edges: Iterable[Edge], type_: str = "USES") -> Iterator[Database]:
    """Give a database in which entity `n` is called "part n", and each edge is a relation that held from 0 on."""
    with graph_store() as connection:
        draw(connection, entities, edges, type_)
        yield connection


def draw(connection: Database, entities: int, edges: Iterable[Edge], type_: str = "USES") -> None:
    """Put entities and relations there, none of which anything says."""
    connection.executemany(
        "INSERT INTO entities (id, name, type, name_key, mark, ts) VALUES (?1, ?2, 'concept', ?2, ?2, 0)",
        [(number, f"part {number}") for number in range(1, entities + 1)],
    )
    relate(connection, edges, type_)


def redraw(connection: Database, edges: Iterable[Edge], type_: str = "USES") -> None:
    """Put these relations in the place of all others."""
    connection.execute("DELETE FROM relations")
    relate(connection, edges, type_)


def relate(
    connection: Database, edges: Iterable[Edge], type_: str, valid_from: int = 0, valid_to: int | None = None
) -> None:
    """Put relations there."""
    connection.executemany(
        "INSERT OR IGNORE INTO relations (src, dst, type, source, valid_from, valid_to, mention_count)"
        " VALUES (?, ?, ?, 'prose', ?, ?, 1)",
        [(*edge, type_, valid_from, valid_to) for edge in edges],
    )


def steps_from(start: int, edges: Sequence[Edge]) -> dict[int, int]:
    """Return how many steps everything is away, by a plain search."""
    near: dict[int, set[int]] = {}
    for src, dst in edges:
        near.setdefault(src, set()).add(dst)
        near.setdefault(dst, set()).add(src)
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        for each in near.get(at, ()):
            if each not in found:
                found[each] = found[at] + 1
                waiting.append(each)
    return found
