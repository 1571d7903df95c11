"""The labelled turns and pairs of tests/data/facts, and how what a rule makes of them is counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from siftd.facts.model import Candidate, Said, Turn

LABELS = Path(__file__).resolve().parents[1] / "data" / "facts"
HALVES = ("development", "check")
OVERLAP = 0.6
"""How much of a label's words has to be in the evidence of what is taken for it."""


@dataclass
class Counted:
    """What was found of what should be."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    category_right: int = 0
    wrong_texts: list[str] = field(default_factory=list)
    missed_texts: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)


def labelled(name: str, half: str) -> list[dict[str, Any]]:
    """Return the lines of `turns` or `pairs` of one half."""
    lines = (LABELS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["half"] == half]


def turn_of(row: dict[str, Any]) -> Turn:
    """Return a labelled turn as extraction takes it; events are numbered from 1."""
    events = (
        Said(number, number, said["kind"], said["by"], said["text"]) for number, said in enumerate(row["said"], 1)
    )
    return Turn("s", "claude-code", tuple(events))


def count(row: dict[str, Any], found: Sequence[Candidate], counted: Counted) -> None:
    """Add what was found in one turn to the counts."""
    open_labels = [
        (number, said["text"], fact) for number, said in enumerate(row["said"], 1) for fact in said.get("facts", ())
    ]
    for candidate in found:
        match = next((label for label in open_labels if _is_of(candidate, *label)), None)
        if match is None:
            counted.wrong += 1
            counted.wrong_texts.append(candidate.text)
            continue
        open_labels.remove(match)
        counted.right += 1
        counted.category_right += candidate.category in match[2]["categories"]
    counted.missed += len(open_labels)
    counted.missed_texts.extend(fact["quote"] for _, _, fact in open_labels)


def _is_of(candidate: Candidate, event: int, text: str, fact: dict[str, Any]) -> bool:
    if event not in candidate.sources:
        return False
    start, begin = text.find(candidate.quote), text.find(fact["quote"])
    end, stop = start + len(candidate.quote), begin + len(fact["quote"])
    return start >= 0 and min(end, stop) - max(start, begin) >= OVERLAP * (stop - begin)


def counted_of(rows: Iterable[dict[str, Any]], extract: Any) -> Counted:
    """Return the counts of a half."""
    counted = Counted()
    for row in rows:
        count(row, extract(turn_of(row)), counted)
    return counted
