"""The graph is the same in whichever order items are read: in the order of time, or as a rebuild reads them."""

from __future__ import annotations

from typing import NamedTuple

from graph_store import MARKS, graph_store, relations
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.graph.model import Found, Link, Named
from siftd.store import graph_writing
from siftd.store.access import Database
from siftd.store.graph_writing import Said

SERVICES = [Named("service", name) for name in ("auth", "mail")]
TOOLS = [Named("tool", name) for name in ("Redis", "Kafka", "NATS")]


class Item(NamedTuple):
    """What an item says: that services depend on tools, and no longer do; a rename; a manifest."""

    says: list[tuple[Named, Named]]
    ends: list[tuple[Named, Named]]
    renames: bool
    is_manifest: bool


PAIRS = st.lists(st.tuples(st.sampled_from(SERVICES), st.sampled_from(TOOLS)), max_size=3, unique=True)
ITEMS = st.lists(st.builds(Item, PAIRS, PAIRS, st.booleans(), st.booleans()), min_size=2, max_size=5)


def read(connection: Database, number: int, item: Item) -> None:
    found = Found()
    for src, dst in item.says:
        found.link(Link(src, "DEPENDS_ON", dst, "manifest" if item.is_manifest else "prose"))
        if item.is_manifest:
            found.complete.add(src)
    for src, dst in item.ends:
        if (src, dst) not in item.says:
            found.end(src, "DEPENDS_ON", dst)
    if item.renames:
        found.link(Link(Named("service", "login"), "RENAMED_TO", SERVICES[0], "prose"))
    graph_writing.put(connection, f"e{number}", found, Said(10 * number), MARKS)


@settings(max_examples=25, deadline=None)
@given(ITEMS, st.randoms(use_true_random=False))
def test_whatever_the_order_the_same_holds_and_has_held(items: list[Item], random: object) -> None:
    numbered = list(enumerate(items, start=1))
    shuffled = numbered.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    told = []
    for order in (numbered, shuffled):
        with graph_store() as connection:
            for number, item in order:
                read(connection, number, item)
            told.append(sorted(relations(connection), key=repr))
            graph_writing.forget_item(connection, "e1")
            told.append(sorted(relations(connection), key=repr))
            for number, _ in order:
                graph_writing.forget_item(connection, f"e{number}")
            assert relations(connection) == []
            assert connection.execute("SELECT count(*) FROM entities").fetchone() == (0,)
    assert told[:2] == told[2:]
