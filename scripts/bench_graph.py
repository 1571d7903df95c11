"""A graph of 100,000 entities and 500,000 relations, a tenth of them on one hub, for `scripts/bench graph`.

Every relation has one event that says so. What is measured is the walk over the socket with the words of its evidence, as
an agent gets it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from siftd.store.connection import begin, commit, open_writer

ENTITIES = 100_000
RELATIONS = 500_000
HUB = 1
OF_THE_HUB = 50_000
EVENTS = 1_000
"""Items, each of which says 500 relations."""
ASKED = 60
_TYPES = ("DEPENDS_ON", "USES", "IMPORTS", "CALLS", "PART_OF")
_TRIGGERS = ("entities_inserted", "evidence_inserted")
"""What keeps full text and counts row by row: the rows are filled in whole."""
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def fill(database: Path) -> None:
    """Put the graph into a store that has at least `EVENTS` events."""
    connection = open_writer(str(database))
    drawn = random.Random(1)
    begin(connection)
    triggers = [
        connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (each,)).fetchone()[0] for each in _TRIGGERS
    ]
    for each in _TRIGGERS:
        connection.execute(f"DROP TRIGGER {each}")
    connection.executemany(
        "INSERT INTO entities (id, name, type, name_key, mark, ts, mention_count) VALUES (?1, ?2, ?3, ?2, ?2, 0, ?4)",
        ((each, f"part {each}", "service", drawn.randint(1, 40)) for each in range(1, ENTITIES + 1)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO relations (id, src, dst, type, source, valid_from, mention_count)"
        " VALUES (?, ?, ?, ?, 'prose', 0, ?)",
        _relations(drawn),
    )
    connection.execute(
        "INSERT INTO relation_evidence (relation_id, item, src_named, dst_named, ts, way)"
        " SELECT id, 'e' || (1 + id % ?), src, dst, 0, 'prose' FROM relations",
        (EVENTS,),
    )
    connection.execute("INSERT INTO entities_fts (entities_fts) VALUES ('rebuild')")
    for each in triggers:
        connection.execute(each)
    commit(connection)
    connection.close()


def _relations(drawn: random.Random) -> Iterator[tuple[int, int, int, str, int]]:
    for number in range(1, OF_THE_HUB + 1):
        yield number, HUB, 1 + number, "DEPENDS_ON", drawn.randint(1, 20)
    for number in range(OF_THE_HUB + 1, RELATIONS + 1):
        src, dst = drawn.randint(1, ENTITIES), drawn.randint(2, ENTITIES)
        yield number, src, dst if dst != src else HUB, drawn.choice(_TYPES), drawn.randint(1, 20)


def figures(ask: Ask, used: Callable[[], float]) -> Iterator[dict[str, Any]]:
    """Yield how long walks take; `used` gives the seconds of the processor that the daemon has used."""
    drawn = random.Random(2)
    anywhere = [drawn.randint(2, ENTITIES) for _ in range(ASKED)]
    kinds: dict[str, Callable[[int], dict[str, Any]]] = {
        "from the hub, depth 3": lambda _: {"startEntityId": f"x{HUB}", "maxDepth": 3},
        "from the hub along one relation it has none of": lambda _: {
            "startEntityId": f"x{HUB}", "maxDepth": 3, "relationType": "USES", "direction": "out",
        },
        "from anywhere, depth 3": lambda each: {"startEntityId": f"x{each}", "maxDepth": 3},
        "between two, depth 3": lambda each: {
            "startEntityId": f"x{each}", "targetEntityId": f"x{ENTITIES - each}", "action": "path", "maxDepth": 3,
        },
        "from the hub to another, depth 3": lambda each: {
            "startEntityId": f"x{HUB}", "targetEntityId": f"x{each}", "action": "path", "maxDepth": 3,
        },
        "between two, depth 6": lambda each: {
            "startEntityId": f"x{each}", "targetEntityId": f"x{ENTITIES - each}", "action": "path", "maxDepth": 6,
        },
    }  # fmt: skip
    for what, fields in kinds.items():
        goal = "≤ 50 ms" if "depth 3" in what else ""
        yield _timed(f"walk {what}", goal, ask, used, [{"kind": "traverse_graph", **fields(each)} for each in anywhere])
    others: dict[str, Callable[[int], dict[str, Any]]] = {
        "all that is known of the hub": lambda _: {"kind": "entity_context", "id": f"x{HUB}"},
        "all that is known of one of them, by its name": lambda each: {"kind": "entity_context", "id": f"part {each}"},
        "entities by a word that all have": lambda each: {"kind": "search_entity", "query": f"part of {each}"},
        "the hubs": lambda _: {"kind": "search_entity"},
    }
    for what, request in others.items():
        yield _timed(what, "", ask, used, [request(each) for each in anywhere[:20]])


def _timed(
    what: str, goal: str, ask: Ask, used: Callable[[], float], questions: list[dict[str, Any]]
) -> dict[str, Any]:
    before = used()
    times = sorted(_milliseconds(ask, each) for each in questions)
    p95 = times[int(len(times) * 0.95)]
    figures = {"ms": statistics.median(times), "p95_ms": p95, "processor_ms": 1000 * (used() - before) / len(times)}
    return {"what": f"{what}, over the socket", "goal": goal, **figures}


def _milliseconds(ask: Ask, request: dict[str, Any]) -> float:
    started = time.perf_counter()
    answer = ask(request)
    took = (time.perf_counter() - started) * 1000
    if not answer["ok"]:
        raise SystemExit(answer["error"]["message"])
    return took
