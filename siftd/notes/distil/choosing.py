"""Which lines the notes are to hold: the best first, within a third of each file's budget.

A line says one thing that holds or is to be done, whose word it is, since when, and what it stands on:

    - We decided to completely remove the start command. (agent, 2026-01-05, m488)

By which rules lines were judged, and what came of it, stands in docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from siftd.notes.distil.decision_lines import decision_lines
from siftd.notes.distil.lines import CHARS_MAX, SECTIONS, Wanted, unlike
from siftd.notes.distil.material import Material
from siftd.notes.distil.mistake_entries import mistake_entries
from siftd.notes.distil.state_lines import state_lines
from siftd.notes.distil.todo_lines import todo_lines
from siftd.notes.layout import NoteName


def wanted_of(material: Material) -> dict[NoteName, list[Wanted]]:
    """Return the lines of each file, in the order of their sections and the best first in each. Of `mistakes` the
    entries, newest first, however many: they are appended once, and what is left out is passed over for good."""
    order = SECTIONS["decisions"].index
    lines: dict[NoteName, list[Wanted]] = {
        "state": list(state_lines(material)),
        "decisions": unlike(sorted(decision_lines(material), key=lambda each: order(each.section))),
        "todo": unlike(todo_lines(material)),
    }
    fitting = {name: _within(each, CHARS_MAX[name]) for name, each in lines.items()}
    return {**fitting, "mistakes": list(mistake_entries(material))}


def _within(lines: Sequence[Wanted], limit: int) -> list[Wanted]:
    """Return the first lines of all sections that fit: each section gives up its last ones in turn."""
    by_section: dict[str, list[Wanted]] = {}
    for each in lines:
        by_section.setdefault(each.section, []).append(each)
    chosen: list[Wanted] = []
    room = limit
    for rank in range(max(map(len, by_section.values()), default=0)):
        for theirs in by_section.values():
            if rank < len(theirs) and len(theirs[rank].line) + 1 <= room:
                room -= len(theirs[rank].line) + 1
                chosen.append(theirs[rank])
    order = {id(each): place for place, each in enumerate(lines)}
    return sorted(chosen, key=lambda each: order[id(each)])
