"""Answering a query: candidates of each index, fused by rank, then recency and confidence, each with its reason.

Reciprocal-rank fusion (Cormack, Clarke, Büttcher 2009): a hit's score is the sum over the legs that found it of
weight / (60 + rank). A leg that is missing is said in `degraded`, never silently left out.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from siftd.errors import RequestInvalid
from siftd.messages import Filters
from siftd.search import memories as memory_search
from siftd.search.query import Question, known_forms, match_of, trigrams_match, words_match
from siftd.store import candidates, memories, read
from siftd.store.candidates import Candidate, Scope
from siftd.store.memories import MemoryScope

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

RRF_CONSTANT = 60
LEG_DEPTH = 60
K_MAX = 200
WEIGHTS = {"words": 1.0, "raw": 0.6, "vector": 0.7, "trigram": 0.4, "recent": 1.0}
MEMORY_WEIGHTS = WEIGHTS | {"words": WEIGHTS["words"] + WEIGHTS["raw"]}
"""An event's words count twice, in its summary and raw; a memory has them once."""
COSINE_FLOOR = 0.12
"""A vector hit below this is noise of the built-in embedder."""
RECENCY_WEIGHT = 0.05
RECENCY_HALF_LIFE_DAYS = 30.0
CONFIDENCE_WEIGHT = 0.1
IMPORTANCE_WEIGHT = 0.05
_MS_PER_DAY = 86_400_000
_PREVIEW_CHARS = 300


@dataclass(slots=True)
class _Fused:
    score: float = 0.0
    summary_id: int | None = None
    why: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, and why the search was less than whole (None when it was)."""

    hits: list[dict[str, Any]]
    degraded: str | None


class SearchEngine:
    """Searches one store through a read-only connection. Used from one thread at a time."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: Callable[[], VectorIndex],
        embed: Callable[[Sequence[str]], Any],
        now_ms: Callable[[], int],
    ) -> None:
        self._connection = connection
        self._index = index
        self._embed = embed
        self._now_ms = now_ms

    def search(self, query: str, k: int, filters: Filters) -> Found:
        """Return at most `k` hits, best first. Any text is a valid query; without one, filters give the latest."""
        if filters.kind is not None and filters.kind not in candidates.KINDS:
            raise RequestInvalid("there is no such kind of hit", hint=f"one of {', '.join(candidates.KINDS)}")
        question = Question.of(query)
        scope = Scope.of(filters)
        memory_scope = MemoryScope.of(filters, self._now_ms()) if memories.has_any(self._connection) else None
        k = max(0, min(k, K_MAX))
        if not question.text and not scope.is_open:
            legs = {"recent": candidates.latest(self._connection, scope, K_MAX)}
            memory_legs = {}
            if memory_scope is not None:
                memory_legs["recent"] = memory_search.latest_leg(self._connection, memory_scope, K_MAX)
            hits = [*self._hits(legs, k, filters), *self._memory_hits(memory_legs, k)]
            return Found(sorted(hits, key=lambda hit: -hit["ts"])[:k], None)
        legs = self._lexical_legs(question, scope)
        memory_legs = {}
        if memory_scope is not None:
            memory_legs = memory_search.lexical_legs(self._connection, question, memory_scope)
        degraded = None
        try:
            legs["vector"] = self._vector_leg(question, scope)
            if memory_scope is not None:
                memory_legs["vector"] = self._memory_vector_leg(question, memory_scope)
            if not len(self._index()) and candidates.has_summaries(self._connection):
                degraded = "without vectors: the summaries wait for theirs"
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, search still answers and says so
            degraded = f"without vectors: the embedder failed ({type(error).__name__})"
        hits = [*self._hits(legs, k, filters), *self._memory_hits(memory_legs, k)]
        return Found(sorted(hits, key=lambda hit: -hit["score"])[:k], degraded)

    def _lexical_legs(self, question: Question, scope: Scope) -> dict[str, list[Candidate]]:
        connection = self._connection
        legs: dict[str, list[Candidate]] = {}
        known = known_forms(connection, "summaries_terms", question.terms)
        if words := match_of(known):
            legs["words"] = candidates.by_words(connection, words, scope, LEG_DEPTH)
        if raw := words_match(connection, "events_terms", question.terms):
            legs["raw"] = candidates.by_raw_words(connection, raw, scope, LEG_DEPTH)
        if trigrams := trigrams_match([term for term, forms in known.items() if not forms]):
            legs["trigram"] = candidates.by_trigrams(connection, trigrams, scope, LEG_DEPTH)
        return legs

    def _vector_leg(self, question: Question, scope: Scope) -> list[Candidate]:
        if not question.text:
            return []
        index = self._index()
        index.refresh(self._connection)
        if not len(index):
            return []
        vector = self._embed([question.text])[0]
        if scope.is_open:
            nearest = index.nearest(vector)
        else:
            nearest = index.nearest_among(vector, candidates.allowed_ids(self._connection, scope))
        found: list[Candidate] = []
        while len(found) < LEG_DEPTH and (window := list(islice(nearest, LEG_DEPTH))):
            near = {summary_id: cosine for summary_id, cosine in window if cosine >= COSINE_FLOOR}
            found += [
                Candidate(each.event_id, each.summary_id, near[each.summary_id or 0])
                for each in candidates.iter_allowed(self._connection, list(near), scope)
            ]
            if len(near) < len(window):
                break
        return found[:LEG_DEPTH]

    def _fuse(self, legs: dict[str, list[Candidate]]) -> dict[int, _Fused]:
        """Add up the legs by event: a summary and its raw event are one hit."""
        fused: dict[int, _Fused] = {}
        for leg, found in legs.items():
            seen: set[int] = set()
            for candidate in found:
                if candidate.event_id in seen:
                    continue
                seen.add(candidate.event_id)
                hit = fused.setdefault(candidate.event_id, _Fused())
                hit.score += WEIGHTS[leg] / (RRF_CONSTANT + len(seen))
                hit.why[leg] = {"rank": len(seen), "score": round(candidate.score, 4)}
                hit.summary_id = hit.summary_id or candidate.summary_id
        return fused

    def _hits(self, legs: dict[str, list[Candidate]], k: int, filters: Filters) -> list[dict[str, Any]]:
        """Show the best, re-ranked by recency and confidence among twice as many."""
        ranked = sorted(self._fuse(legs).items(), key=lambda item: (-item[1].score, -item[0]))
        shown: list[dict[str, Any]] = []
        for event_id, fused in ranked:
            if len(shown) >= 2 * k:
                break
            row = read.find_hit(self._connection, event_id, fused.summary_id, superseded=filters.superseded)
            if row is not None:
                shown.append(self._hit(row, fused))
        shown.sort(key=lambda hit: -hit["score"])
        return shown[:k]

    def _memory_vector_leg(self, question: Question, scope: MemoryScope) -> memory_search.Leg:
        if not question.text or not memories.has_vectors(self._connection):
            return []
        vector = self._embed([question.text])[0]
        return memory_search.vector_leg(self._connection, scope, self._index().embedder, vector)

    def _memory_hits(self, legs: dict[str, memory_search.Leg], k: int) -> list[dict[str, Any]]:
        fused: dict[int, _Fused] = {}
        for leg, found in legs.items():
            for rank, (memory_id, answered) in enumerate(found, start=1):
                hit = fused.setdefault(memory_id, _Fused())
                place = RRF_CONSTANT + (rank if leg == "recent" else 1)
                hit.score += MEMORY_WEIGHTS[leg] / place * min(1.0, answered / memory_search.FULL[leg])
                hit.why[leg] = {"rank": rank, "score": round(answered, 4)}
        best = sorted(fused.items(), key=lambda item: (-item[1].score, -item[0]))[: 2 * k]
        rows = ((memories.find_hit(self._connection, memory_id), each) for memory_id, each in best)
        return [self._memory_hit(row, each) for row, each in rows if row is not None]

    def _memory_hit(self, row: dict[str, Any], fused: _Fused) -> dict[str, Any]:
        importance = IMPORTANCE_WEIGHT * (row["importance"] - 3)
        confidence = 1.0 if row["confidence"] is None else row["confidence"]  # it was said on purpose
        score, why = self._scored(row | {"confidence": confidence}, fused, importance=importance)
        return {
            "id": f"m{row['id']}",
            "kind": memories.OWNER,
            "eventId": None,
            "sessionId": row["session_id"],
            "tool": None,
            "type": row["type"],
            "ts": row["ts"],
            "score": score,
            "text": row["text"],
            "why": why,
        }

    def _scored(self, row: dict[str, Any], fused: _Fused, **weights: float) -> tuple[float, dict[str, Any]]:
        """Return a hit's score and what it is made of."""
        age_days = max(0.0, (self._now_ms() - row["ts"]) / _MS_PER_DAY)
        recency = RECENCY_WEIGHT * math.pow(0.5, age_days / RECENCY_HALF_LIFE_DAYS)
        confidence = CONFIDENCE_WEIGHT * ((row["confidence"] if row["confidence"] is not None else 0.5) - 0.5)
        if "recent" in fused.why:
            confidence = 0.0  # the latest are wanted in their order
        score = fused.score * (1.0 + recency + confidence + sum(weights.values()))
        arithmetic = {"fused": fused.score, "recency": recency, "confidence": confidence, **weights}
        return round(score, 6), fused.why | {name: round(value, 6) for name, value in arithmetic.items()}

    def _hit(self, row: dict[str, Any], fused: _Fused) -> dict[str, Any]:
        score, why = self._scored(row, fused)
        return {
            "id": f"s{row['summary_id']}" if row["summary_id"] is not None else f"e{row['event_id']}",
            "kind": _kind(row),
            "eventId": row["event_id"],
            "sessionId": row["session_id"],
            "tool": row["tool"],
            "ts": row["ts"],
            "score": score,
            "text": row["text"] if row["text"] is not None else row["payload_head"][:_PREVIEW_CHARS],
            "why": why,
        }


def _kind(row: dict[str, Any]) -> str:
    return "event" if row["summary_id"] is None else "summary"
