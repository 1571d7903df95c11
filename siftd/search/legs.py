"""The legs of one search: each asks one index and gives what it may show, best first, with scores from 0 to about 1.

Whatever is hidden or filtered out is gone before the leg is cut to its depth. Where a filter leaves few rows they are
known before the index is asked, else the index's best are looked at, as many as it takes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from siftd.search import lexical
from siftd.search.lexical import Matches
from siftd.search.query import Question, trigrams_match
from siftd.store import candidates, postings
from siftd.store.candidates import Candidate, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from siftd.search.vectors import VectorIndex

DEPTH = 96
"""Rows of a leg that are ranked."""
DEPTH_OF_SESSIONS = 256
"""The same where sessions are ranked, which need several rows each; more moved no figure of the evaluation."""
TRIGRAM_DEPTH = 60
NOISE = 0.1
"""A vector nearer to the question than most by less than this is noise."""
_TRIGRAM_SCORE = 0.5
"""Of a row that holds a word of the question only as a part of another. Arbitrary; the first one's."""

Found = list[tuple[Candidate, float]]
_Lookup = Callable[[sqlite3.Connection, Iterable[int], Scope], dict[int, Candidate]]


class Legs:
    """The legs for one question within one scope."""

    def __init__(self, connection: sqlite3.Connection, question: Question, scope: Scope, depth: int = DEPTH) -> None:
        self._connection = connection
        self._depth = depth
        self._question = question
        self._scope = scope
        self._few = candidates.few_events(connection, scope)
        self._few_summaries = None if self._few is None else candidates.summary_ids(connection, self._few)
        self._unknown: frozenset[str] = frozenset()

    def words(self) -> Found:
        """Summaries, by their words."""
        return self._lexical("summaries_fts", "summaries", candidates.summaries_of, self._few_summaries)

    def raw(self) -> Found:
        """Events, by the words of what was asked, done and answered."""
        return self._lexical("events_fts", "events", candidates.events_of, self._few)

    def trigram(self) -> Found:
        """Summaries that hold, somewhere inside their words, a word that no summary holds whole."""
        match = trigrams_match([term for term in self._question.terms if f'"{term}"' in self._unknown])
        if match is None:
            return []
        ids = np.array(candidates.by_trigrams(self._connection, match, lexical.FIRST_POSTINGS), dtype=np.int64)
        ids = _only(ids, self._few_summaries)
        scores = _TRIGRAM_SCORE / (1 + np.arange(len(ids)) / TRIGRAM_DEPTH)
        return self._shown(Matches(ids, scores, frozenset()), candidates.summaries_of, TRIGRAM_DEPTH)

    def vector(self, index: VectorIndex, vector: NDArray[np.float32]) -> Found:
        """Summaries whose vector is nearer than most, by how much nearer."""
        if self._few_summaries is None:
            nearest = index.nearest(vector)
        else:
            nearest = index.nearest_among(vector, self._few_summaries)
        usual = index.usual_cosine(vector)
        found: Found = []
        while len(found) < self._depth and (window := list(islice(nearest, self._depth))):
            near = {each: score for each, cosine in window if (score := _nearness(cosine, usual)) >= NOISE}
            shown = candidates.summaries_of(self._connection, near, self._scope)
            found += [(shown[each], score) for each, score in near.items() if each in shown]
            if len(near) < len(window):
                break
        return found[: self._depth]

    def _lexical(self, table: str, rows_of: str, look_up: _Lookup, few: list[int] | None) -> Found:
        expressions = self._question.expressions
        if not expressions or few == []:
            return []
        rows = postings.last_id(self._connection, rows_of)
        among = None if few is None else (min(few), max(few))
        matches = lexical.find(self._connection, table, rows, expressions, among)
        if table == "summaries_fts":
            self._unknown = matches.missing
        kept = np.isin(matches.ids, few) if few is not None else slice(None)
        found = self._shown(Matches(matches.ids[kept], matches.shares[kept], matches.missing), look_up, self._depth)
        sizes = np.array([candidate.size for candidate, _ in found], dtype=np.float64)
        scores = lexical.shortened(np.array([share for _, share in found]), sizes)
        ranked = sorted(zip(scores.tolist(), found, strict=True), key=lambda each: (-each[0], -each[1][0].event_id))
        return [(candidate, score) for score, (candidate, _) in ranked]

    def _shown(self, matches: Matches, look_up: _Lookup, depth: int) -> Found:
        """Return the best `depth` matches that may be shown."""
        found: Found = []
        ids, shares = matches.ids.tolist(), matches.shares.tolist()
        for start in range(0, len(ids), depth):
            shown = look_up(self._connection, ids[start : start + depth], self._scope)
            window = zip(ids[start : start + depth], shares[start : start + depth], strict=True)
            found += [(shown[each], share) for each, share in window if each in shown]
            if len(found) >= depth:
                break
        return found[:depth]


def _only(ids: NDArray[np.int64], few: list[int] | None) -> NDArray[np.int64]:
    return ids if few is None else ids[np.isin(ids, few)]


def _nearness(cosine: float, usual: float) -> float:
    """How much nearer than most: embedders differ in what they call far."""
    return (cosine - usual) / (1 - usual) if usual < 1 else 0.0
