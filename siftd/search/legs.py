"""The legs of one search: each asks one index and gives what it may show, best first, with scores from 0 to about 1.

Whatever is hidden or filtered out is gone before the leg is cut to its depth. Where a filter leaves few rows they are
known before the index is asked, else the index's best are looked at, as many as it takes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from siftd.search import lexical
from siftd.search.descending import descending
from siftd.search.lexical import Matches
from siftd.search.query import Question, quoted, trigrams_match
from siftd.search.relevance import answered
from siftd.search.rows import Ids, Rows
from siftd.store import candidates, postings
from siftd.store.scope import EVERY_EVENT, Scope

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

DEPTH = 128
"""Rows of a leg that are ranked."""
DEPTH_OF_SESSIONS = 1_500
"""The same where sessions are ranked, each by several of its rows: with 256 R@10 is 0.01 less."""
TRIGRAM_DEPTH = 60
TRIGRAMS_MAX = 2_000
"""Rows of the trigram index that are scored at all, the newest."""
NOISE = 0.1
"""A vector nearer to the question than most by less than this is noise."""
_TRIGRAM_SCORE = 0.5
"""Of a row that holds a word of the question only as a part of another. Arbitrary; the first one's."""

_Scores = NDArray[np.float64]
_NONE: Ids = np.empty(0, dtype=np.int64)
_Allowed = Callable[[Ids], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Found:
    """What a leg found: each event once, best first, with the summary that was found (0: the event itself)."""

    events: Ids
    summaries: Ids
    scores: _Scores


class Legs:
    """The legs for one question within one scope."""

    def __init__(
        self, connection: sqlite3.Connection, rows: Rows, question: Question, scope: Scope, depth: int = DEPTH
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._depth = depth
        self._question = question
        self._scope = scope
        self._columns = scope.columns
        self._few = candidates.few_events(connection, scope)
        self._few_summaries = None if self._few is None else candidates.summary_ids(connection, self._few)

    def words(self) -> Found:
        """Summaries, by their words."""
        ids, shares = self._best(self._told.ids, self._told.shares, self._summaries_shown, self._few_summaries)
        return self._summaries(ids, lexical.shortened(shares, self._rows.summaries(ids)["size"]))

    def raw(self) -> Found:
        """Events, by the words of what was asked, done and answered."""
        matches = self._matches("events_fts", "events", self._few, self._events_surely_shown)
        ids, shares = self._best(matches.ids, matches.shares, self._events_shown, self._few)
        scores = lexical.shortened(shares, self._rows.events(ids)["size"])
        order = np.lexsort((-ids, -scores))
        return Found(ids[order], np.zeros_like(ids), scores[order])

    def trigram(self) -> Found:
        """Summaries that hold, somewhere inside their words, a word that no summary holds whole."""
        match = trigrams_match([term for term in self._question.terms if quoted(term) in self._told.missing])
        if match is None:
            return self._summaries(np.empty(0, dtype=np.int64), np.empty(0))
        found = np.array(candidates.by_trigrams(self._connection, match, TRIGRAMS_MAX), dtype=np.int64)
        places = _TRIGRAM_SCORE / (1 + np.arange(len(found)) / TRIGRAM_DEPTH)
        ids, scores = self._best(found, places, self._summaries_shown, self._few_summaries)
        return self._summaries(ids[:TRIGRAM_DEPTH], scores[:TRIGRAM_DEPTH])

    def vector(self, index: VectorIndex, vector: NDArray[np.float32]) -> Found:
        """Summaries whose vector is nearer than most, by how much of the question that answers."""
        usual = index.usual_cosine(vector)
        found: list[tuple[Ids, _Scores]] = []
        for ids, cosines in index.windows(vector, self._few_summaries):
            nearness = (cosines - usual) / (1 - usual) if usual < 1 else np.zeros_like(cosines)
            near = nearness >= NOISE
            shown = near & self._summaries_shown(ids)
            found.append((ids[shown], nearness[shown]))
            if not near.all() or sum(len(each) for each, _ in found) >= self._depth:
                break
        if not found:
            return self._summaries(np.empty(0, dtype=np.int64), np.empty(0))
        every, scores = (np.concatenate(each)[: self._depth] for each in zip(*found, strict=True))
        return self._summaries(every, answered(scores))

    def rarity(self) -> dict[str, float]:
        """Return how rare each telling word of the question is among the summaries."""
        weights = self._told.weights
        return {term: weights[expression] for term in self._question.terms if (expression := quoted(term)) in weights}

    @cached_property
    def _hidden(self) -> tuple[Ids, Ids]:
        return self._rows.superseded() if self._scope.hides_superseded else (_NONE, _NONE)

    @cached_property
    def _told(self) -> Matches:
        return self._matches("summaries_fts", "summaries", self._few_summaries, self._summaries_shown)

    def _matches(self, table: str, rows_of: str, few: list[int] | None, shown: _Allowed) -> Matches:
        expressions = self._question.expressions
        if not expressions or few == []:
            return lexical.NOTHING
        rows = postings.last_id(self._connection, rows_of)
        among = None if few is None else (min(few), max(few))
        if few is not None or self._columns is None:
            return lexical.find(self._connection, table, rows, expressions, among)

        def is_enough(ids: Ids) -> bool:
            return len(ids) >= self._depth and int(shown(ids).sum()) >= self._depth

        return lexical.find(self._connection, table, rows, expressions, is_enough=is_enough)

    def _best(self, ids: Ids, scores: _Scores, shown: _Allowed, few: list[int] | None) -> tuple[Ids, _Scores]:
        """Return the best rows that may be shown, at most as many as the leg is deep."""
        if few is not None:
            kept = np.isin(ids, few)
            ids, scores = ids[kept], scores[kept]
        found, told, count = [ids[:0]], [scores[:0]], 0
        for some, theirs in descending(ids, scores):
            may = shown(some)
            found.append(some[may])
            told.append(theirs[may])
            count += len(found[-1])
            if count >= self._depth:
                break
        return np.concatenate(found)[: self._depth], np.concatenate(told)[: self._depth]

    def _summaries_shown(self, ids: Ids) -> NDArray[np.bool_]:
        if self._columns is None:
            return np.isin(ids, candidates.shown_summaries(self._connection, ids.tolist(), self._scope))
        shown = ~np.isin(ids, self._hidden[0])
        if self._columns != EVERY_EVENT:
            shown &= self._rows.are_within(self._rows.summaries(ids)["event"], self._columns)
        return shown

    def _events_shown(self, ids: Ids) -> NDArray[np.bool_]:
        if self._columns is None:
            return np.isin(ids, candidates.shown_events(self._connection, ids.tolist(), self._scope))
        shown, doubted = self._events_surely_shown(ids), np.isin(ids, self._hidden[1])
        if doubted.any():
            asked = ids[doubted]
            shown[doubted] = np.isin(asked, candidates.shown_events(self._connection, asked.tolist(), self._scope))
        return shown

    def _events_surely_shown(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether events are shown, as far as the rows that are kept tell."""
        shown = ~np.isin(ids, self._hidden[1])
        if self._columns is not None and self._columns != EVERY_EVENT:
            shown &= self._rows.are_within(ids, self._columns)
        return shown

    def _summaries(self, ids: Ids, scores: _Scores) -> Found:
        """Return each event with its best summary."""
        events = self._rows.summaries(ids)["event"]
        order = np.lexsort((-events, -scores))
        _, firsts = np.unique(events[order], return_index=True)
        best = order[np.sort(firsts)]
        best = best[events[best] > 0]
        return Found(events[best], ids[best], scores[best])
