"""How long a file of notes may be, and what goes to the archive when it is longer.

Whole blocks go: of state the last ones, of the others the oldest, which stand first; of todo first what is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from siftd.notes.blocks import Block, join, split, without_empty_headings
from siftd.notes.layout import NoteName


class Trimmed(NamedTuple):
    """A body within its budget, and what had to leave it, in its order."""

    body: str
    moved: list[str]


def trim(name: NoteName, body: str, budgets: Mapping[str, int]) -> Trimmed:
    """Return a body of at most its budget of characters, and the blocks that no longer fit, verbatim."""
    room = budgets[name]
    if len(body) <= room:
        return Trimmed(body, [])
    blocks = split(body)
    excess = len(body) - room
    gone: set[int] = set()
    for number in _order(name, blocks):
        if excess <= 0:
            break
        gone.add(number)
        excess -= len(blocks[number].text)
    left = without_empty_headings([block for number, block in enumerate(blocks) if number not in gone])
    return Trimmed(join(left), [blocks[number].text for number in sorted(gone)])


def _order(name: NoteName, blocks: list[Block]) -> list[int]:
    """Return the blocks that may go, the first to go first."""
    numbers = [number for number, block in enumerate(blocks) if block.form != "heading"]
    if name == "state":
        return numbers[::-1]
    if name == "todo":
        return sorted(numbers, key=lambda number: not blocks[number].is_done)
    return numbers
