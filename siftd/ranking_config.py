"""How one project weighs its searches: four numbers, each by itself from the search, else from what was set for the
project, else from the project's file, else as the evaluation found best.

    w_fts       how much the words count: it scales what summaries, events, memories and parts of words score
    w_vec       how much nearness counts: it scales the vectors' score
    w_recency   how much newer lifts a hit
    half_life   after how many days that lift is half of what it was

The file is `.siftd/config.json` in the project, which whoever commits there writes: it may hold these keys and has no
say in anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from siftd.errors import RequestInvalid

HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Scoring:
    """The four numbers; the defaults leave `search.weights.*` as they are."""

    w_fts: float = 1.0
    w_vec: float = 1.0
    w_recency: float = 1.0
    half_life: float = HALF_LIFE_DAYS

    @classmethod
    def of(cls, *layers: Mapping[str, float]) -> Scoring:
        """Return the numbers of which each comes from the first layer that has it. The layers are checked."""
        return cls(**{name: value for layer in reversed(layers) for name, value in layer.items()})


NAMES = tuple(each.name for each in fields(Scoring))
_BOUNDS = {"half_life": (0.01, 36_500.0)}
_WEIGHT_BOUNDS = (0.0, 10.0)


def checked(name: str, value: Any) -> float:
    """Return a number that may stand for `name`. Raises RequestInvalid."""
    if name not in NAMES:
        raise RequestInvalid("there is no such number in a project's scoring", hint=f"one of {', '.join(NAMES)}")
    low, high = _BOUNDS.get(name, _WEIGHT_BOUNDS)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise RequestInvalid(f"{name} is a number from {low:g} to {high:g}")
    return float(value)
