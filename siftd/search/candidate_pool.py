"""The pool of one search: every event that a retriever found, what each says of it, and what its session says.

Who remembers a piece of work remembers several sides of it: what was asked, what was run, what was changed, how it was
told at the end. A session is therefore as good as the best of each such kind in each retriever, added up, and its
nearest vector once more; and as work goes on from one session into the next, a session gets a share of what one shortly
before or after has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siftd.search.retrievers import Found
from siftd.search.row_cache import KINDS, PROMPT, TEXT, Ids, Rows
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
_NONE: Ids = np.empty(0, dtype=np.int64)


class Pool:
    """What the retrievers found, by event and by session, as columns."""

    def __init__(self, rows: Rows, retrievers: Mapping[str, Found], weights: Weights) -> None:
        self._retrievers = retrievers
        events = np.concatenate([_NONE, *(each.events for each in retrievers.values())])
        is_there = rows.events(events)["session"] > 0  # else gone since its index was asked
        retriever_of, place = _numbered([len(each.events) for each in retrievers.values()])
        retriever_of, place = retriever_of[is_there], place[is_there]
        self.events, at = np.unique(events[is_there], return_inverse=True)
        facts = rows.events(self.events)
        self.ts: Ids = facts["ts"]
        kinds = rows.kinds(facts["sort"])
        self.is_prompt: NDArray[np.bool_] = kinds == PROMPT
        self.concludes: NDArray[np.bool_] = rows.concludes(facts["sort"])
        self.is_text: NDArray[np.bool_] = kinds == TEXT
        self._places = np.full((len(retrievers), len(self.events)), -1)
        self._places[retriever_of, at] = place
        weighed = [weights.of(retriever) * each.scores for retriever, each in retrievers.items()]
        answers = np.concatenate([np.empty(0), *weighed])[is_there]
        self.own: _Scores = np.bincount(at, answers, len(self.events)).astype(np.float64, copy=False)
        """What an event answers by itself: its retrievers' answers, each with its weight, added up."""
        self.summaries: Ids = np.zeros_like(self.events)
        """What is shown of it: the summary that the first retriever found, 0 for the event itself."""
        summaries = np.concatenate([_NONE, *(each.summaries for each in retrievers.values())])[is_there]
        summarised = np.flatnonzero(summaries)[::-1]
        self.summaries[at[summarised]] = summaries[summarised]  # the first retriever is the last that is written
        self.sessions, self.session_of = np.unique(facts["session"], return_inverse=True)
        """The sessions' numbers, and by event the place of its session there."""
        sides = np.zeros((len(retrievers), len(self.sessions), KINDS))
        np.maximum.at(sides, (retriever_of, self.session_of[at], kinds[at]), answers)
        self.session_scores: _Scores = sides.sum(axis=2).sum(axis=0)
        if "vector" in retrievers:
            self.session_scores += NEAREST * sides[list(retrievers).index("vector")].max(axis=1)
        self.confidence: _Scores = np.full(len(self.events), 0.5)
        has_summary = self.summaries > 0
        self.confidence[has_summary] = rows.summaries(self.summaries[has_summary])["confidence"]

    def found_by(self, at: int) -> dict[str, dict[str, Any]]:
        """Return by retriever how the event in this place was found: its rank, from 1, and how much it answers."""
        found = {}
        for (retriever, each), place in zip(self._retrievers.items(), self._places[:, at].tolist(), strict=True):
            if place >= 0:
                found[retriever] = {"rank": place + 1, "score": round(float(each.scores[place]), 4)}
        return found


def _numbered(sizes: Sequence[int]) -> tuple[Ids, Ids]:
    """Return, for lists of these sizes one after the other, the number of each row's list and its place there."""
    number = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([_NONE, *map(np.arange, sizes)])
    return number, place


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
