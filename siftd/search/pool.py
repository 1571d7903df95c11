"""The pool of one search: every event that a leg found, what each leg says of it, and what its session says.

Who remembers a piece of work remembers several sides of it: what was asked, what was run, what was changed, how it was
told at the end. A session is therefore as good as the best of each such kind in each leg, added up, and its nearest
vector once more; and as work goes on from one session into the next, a session gets a share of what one shortly before
or after has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siftd.search.legs import Found
from siftd.search.rows import KINDS, PROMPT, Ids, Rows
from siftd.search.weights import Weights

NEAREST = 3.0
"""How much its nearest vector counts for a session, beside the best vector of each kind of its work."""
_MS_PER_HOUR = 3_600_000
_NEIGHBOURS_MAX = 8
"""Sessions after one that are looked at: in a crowd nobody tells who goes on with whose work."""
_NEAR_HOURS = 24
"""A session further away in time is no neighbour."""
_HALF_HOURS = 4
"""One that ends or begins so far away counts half: work goes on after a break, and the next morning."""

_Scores = NDArray[np.float64]


class Pool:
    """What the legs found, by event and by session, as columns."""

    def __init__(self, rows: Rows, legs: Mapping[str, Found], weights: Weights) -> None:
        self._legs = legs
        self._places: dict[str, Ids] = {}
        found = [each.events for each in legs.values()]
        self.events: Ids = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))
        facts = rows.events(self.events)
        if not facts["session"].all():  # some are gone since their index was asked
            self.events = self.events[facts["session"] > 0]
            facts = rows.events(self.events)
        self.ts: Ids = facts["ts"]
        self.is_prompt: NDArray[np.bool_] = facts["kind"] == PROMPT
        self.own: _Scores = np.zeros(len(self.events))
        """What an event answers by itself: its legs' answers, each with its weight, added up."""
        self.summaries: Ids = np.zeros_like(self.events)
        """What is shown of it: the summary that the first leg found, 0 for the event itself."""
        self.sessions, self.session_of = np.unique(facts["session"], return_inverse=True)
        """The sessions' numbers, and by event the place of its session there."""
        self.session_scores: _Scores = np.zeros(len(self.sessions))
        for leg, each in legs.items():
            self._add(leg, each, facts["kind"], weights.of(leg))
        self.confidence: _Scores = np.full(len(self.events), 0.5)
        told = self.summaries > 0
        self.confidence[told] = rows.summaries(self.summaries[told])["confidence"]

    def legs_of(self, at: int) -> dict[str, dict[str, Any]]:
        """Return by leg how the event in this place was found: its rank, from 1, and how much it answers."""
        found = {}
        for leg, places in self._places.items():
            if (place := int(places[at])) >= 0:
                found[leg] = {"rank": place + 1, "score": round(float(self._legs[leg].scores[place]), 4)}
        return found

    def _add(self, leg: str, found: Found, kinds: NDArray[Any], weight: float) -> None:
        at = np.searchsorted(self.events, found.events)
        known = np.flatnonzero(at < len(self.events))
        known = known[self.events[at[known]] == found.events[known]]
        at, answers = at[known], weight * found.scores[known]
        self._places[leg] = places = np.full(len(self.events), -1)
        places[at] = known
        self.own[at] += answers
        self.summaries[at] = np.where(self.summaries[at] > 0, self.summaries[at], found.summaries[known])
        sides = np.zeros((len(self.sessions), KINDS))
        np.maximum.at(sides, (self.session_of[at], kinds[at]), answers)
        self.session_scores += sides.sum(axis=1)
        if leg == "vector":
            self.session_scores += NEAREST * sides.max(axis=1)


def with_neighbours(scores: _Scores, started: Ids, ended: Ids, weight: float) -> _Scores:
    """Return the sessions' scores, each with a share of the best one near it in time."""
    order = np.lexsort((ended, started))
    sorted_scores, shares = scores[order], np.zeros(len(scores))
    earlier = np.repeat(np.arange(len(order)), _NEIGHBOURS_MAX)
    later = earlier + np.tile(np.arange(1, _NEIGHBOURS_MAX + 1), len(order))
    earlier, later = earlier[later < len(order)], later[later < len(order)]
    hours = np.maximum(0, started[order[later]] - ended[order[earlier]]) / _MS_PER_HOUR
    near = np.where(hours <= _NEAR_HOURS, weight * 0.5 ** (hours / _HALF_HOURS), 0.0)
    np.maximum.at(shares, later, near * sorted_scores[earlier])
    np.maximum.at(shares, earlier, near * sorted_scores[later])
    summed = scores.copy()
    summed[order] += shares
    return summed
