"""Answering a query: what each retriever finds, added up by event and by session, each hit with its arithmetic.

Every retriever scores from 0 to about 1, how much of the question a row answers, so that scores are added with a weight
each (Bruch, Gai, Ingber 2023, found such a sum better than ranks alone). To what an event answers by itself comes a
share of what its session does. A retriever that is missing is said in `degraded`, never silently left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import structs

from siftd import ranking_config
from siftd.errors import RequestInvalid, SiftdError
from siftd.filters import Filters
from siftd.ranking_config import Scoring
from siftd.search import facts as fact_search
from siftd.search.answers_first import depth, looked_at, put_answers_first
from siftd.search.boosts import boosted, boosts_of
from siftd.search.candidate_pool import NEAREST, Pool, with_neighbours
from siftd.search.facts import FactCollection, FactCollections
from siftd.search.facts_before import put_facts_before_sources
from siftd.search.graph_leg import Leg, follow
from siftd.search.passages import Wanted, opening, passage
from siftd.search.query import Question
from siftd.search.retrievers import DEPTH, DEPTH_OF_SESSIONS, Found, Retrievers
from siftd.search.row_cache import Rows
from siftd.search.unsummarised import summarise_now
from siftd.search.vectors import is_built_in
from siftd.search.weights import Weights
from siftd.store import event_views, fact_candidates, search_reads, turn_summaries
from siftd.store.access import Database, DatabaseError
from siftd.store.event_views import Asking
from siftd.store.fact_scope import OWNER, FactScope
from siftd.store.payload import find_object
from siftd.store.scope import KINDS, Scope
from siftd.summarise.extractive.text import THIN
from siftd.wire.requests.finding import Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from siftd.search.facts import Vector
    from siftd.search.vectors import VectorIndex

K_MAX = 200
GROUPS = ("session",)
IMPORTANCE_WEIGHT = 0.05
PURPOSE = 0.15
"""What was kept on purpose stands before what merely happened, when it answers as much."""
NEWER_SHARE = 0.6
"""Of two memories about the same the newer one stands first that answers at least so much of what the older does."""
_READING_SECONDS = 0.05
"""Of reading vectors that one search gives itself after a start."""
_NEIGHBOURLY = 100
"""Sessions, the best ones, that get a share of their neighbours."""
_PLACES_MAX = 5
"""From the fifth better one of its session on a hit loses no more."""
SAME_QUESTION = 0.6
"""Of a question's weight, that an earlier prompt holds which asked the same. Where yes or no answers it, that is how
the turn's closing words begin, wherever the question's words stand in them. Arbitrary; 0.4 to 0.75 do the same."""
WORDS_OF_STORIES = 0.6
"""Of the weight of a summary's words where a question is asked: a story repeats what was asked, and what it answers may
have other words. Each two of three recorded scopes choose 0.4 to 0.8, and the third one's questions gain by it."""
_MANY_SESSIONS = 10
"""Where fewer hold anything of the question a hit loses less: the first ten must come from the same ones anyway."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, and why the search was less than whole (None when it was)."""

    hits: list[Hit]
    degraded: str | None


@dataclass(slots=True)
class _Ranked:
    """An event with its score, and what is added up in it."""

    at: int
    """Its place in the pool."""
    score: float
    own: float
    session: float
    less: float
    """For the better ones of its session."""


class _Shown(NamedTuple):
    """What stands for a ranked event."""

    ranked: _Ranked
    event_id: int
    summary_id: int | None
    asked: int | None
    """The prompt that was found, where its turn is shown."""


class SearchEngine:
    """Searches one store through a read-only connection. Used from one thread at a time."""

    def __init__(
        self,
        connection: Database,
        index: Callable[[], VectorIndex],
        embed_question: Callable[[str, Mapping[str, float] | None], Any],
        now_ms: Callable[[], int],
        weights: Weights | None = None,
        everywhere: Callable[[], Database | None] = lambda: None,
        scoring: Callable[[str | None], Mapping[str, float]] = lambda _: {},
    ) -> None:
        """`everywhere` gives the store of the memories for every project, while there is one; `scoring` what is set
        for the project's searches, or those under a label."""
        self._connection = connection
        self._index = index
        self._embed_question = embed_question
        self._now_ms = now_ms
        self._weights = weights or Weights()
        self._scoring = scoring
        self._fact_collections = FactCollections(connection, everywhere)
        self._rows = Rows(connection)

    def search(
        self,
        query: str,
        k: int,
        filters: Filters,
        *,
        weights: Mapping[str, float] | None = None,
        group: str | None = None,
        asking: Asking | None = None,
    ) -> Answer:
        """Return at most `k` hits, best first. Any text is a valid query; without one, filters give the latest.

        `weights` change single signals for this search, or scale them (`siftd.ranking_config`); with `group` "session"
        there is one hit for each session, found by what is superseded too. A prompt whose turn has ended is shown as
        that turn: who asks wants the answer. What the session that is `asking` has in its context is left out."""
        if filters.kind is not None and filters.kind not in KINDS:
            raise RequestInvalid("there is no such kind of hit", hint=f"one of {', '.join(KINDS)}")
        if group is not None and group not in GROUPS:
            raise RequestInvalid("hits cannot be grouped by that", hint=f"by {', '.join(GROUPS)}")
        k = max(0, min(k, K_MAX))
        question = Question.of(query)
        scope = Scope.of(filters)
        fact_scope = FactScope.of(filters, self._now_ms())
        fact_collections = [] if fact_scope is None else self._fact_collections.filled(is_shared=not filters.project)
        if not question.text:
            return self._latest(scope, fact_scope, fact_collections, k, filters)
        weighed = self._weighed(weights or {}, filters.label)
        if group is not None:
            # What its best event is, and how surely it is told, says nothing of a session; and it did what it did,
            # whatever a later one says again.
            weighed = replace(weighed, confidence=0.0, prompt=0.0, conclusion=0.0)
            scope = Scope.of(structs.replace(filters, superseded=True))
        else:
            weighed = replace(
                weighed,
                prompt=weighed.prompt if question.asks_what_was_said else 0.0,
                conclusion=weighed.conclusion if question.asks_what_came_of_it else 0.0,
                words=weighed.words * (WORDS_OF_STORIES if question.asks_what_came_of_it else 1.0),
            )
        retrievers = Retrievers(
            self._connection, self._rows, question, scope, DEPTH if group is None else DEPTH_OF_SESSIONS
        )
        found, vector, degraded = self._ask(question, retrievers, weighed)
        leg = self._graph(question, filters) if weighed.graph else None
        if leg is not None and leg.events:
            found["graph"] = leg.found(retrievers.events_shown)
        if vector is not None:
            weighed = replace(weighed, vector=weighed.vector * self._index().weight)
        pool = Pool(self._rows, found, weighed)
        moment = self._moment(filters)
        ranked = self._ranked(pool, weighed, group, moment)
        best = self._answers(pool, ranked, max(k, depth(question)), filters, group, asking)
        hits = self._hits(pool, best, weighed, filters, moment)
        wanted = Wanted(retrievers.rarity())
        self._add_passages(looked_at(hits, question), wanted, is_closed=question.is_closed)
        if fact_collections and vector is not None and is_built_in(self._index().embedder):
            vector = self._embed_question(question.text, None)  # of memories nobody knows which words are rare
        for collection in fact_collections:
            assert fact_scope is not None
            try:
                rankings = collection.retrieve(question if weighed.words else None, fact_scope, vector, self._index)
                if leg is not None and collection.letter == fact_search.OWN:
                    rankings["graph"] = collection.shown(leg.facts, fact_scope)
                hits += self._fact_hits(collection, rankings, weighed, k, moment)
            except DatabaseError:
                if collection.connection is self._connection:
                    raise
                degraded = degraded or "without the memories of every project: their store cannot be read"
        hits.sort(key=lambda hit: -hit["score"])
        if leg is not None:
            leg.add_ways(hits)
        if group is None:
            put_answers_first(hits, question, wanted)
        put_facts_before_sources(self._connection, hits)
        return Answer(hits[:k], degraded)

    def _graph(self, question: Question, filters: Filters) -> Leg:
        """Return what the graph finds, as it is now or was at the moment that is asked about."""
        return follow(self._connection, question, self._now_ms() if filters.as_of is None else filters.as_of)

    def read_ahead(self) -> bool:
        """Read a piece of what searches need and have not met yet; return whether more is left."""
        with suppress(SiftdError):
            index = self._index()
            if len(index) and not index.is_whole:
                index.refresh(self._connection, seconds=0)
                return True
        return self._rows.read_ahead()

    def _weighed(self, asked: Mapping[str, float], label: str | None) -> Weights:
        """Return the weights: a search's own numbers before the project's before the configuration's."""
        own = {
            name: ranking_config.checked(name, value) for name, value in asked.items() if name in ranking_config.NAMES
        }
        others = {name: value for name, value in asked.items() if name not in own}
        return self._weights.changed(others).scaled(Scoring.of(own, self._scoring(label)))

    def _ask(
        self, question: Question, retrievers: Retrievers, weights: Weights
    ) -> tuple[dict[str, Found], Vector | None, str | None]:
        """Ask every retriever that has a weight; return what they found, the question's vector, why one is missing."""
        lexical = (("words", retrievers.words), ("raw", retrievers.raw), ("trigram", retrievers.trigram))
        found = {retriever: ask() for retriever, ask in lexical if weights.of(retriever)}
        if not weights.vector or not question.has_content_words:
            return found, None, None
        try:
            vector = self._embed_question(question.text, retrievers.rarity())
            index = self._index()  # after the question: until a model has answered once, nobody knows its dimension
        except DatabaseError:
            raise
        except SiftdError as error:
            return found, None, f"without vectors: {error}" + (f"; {error.hint}" if error.hint else "")
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, search still answers and says so
            return found, None, f"without vectors: the embedder failed ({type(error).__name__})"
        index.refresh(self._connection, seconds=_READING_SECONDS)
        if len(index):
            found["vector"] = retrievers.vector(index, vector)
        if not len(index) and search_reads.has_summaries(self._connection):
            return found, vector, "without vectors: the summaries wait for theirs"
        if not index.is_whole:
            return found, vector, "with the newest vectors only: the others are being read"
        return found, vector, None

    def _ranked(self, pool: Pool, weights: Weights, group: str | None, moment: int) -> Iterator[_Ranked]:
        """Yield the events best first; with `group` the best event of each session, best session first."""
        order = np.lexsort((-pool.events, -pool.own, pool.session_of))
        starts = np.searchsorted(pool.session_of[order], np.arange(len(pool.sessions)))
        places = np.arange(len(order)) - starts[pool.session_of[order]]
        sessions = self._session_scores(pool, weights)
        if group is None:
            own, share = pool.own[order], weights.session * sessions[pool.session_of[order]]
        else:
            order, places = order[starts], np.zeros_like(starts)
            own, share = np.zeros(len(starts)), sessions
        crowd = min(1.0, len(pool.sessions) / _MANY_SESSIONS)
        less = weights.diversity * crowd * np.minimum(places, _PLACES_MAX) * own
        boost = boosts_of(
            moment - pool.ts[order], pool.confidence[order], pool.is_prompt[order], pool.concludes[order], weights
        )
        scores = boosted(own + share - less, boost)
        for at in np.lexsort((-pool.events[order], -scores)).tolist():
            yield _Ranked(int(order[at]), float(scores[at]), float(own[at]), float(share[at]), float(less[at]))

    def _moment(self, filters: Filters) -> int:
        """Return what ages are counted from: the newest event that is asked about, at most now."""
        now = self._now_ms()
        newest = search_reads.newest_ts(self._connection, now if filters.as_of is None else min(now, filters.as_of))
        return now if newest is None else newest

    def _session_scores(self, pool: Pool, weights: Weights) -> NDArray[np.float64]:
        """Return what each session of the pool answers, the best ones with a share of their neighbours in time."""
        scores = pool.session_scores.copy()
        if weights.neighbour:
            best = np.argsort(-scores, kind="stable")[:_NEIGHBOURLY]
            names = [self._rows.session_name(number) for number in pool.sessions[best].tolist()]
            times = search_reads.session_times(self._connection, names)
            places, started, ended = np.array(times, dtype=np.int64).reshape(-1, 3).T
            known = best[places]
            scores[known] = with_neighbours(scores[known], started, ended, weights.neighbour)
        return scores

    def _latest(
        self,
        scope: Scope,
        fact_scope: FactScope | None,
        fact_collections: Sequence[FactCollection],
        k: int,
        filters: Filters,
    ) -> Answer:
        """Return the latest within the filters; without any, nothing was asked."""
        if scope.is_open:
            return Answer([], None)
        hits: list[Hit] = []
        latest = search_reads.latest(self._connection, scope, k)
        for rank, row in enumerate(self._rows_of([(event_id, None) for event_id, _ in latest], filters), start=1):
            hits.append(_hit(row, 1 / rank, {"recent": {"rank": rank, "score": float(row["ts"])}}))
        for collection in fact_collections:
            assert fact_scope is not None
            found = collection.latest(fact_scope, k)
            for rank, (fact_id, _) in enumerate(found, start=1):
                if (fact := fact_candidates.find_hit(collection.connection, fact_id)) is not None:
                    why = {"recent": {"rank": rank, "score": float(fact["ts"])}}
                    hits.append(_fact_hit(collection, fact, 1 / rank, why))
        return Answer(sorted(hits, key=lambda hit: -hit["ts"])[:k], None)

    def _answers(
        self,
        pool: Pool,
        ranked: Iterable[_Ranked],
        k: int,
        filters: Filters,
        group: str | None,
        asking: Asking | None,
    ) -> list[_Shown]:
        """Return what is shown of the best `k` events: each once, and a prompt's turn in its place."""
        own = None if asking is None or filters.session else asking.session_id.encode()
        fresh = 0 if asking is None else asking.since
        folds = filters.kind is None and filters.tool is None
        shown: dict[int, _Shown] = {}
        for each in ranked:
            if len(shown) >= k:
                break
            event_id, summary_id, asked = int(pool.events[each.at]), int(pool.summaries[each.at]) or None, None
            is_thin = pool.is_text[each.at] and summary_id is not None and pool.confidence[each.at] <= THIN
            if folds and group is None and is_thin:
                continue  # "Let me look at the tests": such words find their session and answer nothing
            session = self._rows.session_name(int(pool.sessions[pool.session_of[each.at]]))
            if session == own and int(pool.ts[each.at]) >= fresh:
                continue
            if (
                folds
                and pool.is_prompt[each.at]
                and (end := turn_summaries.turn_end(self._connection, event_id)) is not None
            ):
                event_id, summary_id, asked = end, None, event_id
            known = shown.setdefault(event_id, _Shown(each, event_id, summary_id, asked))
            if known.asked is None and asked is not None:
                shown[event_id] = known._replace(asked=asked)
        return list(shown.values())

    def _hits(
        self,
        pool: Pool,
        best: Sequence[_Shown],
        weights: Weights,
        filters: Filters,
        moment: int,
    ) -> list[Hit]:
        places = np.array([each.ranked.at for each in best], dtype=np.int64)
        boost = boosts_of(
            moment - pool.ts[places], pool.confidence[places], pool.is_prompt[places], pool.concludes[places], weights
        )
        wanted = [(each.event_id, each.summary_id) for each in best]
        rows = {row["eventId"]: row for row in self._rows_of(wanted, filters)}
        shown = []
        for at, (each, event_id, _, asked) in enumerate(best):
            if (row := rows.get(event_id)) is not None:  # else gone since it was ranked
                parts = {"own": each.own, "session": each.session, "diversity": -each.less}
                parts |= {name: values[at] for name, values in boost.items()}
                hit = _hit(row, each.score, pool.found_by(each.at) | _rounded(parts))
                hit["asked"] = None if asked is None else {"id": f"e{asked}", "text": None}
                shown.append(hit)
        return shown

    def _add_passages(self, hits: Sequence[Hit], wanted: Wanted, *, is_closed: bool) -> None:
        """Put to these hits what of their events answers better than the summary, where anything does."""
        for hit in hits if wanted else ():
            payload = find_object(event_views.find_payload(self._connection, hit["eventId"] or 0) or "")
            hit["passage"] = passage(payload, hit["text"], wanted) if payload else None
            if (asked := hit["asked"]) is not None:
                prompt = find_object(event_views.find_payload(self._connection, int(asked["id"][1:])) or "")
                asked["text"] = (prompt and passage(prompt, "", wanted)) or None
                if is_closed and payload and asked["text"] and wanted.share(asked["text"]) >= SAME_QUESTION:
                    hit["passage"] = opening(payload) or hit["passage"]

    def _rows_of(self, wanted: Sequence[tuple[int, int | None]], filters: Filters) -> list[dict[str, Any]]:
        hidden_too = filters.superseded or filters.as_of is not None
        rows = event_views.list_hits(self._connection, wanted, superseded=hidden_too)
        for row in rows:
            if row["text"] is None:
                row["text"] = summarise_now(self._connection, row["eventId"])
        return rows

    def _fact_hits(
        self,
        collection: FactCollection,
        retrievers: dict[str, fact_search.Ranking],
        weights: Weights,
        k: int,
        moment: int,
    ) -> list[Hit]:
        """Return the best memories: a memory is its own session, and its words are its summary's and its event's."""
        found: dict[int, dict[str, Any]] = {}
        for retriever, rows in retrievers.items():
            for rank, (fact_id, score) in enumerate(rows, start=1):
                found.setdefault(fact_id, {})[retriever] = {"rank": rank, "score": round(score, 4)}
        words = weights.words + weights.raw
        by_leg = {"words": words, "vector": weights.vector, "trigram": weights.trigram, "graph": weights.graph}
        hits = []
        for fact_id, why in found.items():
            own = sum(by_leg[retriever] * each["score"] for retriever, each in why.items())
            if own > 0 and (row := fact_candidates.find_hit(collection.connection, fact_id)) is not None:
                nearest = NEAREST * weights.vector * why.get("vector", {}).get("score", 0.0)
                parts = {"own": own, "session": weights.session * (own + nearest)}
                said = 1.0 if row["confidence"] is None else row["confidence"]  # it was said on purpose
                importance = IMPORTANCE_WEIGHT * (row["importance"] - 3)
                factors = boosts_of(moment - row["ts"], said, False, True, weights) | {
                    "importance": importance,
                    "purpose": PURPOSE,
                }
                score = float(boosted(sum(parts.values()), factors))
                hits.append(_fact_hit(collection, row, score, why | _rounded(parts | factors)))
        best = sorted(hits, key=lambda hit: (-hit["score"], -hit["ts"]))[:k]
        _put_newer_first(best, collection)
        return best


def _put_newer_first(hits: list[Hit], collection: FactCollection) -> None:
    """Of two memories about the same that both answer, let the newer one stand before the older."""
    by_number = {int(hit["id"][1:]): hit for hit in hits}
    for pair in collection.alike(list(by_number)):
        older, newer = sorted(pair)
        old, new = by_number[older], by_number[newer]
        if new["score"] <= old["score"] <= new["score"] / NEWER_SHARE:
            new["why"]["newer"] = round(old["score"] - new["score"], 6)
            old["score"], new["score"] = new["score"], old["score"]
    hits.sort(key=lambda hit: (-hit["score"], -hit["ts"]))


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 6) for name, value in parts.items()}


def _hit(row: dict[str, Any], score: float, why: dict[str, Any]) -> Hit:
    is_event = row["summaryId"] is None
    return {
        "id": f"e{row['eventId']}" if is_event else f"s{row['summaryId']}",
        "kind": "event" if is_event else "summary",
        "eventId": row["eventId"],
        "sessionId": row["sessionId"],
        "eventKind": row["eventKind"],
        "tool": row["tool"],
        "action": row["action"],
        "ts": row["ts"],
        "saidBy": row["saidBy"],
        "branch": row["branch"],
        "client": row["client"],
        "scope": row["scope"] or "event",
        "score": round(score, 6),
        "text": row["text"],
        "passage": None,
        "asked": None,
        "why": why,
    }


def _fact_hit(collection: FactCollection, row: dict[str, Any], score: float, why: dict[str, Any]) -> Hit:
    return {
        "id": f"{collection.letter}{row['id']}",
        "kind": OWNER,
        "eventId": None,
        "sessionId": row["sessionId"],
        "eventKind": None,
        "tool": None,
        "action": None,
        "type": row["type"],
        "ts": row["ts"],
        "saidBy": row["saidBy"],
        "branch": None,
        "client": None,
        "score": round(score, 6),
        "text": row["text"],
        "passage": None,
        "asked": None,
        "why": why,
    }
