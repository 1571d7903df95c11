"""Which rows hold how much of a question: the postings of its terms, added up by how rare each term is.

A row's score is bm25's with every term counted once: the weight of the terms that it holds (their inverse document
frequency), times what its length leaves of it, as a share of the question's whole weight. So 1 is "all of it", and
the scores of two indexes can be compared and added.

Rare terms go first: of each term the newest postings are read; what is left of the budget then goes to the terms of
which more are known to be, rarest first. A term that is in every third row or more tells next to nothing and costs
most: where rarer ones carry the question it is left out.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from siftd.store import postings

FIRST_POSTINGS = 512
"""Read of every term at once: how densely the newest lie tells how common the term is."""
POSTINGS_BUDGET = 60_000
"""Read of all terms together. About 0.15 microseconds each."""
COMMON_SHARE = 1 / 3
"""Of the rows: a term that so many hold is a common one."""
COMMON_WEIGHT = 0.3
"""Of the question's weight: what common terms that are left out have together at most. On the recorded sessions
leaving them out moved no figure by more than 0.005."""
K1 = 0.9
B = 0.5

_DENSE = 16
"""Ids that are this close together are added up by their place; counting is quicker than sorting."""

_Ids = NDArray[np.int64]
_NO_IDS: _Ids = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of one index, in no order, with the share of the question's weight that each holds."""

    ids: _Ids
    shares: NDArray[np.float64]
    weights: Mapping[str, float]
    """By expression: how rare it is."""
    missing: frozenset[str] = frozenset()
    """Expressions that no row holds."""


NOTHING = Matches(_NO_IDS, np.empty(0), {})


@dataclass(slots=True)
class _Term:
    expression: str
    ids: _Ids
    frequency: int
    weight: float

    @property
    def is_whole(self) -> bool:
        """Whether all its postings are read."""
        return len(self.ids) < FIRST_POSTINGS


def find(
    connection: sqlite3.Connection,
    table: str,
    rows: int,
    expressions: Sequence[str],
    among: tuple[int, int] | None = None,
) -> Matches:
    """Look the expressions up in one full-text table of about `rows` rows; `among` bounds the ids looked at."""
    first, last = among or (0, 2**62)

    def read(expression: str, limit: int) -> _Ids:
        return _ids(postings.newest(connection, table, expression, limit, first=first, last=last))

    terms = []
    for expression in expressions:
        ids = read(expression, FIRST_POSTINGS)
        frequency = _frequency(ids, FIRST_POSTINGS, rows)
        weight = math.log(1 + (max(rows, frequency) - frequency + 0.5) / (frequency + 0.5))
        terms.append(_Term(expression, ids, frequency, weight))
    told = _without_common(terms, rows)
    budget = POSTINGS_BUDGET - sum(len(term.ids) for term in told)
    for term in told:
        if not term.is_whole and budget > 0:
            term.ids = read(term.expression, FIRST_POSTINGS + budget)
            budget -= len(term.ids) - FIRST_POSTINGS
    return _added_up(terms, told)


def _without_common(terms: Sequence[_Term], rows: int) -> list[_Term]:
    """Return the terms that are worth their postings, rarest first."""
    told = sorted(terms, key=lambda term: term.frequency)
    spare = COMMON_WEIGHT * sum(term.weight for term in terms)
    while told and not told[-1].is_whole and told[-1].frequency >= COMMON_SHARE * rows:
        spare -= told[-1].weight
        if spare < 0:
            break
        told.pop()
    return told


def shortened(shares: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares with what the rows' lengths leave of them: a short row that holds a word is about it."""
    present = sizes > 0
    lengths = np.where(present, sizes / max(float(sizes[present].mean()) if present.any() else 1.0, 1.0), 1.0)
    weighed: NDArray[np.float64] = shares * (K1 + 1) / (1 + K1 * (1 - B + B * lengths))
    return weighed


def _ids(joined: str) -> _Ids:
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else _NO_IDS


def _frequency(ids: _Ids, limit: int, rows: int) -> int:
    """How many rows hold a term: as many as were found or, where more are left, as densely as the newest do."""
    if len(ids) < limit:
        return len(ids)
    span = int(ids[0] - ids[-1]) + 1
    return max(len(ids), min(rows, round(len(ids) * rows / span)))


def _added_up(terms: Sequence[_Term], told: Sequence[_Term]) -> Matches:
    weights = {term.expression: term.weight for term in terms}
    missing = frozenset(term.expression for term in terms if not len(term.ids))
    every = np.concatenate([_NO_IDS, *(term.ids for term in told)])
    if not len(every):
        return Matches(_NO_IDS, np.empty(0), weights, missing)
    weight = np.repeat([term.weight for term in told], [len(term.ids) for term in told])
    lowest = every.min()
    if (span := int(every.max() - lowest) + 1) <= _DENSE * len(every):
        sums = np.bincount(every - lowest, weights=weight, minlength=span)
        ids = np.flatnonzero(sums)
        sums, ids = sums[ids], ids + lowest
    else:
        ids, where = np.unique(every, return_inverse=True)
        sums = np.bincount(where, weights=weight)
    return Matches(ids, sums / sum(weights.values()), weights, missing)
