"""Which rows hold how much of a question: the postings of its terms, added up by how rare each term is.

A row's score is bm25's with every term counted once: the weight of the terms that it holds (their inverse document
frequency), times what its length leaves of it, as a share of the question's whole weight. So 1 is "all of it", and
the scores of two indexes can be compared and added.

Rare terms go first (MaxScore: Turtle and Flood, 1995). As soon as enough rows hold more than all terms that are left
weigh together, no other row can come before them: of a term that is left only the postings among the rows that hold a
rarer one are read, by SQLite's own intersection, which takes a fifth to a tenth of the time of reading them all. The
best rows are those that reading everything would give. A term that is in every third row or more tells next to nothing
and costs most: where rarer ones carry the question it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siftd.store import postings
from siftd.store.access import Database

FIRST_POSTINGS = 512
"""Read of every term at once: how densely the newest lie tells how common the term is."""
POSTINGS_BUDGET = 60_000
"""Read of all terms beyond these, the newest. About 0.15 microseconds each."""
COMMON_SHARE = 1 / 3
"""Of the rows: a term that so many hold is a common one."""
COMMON_WEIGHT = 0.3
"""Of the question's weight: what common terms that are left out have together at most. On the recorded sessions
leaving them out moved no figure by more than 0.005."""
K1 = 1.5
B = 0.75
"""How much a row's length takes from what it holds. With 0.9 and 0.5 long answers that name every word in passing come
before the short ones that are about it: R@1 is 0.01 less on the recorded sessions, 0.025 less on long chats."""

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
    """Each once, newest first."""
    frequency: int
    weight: float

    @property
    def is_whole(self) -> bool:
        """Whether all its postings are read."""
        return len(self.ids) < FIRST_POSTINGS


def find(
    connection: Database,
    table: str,
    rows: int,
    expressions: Sequence[str],
    among: tuple[int, int] | None = None,
    is_enough: Callable[[_Ids], bool] = lambda _: False,
) -> Matches:
    """Look the expressions up in one full-text table of about `rows` rows; `among` bounds the ids looked at.

    `is_enough` says of rows that certainly are the best ones whether the caller needs no others.
    """
    first, last = among or (0, 2**62)

    def read(expression: str, limit: int, upto: int = last) -> _Ids:
        return as_ids(postings.newest(connection, table, expression, limit, first=first, last=upto))

    terms = []
    for expression in expressions:
        ids = read(expression, FIRST_POSTINGS)
        frequency = _frequency(ids, FIRST_POSTINGS, rows)
        weight = math.log(1 + (max(rows, frequency) - frequency + 0.5) / (frequency + 0.5))
        terms.append(_Term(expression, ids, frequency, weight))
    counted = _without_common(terms, rows)
    budget = POSTINGS_BUDGET
    for at, term in enumerate(counted):
        if term.is_whole:
            continue
        rarer = counted[:at]
        if rarer and (budget <= 0 or is_enough(_certain(rarer, sum(each.weight for each in counted[at:])))):
            held = " OR ".join(each.expression for each in rarer)
            term.ids = read(f"({held}) AND {term.expression}", POSTINGS_BUDGET)
        else:
            rest = read(term.expression, budget, int(term.ids[-1]) - 1)
            term.ids = np.concatenate([term.ids, rest])
            budget -= len(rest)
    return _added_up(terms, counted)


def _certain(terms: Sequence[_Term], left: float) -> _Ids:
    """Return the rows that hold of `terms` what no row without them can hold of all that is `left`."""
    ids, weights = _sums(terms)
    return ids[weights >= left]


def _without_common(terms: Sequence[_Term], rows: int) -> list[_Term]:
    """Return the terms that are worth their postings, rarest first."""
    counted = sorted(terms, key=lambda term: term.frequency)
    spare = COMMON_WEIGHT * sum(term.weight for term in terms)
    while counted and not counted[-1].is_whole and counted[-1].frequency >= COMMON_SHARE * rows:
        spare -= counted[-1].weight
        if spare < 0:
            break
        counted.pop()
    return counted


def shortened(shares: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares with what the rows' lengths leave of them: a short row that holds a word is about it."""
    present = sizes > 0
    lengths = np.where(present, sizes / max(float(sizes[present].mean()) if present.any() else 1.0, 1.0), 1.0)
    weighed: NDArray[np.float64] = shares * (K1 + 1) / (1 + K1 * (1 - B + B * lengths))
    return weighed


def as_ids(joined: str) -> _Ids:
    """Return ids that SQLite has joined by commas."""
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else _NO_IDS


def _frequency(ids: _Ids, limit: int, rows: int) -> int:
    """How many rows hold a term: as many as were found or, where more are left, as densely as the newest do."""
    if len(ids) < limit:
        return len(ids)
    span = int(ids[0] - ids[-1]) + 1
    return max(len(ids), min(rows, round(len(ids) * rows / span)))


def _added_up(terms: Sequence[_Term], counted: Sequence[_Term]) -> Matches:
    weights = {term.expression: term.weight for term in terms}
    missing = frozenset(term.expression for term in terms if not len(term.ids))
    ids, sums = _sums(counted)
    return Matches(ids, sums / sum(weights.values()), weights, missing)


def _sums(terms: Sequence[_Term]) -> tuple[_Ids, NDArray[Any]]:
    """Return the rows that hold any of the terms, and what those weigh that each holds."""
    found = [term for term in terms if len(term.ids)]
    if not found:
        return _NO_IDS, np.empty(0)
    lowest, highest = min(int(term.ids[-1]) for term in found), max(int(term.ids[0]) for term in found)
    if (span := highest - lowest + 1) <= _DENSE * sum(len(term.ids) for term in found):
        sums = np.zeros(span)
        for term in found:
            sums[term.ids - lowest] += term.weight
        held: _Ids = np.flatnonzero(sums)
        return held + lowest, sums[held]
    ids, where = np.unique(np.concatenate([term.ids for term in found]), return_inverse=True)
    return ids, np.bincount(
        where, weights=np.repeat([term.weight for term in found], [len(term.ids) for term in found])
    )
