"""Which items go to a model together: those of one turn, which explain each other, up to a bound."""

from __future__ import annotations

from collections.abc import Sequence

from siftd.summarise.contract import Item
from siftd.summarise.prompt import shown_chars

MAX_ITEMS = 8
"""More than these and small models begin to mix them up. Arbitrary."""
MAX_CHARS = 16_000


def calls_of(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items in their order, neighbours of one turn together; a story is told alone."""
    calls: list[list[Item]] = []
    room = 0
    for item in items:
        size = shown_chars(item)
        if calls and len(calls[-1]) < MAX_ITEMS and size <= room and _belong_together(calls[-1][-1], item):
            calls[-1].append(item)
            room -= size
        else:
            calls.append([item])
            room = MAX_CHARS - size
    return calls


def _belong_together(one: Item, other: Item) -> bool:
    return one.turn_id is not None and one.turn_id == other.turn_id and one.scope == other.scope == "event"
