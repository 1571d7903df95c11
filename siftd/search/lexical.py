"""Which rows hold how much of a question: the postings of its terms, added up by how rare each term is.

A row's score is bm25's with every term counted once: the weight of the terms that it holds (their inverse document
frequency), times what its length leaves of it, as a share of the question's whole weight. So 1 is "all of it", and
the scores of two indexes can be compared and added.

Rare terms go first: of each term the newest postings are read; what is left of the budget then goes to the terms of
which more are known to be, rarest first.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from siftd.store import postings

FIRST_POSTINGS = 2_000
"""Read of every term at once."""
POSTINGS_BUDGET = 60_000
"""Read of all terms together. About 0.15 microseconds each."""
K1 = 0.9
B = 0.5

_Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of one index with the share of the question's weight that each holds, best first, then newest."""

    ids: _Ids
    shares: NDArray[np.float64]
    missing: frozenset[str]
    """Expressions that no row holds."""


@dataclass(slots=True)
class _Term:
    ids: _Ids
    frequency: int


def find(
    connection: sqlite3.Connection,
    table: str,
    rows: int,
    expressions: Sequence[str],
    among: tuple[int, int] | None = None,
) -> Matches:
    """Look the expressions up in one full-text table of about `rows` rows; `among` bounds the ids looked at."""
    terms: dict[str, _Term] = {}
    first, last = among or (0, 2**62)
    budget = POSTINGS_BUDGET
    for expression in expressions:
        ids = _ids(postings.newest(connection, table, expression, FIRST_POSTINGS, first=first, last=last))
        terms[expression] = _Term(ids, _frequency(ids, FIRST_POSTINGS, rows))
        budget -= len(ids)
    for expression, term in sorted(terms.items(), key=lambda each: each[1].frequency):
        if len(term.ids) == FIRST_POSTINGS and budget > 0:
            limit = FIRST_POSTINGS + budget
            term.ids = _ids(postings.newest(connection, table, expression, limit, first=first, last=last))
            budget -= len(term.ids) - FIRST_POSTINGS
    return _added_up(terms, rows)


def shortened(shares: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares with what the rows' lengths leave of them: a short row that holds a word is about it."""
    present = sizes > 0
    lengths = np.where(present, sizes / max(float(sizes[present].mean()) if present.any() else 1.0, 1.0), 1.0)
    weighed: NDArray[np.float64] = shares * (K1 + 1) / (1 + K1 * (1 - B + B * lengths))
    return weighed


def _ids(joined: str) -> _Ids:
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)


def _frequency(ids: _Ids, limit: int, rows: int) -> int:
    """How many rows hold a term: as many as were found or, where more are left, as densely as the newest do."""
    if len(ids) < limit:
        return len(ids)
    span = int(ids[0] - ids[-1]) + 1
    return max(len(ids), min(rows, round(len(ids) * rows / span)))


def _added_up(terms: dict[str, _Term], rows: int) -> Matches:
    weights = {
        expression: math.log(1 + (max(rows, term.frequency) - term.frequency + 0.5) / (term.frequency + 0.5))
        for expression, term in terms.items()
    }
    total = sum(weights.values())
    found = [expression for expression, term in terms.items() if len(term.ids)]
    missing = frozenset(terms) - frozenset(found)
    if not found:
        return Matches(np.empty(0, dtype=np.int64), np.empty(0), missing)
    every = np.concatenate([terms[expression].ids for expression in found])
    weight = np.repeat([weights[each] for each in found], [len(terms[each].ids) for each in found])
    ids, where = np.unique(every, return_inverse=True)
    shares = np.bincount(where, weights=weight) / total
    order = np.lexsort((-ids, -shares))
    return Matches(ids[order], shares[order], missing)
