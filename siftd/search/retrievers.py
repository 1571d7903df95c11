"""The retrievers of one search: each asks one index for what it may show, best first, scored from 0 to about 1.

Whatever is hidden or filtered out is gone before the retriever is cut to its depth. Where a filter leaves few rows they
are known before the index is asked, else the index's best are looked at, as many as it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from siftd.search import lexical
from siftd.search.lexical import Matches
from siftd.search.query import Question, quoted, trigrams_match
from siftd.search.relevance import answered
from siftd.search.row_cache import Ids, Rows
from siftd.search.top_k import iter_best
from siftd.store import postings, search_reads
from siftd.store.access import Database
from siftd.store.scope import EVERY_EVENT, Scope

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

FEW = 4_000
"""Rows that a filter leaves, up to which they are looked at before an index is."""
DEPTH = 128
"""Rows of a retriever that are ranked."""
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
    """What a retriever found: each event once, best first, with the summary that was found (0: the event itself)."""

    events: Ids
    summaries: Ids
    scores: _Scores


class Retrievers:
    """The retrievers for one question within one scope."""

    def __init__(self, connection: Database, rows: Rows, question: Question, scope: Scope, depth: int = DEPTH) -> None:
        self._connection = connection
        self._rows = rows
        self._depth = depth
        self._question = question
        self._scope = scope
        listed = scope.listed
        self._listed = None if listed is None else lexical.as_ids(search_reads.listed_events(connection, listed))
        self.few = self._few_events()
        self.few_summaries: Ids | None = None
        if self.few is not None:
            self.few_summaries = np.sort(_array(search_reads.summary_ids(connection, self.few.tolist())))

    def words(self) -> Found:
        """Summaries, by their words."""
        ids, shares = self._best(self._matched.ids, self._matched.shares, self.summaries_shown, self.few_summaries)
        return self._summaries(ids, lexical.shortened(shares, self._rows.summaries(ids)["size"]))

    def raw(self) -> Found:
        """Events, by the words of what was asked, done and answered."""
        matches = self._matches("events_fts", "events", self.few, self.events_definitely_visible)
        ids, shares = self._best(matches.ids, matches.shares, self.events_shown, self.few)
        scores = lexical.shortened(shares, self._rows.events(ids)["size"])
        order = np.lexsort((-ids, -scores))
        return Found(ids[order], np.zeros_like(ids), scores[order])

    def trigram(self) -> Found:
        """Summaries that hold, somewhere inside their words, a word that no summary holds whole."""
        match = trigrams_match([term for term in self._question.terms if quoted(term) in self._matched.missing])
        if match is None:
            return self._summaries(np.empty(0, dtype=np.int64), np.empty(0))
        found = _array(search_reads.by_trigrams(self._connection, match, TRIGRAMS_MAX))
        places = _TRIGRAM_SCORE / (1 + np.arange(len(found)) / TRIGRAM_DEPTH)
        ids, scores = self._best(found, places, self.summaries_shown, self.few_summaries)
        return self._summaries(ids[:TRIGRAM_DEPTH], scores[:TRIGRAM_DEPTH])

    def vector(self, index: VectorIndex, vector: NDArray[np.float32]) -> Found:
        """Summaries whose vector is nearer than most, by how much of the question that answers."""
        usual = index.usual_cosine(vector)
        found: list[tuple[Ids, _Scores]] = []
        for ids, cosines in index.windows(vector, self.few_summaries):
            nearness = (cosines - usual) / (1 - usual) if usual < 1 else np.zeros_like(cosines)
            near = nearness >= NOISE
            shown = near & self.summaries_shown(ids)
            found.append((ids[shown], nearness[shown]))
            if not near.all() or sum(len(each) for each, _ in found) >= self._depth:
                break
        if not found:
            return self._summaries(np.empty(0, dtype=np.int64), np.empty(0))
        every, scores = (np.concatenate(each)[: self._depth] for each in zip(*found, strict=True))
        return self._summaries(every, answered(scores))

    def rarity(self) -> dict[str, float]:
        """Return how rare each telling word of the question is among the summaries."""
        weights = self._matched.weights
        return {term: weights[expression] for term in self._question.terms if (expression := quoted(term)) in weights}

    def _few_events(self) -> Ids | None:
        """Return the events that may be within the scope, ascending, where they are few."""
        few = None
        if not self._scope.own.is_open:
            first = np.sort(lexical.as_ids(search_reads.first_events(self._connection, self._scope, FEW + 1)))
            few = first if len(first) <= FEW else None
        if self._listed is None:
            return few
        if few is not None:
            return np.intersect1d(self._listed, few)
        return self._listed if len(self._listed) <= FEW else None

    @cached_property
    def _hidden(self) -> tuple[Ids, Ids]:
        """Summaries that are superseded by now, and the events that these tell of, where any of them are hidden."""
        return self._rows.superseded() if self._scope.hides_superseded else (_NONE, _NONE)

    @cached_property
    def _matched(self) -> Matches:
        return self._matches("summaries_fts", "summaries", self.few_summaries, self.summaries_shown)

    def _matches(self, table: str, rows_of: str, few: Ids | None, shown: _Allowed) -> Matches:
        expressions = self._question.expressions
        if not expressions or (few is not None and not len(few)):
            return lexical.NOTHING
        rows = postings.last_id(self._connection, rows_of)
        among = None if few is None else (int(few[0]), int(few[-1]))
        if few is not None or self._scope.has_summary is not None:
            return lexical.find(self._connection, table, rows, expressions, among)

        def is_enough(ids: Ids) -> bool:
            return len(ids) >= self._depth and int(shown(ids).sum()) >= self._depth

        return lexical.find(self._connection, table, rows, expressions, is_enough=is_enough)

    def _best(self, ids: Ids, scores: _Scores, shown: _Allowed, few: Ids | None) -> tuple[Ids, _Scores]:
        """Return the best rows that may be shown, at most as many as the retriever is deep."""
        if few is not None:
            inside = _contains(few, ids)
            ids, scores = ids[inside], scores[inside]
        found, scored, count = [ids[:0]], [scores[:0]], 0
        for some, theirs in iter_best(ids, scores):
            may = shown(some)
            found.append(some[may])
            scored.append(theirs[may])
            count += len(found[-1])
            if count >= self._depth:
                break
        return np.concatenate(found)[: self._depth], np.concatenate(scored)[: self._depth]

    def summaries_shown(self, ids: Ids) -> NDArray[np.bool_]:
        within = np.ones(len(ids), dtype=np.bool_)
        if not self._scope.is_open:  # else no row need be known
            within = self._are_within(self._rows.summaries(ids)["event"])
        uncertain = within & _contains(self._hidden[0], ids)
        if self._scope.is_now:
            return within & ~uncertain
        return self._resolve_visibility(ids, within, uncertain, search_reads.live_summaries)

    def events_shown(self, ids: Ids) -> NDArray[np.bool_]:
        within = self._are_within(ids)
        return self._resolve_visibility(ids, within, within & _contains(self._hidden[1], ids), search_reads.live_events)

    def _resolve_visibility(
        self, ids: Ids, shown: NDArray[np.bool_], uncertain: NDArray[np.bool_], live: Callable[..., list[int]]
    ) -> NDArray[np.bool_]:
        """Return which rows are shown, the uncertain ones as the database says."""
        if uncertain.any():
            asked = ids[uncertain]
            shown[uncertain] = np.isin(asked, live(self._connection, asked.tolist(), self._scope))
        return shown

    def events_definitely_visible(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether events are shown, as far as is known without asking for each."""
        return self._are_within(ids) & ~_contains(self._hidden[1], ids)

    def _are_within(self, events: Ids) -> NDArray[np.bool_]:
        """Whether no filter excludes these events."""
        within = np.ones(len(events), dtype=np.bool_)
        if self._scope.columns != EVERY_EVENT:
            within = self._rows.are_within(events, self._scope.columns)
        if self._listed is not None:
            within &= _contains(self._listed, events)
        if self._scope.has_summary is not None:
            scored = search_reads.summarised_events(self._connection, events.tolist())
            within &= np.isin(events, scored) == self._scope.has_summary
        return within

    def _summaries(self, ids: Ids, scores: _Scores) -> Found:
        """Return each event with its best summary."""
        events = self._rows.summaries(ids)["event"]
        order = np.lexsort((-events, -scores))
        _, firsts = np.unique(events[order], return_index=True)
        best = order[np.sort(firsts)]
        best = best[events[best] > 0]
        return Found(events[best], ids[best], scores[best])


def _array(ids: list[int]) -> Ids:
    return np.array(ids, dtype=np.int64)


def _contains(ascending: Ids, ids: Ids) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(ids), dtype=np.bool_)
    found: NDArray[np.bool_] = ascending[np.minimum(np.searchsorted(ascending, ids), len(ascending) - 1)] == ids
    return found
