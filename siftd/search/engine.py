"""Answering a query: what each leg finds, added up by event and by session, each hit with its arithmetic.

Every leg scores from 0 to about 1, how much of the question a row answers, so that scores are added with a weight
each (Bruch, Gai, Ingber 2023, found such a sum better than ranks alone). To what an event answers by itself comes a
share of what its session does. A leg that is missing is said in `degraded`, never silently left out.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from siftd import scoring
from siftd.errors import RequestInvalid, SiftdError
from siftd.messages import Filters
from siftd.scoring import Scoring
from siftd.search import memories as memory_search
from siftd.search.legs import DEPTH, DEPTH_OF_SESSIONS, Legs
from siftd.search.memories import Shelf, Shelves
from siftd.search.pool import Pool, Pooled, with_neighbours
from siftd.search.query import Question
from siftd.search.weights import Weights
from siftd.store import candidates, memories, read
from siftd.store.candidates import Scope
from siftd.store.memories import MemoryScope

if TYPE_CHECKING:
    from siftd.search.memories import Vector
    from siftd.search.vectors import VectorIndex

K_MAX = 200
GROUPS = ("session",)
IMPORTANCE_WEIGHT = 0.05
_MS_PER_DAY = 86_400_000
_PREVIEW_CHARS = 300
_READING_SECONDS = 0.05
"""Of reading vectors that one search gives itself after a start."""
_PLACES_MAX = 5
"""From the fifth better one of its session on a hit loses no more."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, and why the search was less than whole (None when it was)."""

    hits: list[dict[str, Any]]
    degraded: str | None


@dataclass(slots=True)
class _Ranked:
    """An event with its score, what is added up in it, and what lifts the sum."""

    pooled: Pooled
    score: float
    parts: dict[str, float]

    def why(self, factors: dict[str, float]) -> dict[str, Any]:
        legs = {leg: {"rank": rank, "score": round(found, 4)} for leg, (rank, found) in self.pooled.legs.items()}
        return legs | _rounded(self.parts | factors)


class SearchEngine:
    """Searches one store through a read-only connection. Used from one thread at a time."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: Callable[[], VectorIndex],
        embed: Callable[[Sequence[str]], Any],
        now_ms: Callable[[], int],
        weights: Weights | None = None,
        everywhere: Callable[[], sqlite3.Connection | None] = lambda: None,
        scoring: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        """`everywhere` gives the store of the memories for every project, while there is one; `scoring` what is set
        for the project's searches."""
        self._connection = connection
        self._index = index
        self._embed = embed
        self._now_ms = now_ms
        self._weights = weights or Weights()
        self._scoring = scoring
        self._shelves = Shelves(connection, everywhere)

    def search(
        self,
        query: str,
        k: int,
        filters: Filters,
        *,
        weights: Mapping[str, float] | None = None,
        group: str | None = None,
    ) -> Found:
        """Return at most `k` hits, best first. Any text is a valid query; without one, filters give the latest.

        `weights` change single signals for this search, or scale them (`siftd.scoring`); with `group` "session" there
        is one hit for each session.
        """
        if filters.kind is not None and filters.kind not in candidates.KINDS:
            raise RequestInvalid("there is no such kind of hit", hint=f"one of {', '.join(candidates.KINDS)}")
        if group is not None and group not in GROUPS:
            raise RequestInvalid("hits cannot be grouped by that", hint=f"by {', '.join(GROUPS)}")
        k = max(0, min(k, K_MAX))
        question = Question.of(query)
        scope = Scope.of(filters)
        memory_scope = MemoryScope.of(filters, self._now_ms())
        shelves = [] if memory_scope is None else self._shelves.filled(is_shared=not filters.project)
        if not question.text:
            return self._latest(scope, memory_scope, shelves, k, filters)
        weighed = self._weighed(weights or {})
        pool, vector, degraded = self._ask(question, scope, weighed, group)
        ranked = self._ranked(pool, weighed, group)
        hits = list(self._hits(ranked, weighed, k, filters))
        for shelf in shelves:
            assert memory_scope is not None
            try:
                legs = shelf.legs(question if weighed.words else None, memory_scope, vector, self._index)
                hits += self._memory_hits(shelf, legs, weighed, k)
            except sqlite3.Error:
                if shelf.connection is self._connection:
                    raise
                degraded = degraded or "without the memories of every project: their store cannot be read"
        return Found(sorted(hits, key=lambda hit: -hit["score"])[:k], degraded)

    def _weighed(self, asked: Mapping[str, float]) -> Weights:
        """Return the weights: a search's own numbers before the project's before the configuration's."""
        own = {name: scoring.checked(name, value) for name, value in asked.items() if name in scoring.NAMES}
        others = {name: value for name, value in asked.items() if name not in own}
        return self._weights.changed(others).scaled(Scoring.of(own, self._scoring()))

    def _ask(
        self, question: Question, scope: Scope, weights: Weights, group: str | None
    ) -> tuple[Pool, Vector | None, str | None]:
        """Ask every leg that has a weight; return what they found, the question's vector, why a leg is missing."""
        pool = Pool(weights)
        legs = Legs(self._connection, question, scope, DEPTH if group is None else DEPTH_OF_SESSIONS)
        for leg, ask in (("words", legs.words), ("raw", legs.raw), ("trigram", legs.trigram)):
            if weights.of(leg):
                pool.add(leg, ask())
        if not weights.vector or not question.is_telling:
            return pool, None, None
        index = self._index()
        index.refresh(self._connection, seconds=_READING_SECONDS)
        try:
            vector = self._embed([question.text])[0]
            if len(index):
                pool.add("vector", legs.vector(index, vector))
        except sqlite3.Error:
            raise
        except SiftdError as error:
            return pool, None, f"without vectors: {error}" + (f"; {error.hint}" if error.hint else "")
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, search still answers and says so
            return pool, None, f"without vectors: the embedder failed ({type(error).__name__})"
        if not len(index) and candidates.has_summaries(self._connection):
            return pool, vector, "without vectors: the summaries wait for theirs"
        if not index.is_whole:
            return pool, vector, "with the newest vectors only: the others are being read"
        return pool, vector, None

    def _ranked(self, pool: Pool, weights: Weights, group: str | None) -> list[_Ranked]:
        """Return the events best first; with `group` the best event of each session, best session first."""
        alone = pool.session_scores()
        times = candidates.session_times(self._connection, alone) if weights.neighbour else {}
        scores = with_neighbours(alone, times, weights)
        now_ms = self._now_ms()
        ranked: list[_Ranked] = []
        for session, events in pool.sessions.items():
            events.sort(key=_best_first)
            for place, each in enumerate(events if group is None else events[:1]):
                if group is None:
                    less = weights.diversity * min(place, _PLACES_MAX) * each.own
                    parts = {"own": each.own, "session": weights.session * scores[session], "diversity": -less}
                else:
                    parts = {"session": scores[session]}
                lift = _recency(now_ms - each.candidate.ts, weights) + _sureness(each.candidate.confidence, weights)
                ranked.append(_Ranked(each, sum(parts.values()) * (1 + lift), parts))
        return sorted(ranked, key=lambda each: (-each.score, -each.pooled.candidate.event_id))

    def _factors(self, ts: int, confidence: float | None, weights: Weights) -> dict[str, float]:
        """Return by what share each thing that is known of a row itself lifts its score."""
        return {"recency": _recency(self._now_ms() - ts, weights), "confidence": _sureness(confidence, weights)}

    def _latest(
        self, scope: Scope, memory_scope: MemoryScope | None, shelves: Sequence[Shelf], k: int, filters: Filters
    ) -> Found:
        """Return the latest within the filters; without any, nothing was asked."""
        if scope.is_open:
            return Found([], None)
        hits: list[dict[str, Any]] = []
        for rank, candidate in enumerate(candidates.latest(self._connection, scope, K_MAX), start=1):
            why = {"recent": {"rank": rank, "score": float(candidate.ts)}}
            if len(hits) < k and (row := self._row(candidate.event_id, None, filters)) is not None:
                hits.append(_hit(row, 1 / rank, why))
        for shelf in shelves:
            assert memory_scope is not None
            found = memory_search.latest_leg(shelf.connection, memory_scope, k)
            for rank, (memory_id, _) in enumerate(found, start=1):
                if (row := memories.find_hit(shelf.connection, memory_id)) is not None:
                    why = {"recent": {"rank": rank, "score": float(row["ts"])}}
                    hits.append(_memory_hit(shelf, row, 1 / rank, why))
        return Found(sorted(hits, key=lambda hit: -hit["ts"])[:k], None)

    def _hits(self, ranked: Iterable[_Ranked], weights: Weights, k: int, filters: Filters) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = []
        for each in ranked:
            if len(shown) == k:
                break
            candidate = each.pooled.candidate
            row = self._row(candidate.event_id, candidate.summary_id, filters)
            if row is not None:
                why = each.why(self._factors(candidate.ts, candidate.confidence, weights))
                shown.append(_hit(row, each.score, why))
        return shown

    def _row(self, event_id: int, summary_id: int | None, filters: Filters) -> dict[str, Any] | None:
        hidden_too = filters.superseded or filters.as_of is not None
        return read.find_hit(self._connection, event_id, summary_id, superseded=hidden_too)

    def _memory_hits(
        self, shelf: Shelf, legs: dict[str, memory_search.Leg], weights: Weights, k: int
    ) -> list[dict[str, Any]]:
        """Return the best memories: a memory is its own session, and its words are its summary's and its event's."""
        found: dict[int, dict[str, Any]] = {}
        for leg, rows in legs.items():
            for rank, (memory_id, score) in enumerate(rows, start=1):
                found.setdefault(memory_id, {})[leg] = {"rank": rank, "score": round(score, 4)}
        by_leg = {"words": weights.words + weights.raw, "vector": weights.vector, "trigram": weights.trigram}
        hits = []
        for memory_id, why in found.items():
            own = sum(by_leg[leg] * each["score"] for leg, each in why.items())
            if own > 0 and (row := memories.find_hit(shelf.connection, memory_id)) is not None:
                parts = {"own": own, "session": weights.session * own}
                said = 1.0 if row["confidence"] is None else row["confidence"]  # it was said on purpose
                importance = IMPORTANCE_WEIGHT * (row["importance"] - 3)
                factors = self._factors(row["ts"], said, weights) | {"importance": importance}
                score = sum(parts.values()) * (1 + sum(factors.values()))
                hits.append(_memory_hit(shelf, row, score, why | _rounded(parts | factors)))
        return sorted(hits, key=lambda hit: (-hit["score"], -hit["ts"]))[:k]


def _recency(age_ms: int, weights: Weights) -> float:
    age_days = max(0.0, age_ms / _MS_PER_DAY)
    return weights.recency * math.pow(0.5, age_days / weights.half_life)


def _sureness(confidence: float | None, weights: Weights) -> float:
    return weights.confidence * ((0.5 if confidence is None else confidence) - 0.5)


def _best_first(pooled: Pooled) -> tuple[float, int]:
    return -pooled.own, -pooled.candidate.event_id


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in parts.items()}


def _hit(row: dict[str, Any], score: float, why: dict[str, Any]) -> dict[str, Any]:
    is_event = row["summary_id"] is None
    return {
        "id": f"e{row['event_id']}" if is_event else f"s{row['summary_id']}",
        "kind": "event" if is_event else "summary",
        "eventId": row["event_id"],
        "sessionId": row["session_id"],
        "tool": row["tool"],
        "ts": row["ts"],
        "score": round(score, 6),
        "text": row["text"] if row["text"] is not None else row["payload_head"][:_PREVIEW_CHARS],
        "why": why,
    }


def _memory_hit(shelf: Shelf, row: dict[str, Any], score: float, why: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{shelf.letter}{row['id']}",
        "kind": memories.OWNER,
        "eventId": None,
        "sessionId": row["session_id"],
        "tool": None,
        "type": row["type"],
        "ts": row["ts"],
        "score": round(score, 6),
        "text": row["text"],
        "why": why,
    }
