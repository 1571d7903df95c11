"""Search in the store: one statement for the ranks, one for the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siftd.embed.words import further_words
from siftd.team.items import Vector
from siftd.team.protocol import Person
from siftd.team.searching import Hit, SearchAsked, SearchFound, Stored, Strategy
from siftd.team_server.feed import put
from siftd.team_server.vectors import HalfVector, decode

_SEARCH = """
SELECT * FROM siftd.search(%s::bytea, %s::uuid, %s::text, %s::text, %s::text, %s::text[], """
_FILTERS = ", %s::integer, %s::text[], %s::text, %s::text, %s::bigint, %s::boolean)"
SEARCH_BARE = _SEARCH + "%s" + _FILTERS
SEARCH_VECTORS = _SEARCH + "%b" + _FILTERS
ITEMS = "SELECT * FROM siftd.items(%s::bytea, %s::uuid, %s::uuid[], 4000000)"
"""Of an answer: some megabytes of text, however large its items are."""
POOL = 50
"""How many of the best are added up by session."""


def strategy_of(asked: SearchAsked, vectors: Sequence[HalfVector]) -> tuple[Strategy, list[str]]:
    """Return the strategy that can answer, and what is missing."""
    degraded: list[str] = []
    strategy = asked.strategy
    if strategy == "graph":
        strategy = "hybrid"
        degraded.append("no graph in the team's store: hybrid instead")
    if strategy in ("hybrid", "semantic") and not vectors:
        strategy = "keyword"
        degraded.append("no vectors")
    return strategy, degraded


def question_vectors(vectors: Sequence[Vector]) -> tuple[list[str], list[HalfVector]]:
    """Return (models, vectors) of a question; what is no vector is left out."""
    decoded = [(each.model, decode(each.data)) for each in vectors]
    found = [(model, vector) for model, vector in decoded if vector is not None]
    return [model for model, _ in found], [vector for _, vector in found]


def values(asked: SearchAsked, strategy: Strategy, models: list[str], vectors: list[HalfVector]) -> tuple[Any, ...]:
    """Return what `search` takes after the token and the project."""
    words = asked.words or further_words(asked.question)
    top = max(asked.top, POOL) if asked.by_session else asked.top
    sources = list(asked.sources) or None
    return (
        strategy, asked.question.replace("\0", " "), words.replace("\0", " "), models, vectors or None, top, sources,
        asked.type, asked.session, asked.as_of, asked.include_stale,
    )  # fmt: skip


def found(
    asked: SearchAsked,
    strategy: Strategy,
    degraded: Sequence[str],
    rows: Sequence[dict[str, Any]],
    items: Sequence[dict[str, Any]],
) -> SearchFound:
    """Return the answer; `rows` are ranks, the first of which tells of the store, `items` what they are of."""
    about, by_id = rows[0], {each["id"]: each for each in items}
    missing = list(degraded)
    if strategy != "keyword" and about["missing"]:
        share = 100 * about["missing"] // max(about["total"], about["missing"])
        missing.append(f"{max(share, 1)} % without a vector yet")
    hits = [_hit(row, by_id[row["id"]]) for row in rows[1:] if row["id"] in by_id]
    hits = _added_up(hits) if asked.by_session else hits
    return SearchFound(hits=hits[: asked.top], strategy=strategy, degraded=missing, head=about["head"])


def _hit(row: dict[str, Any], item: dict[str, Any]) -> Hit:
    ranks = {"words": row["by_words"], "vector": row["by_vector"]}
    return Hit(
        item=put(item),
        author=Person(id=item["author"], name=item["author_name"]),
        device=item["device"],
        seq=item["seq"],
        score=row["score"],
        ranks={leg: rank for leg, rank in ranks.items() if rank is not None},
        cosine=row["cosine"],
        bm25=row["bm25"],
    )


def _added_up(hits: Sequence[Hit]) -> list[Hit]:
    """Order by what the hits of a session have together, then by their own; of no session, each is for itself."""
    sums: dict[object, float] = {}
    for each in hits:
        sums[_session(each)] = sums.get(_session(each), 0.0) + each.score
    return sorted(hits, key=lambda each: (-sums[_session(each)], str(_session(each)), -each.score))


def _session(hit: Hit) -> object:
    session = hit.item.metadata.get("session")
    return session if isinstance(session, str) else hit.item.id


def stored(row: dict[str, Any]) -> Stored:
    """Return an item as the store has it."""
    return Stored(
        item=put(row),
        author=Person(id=row["author"], name=row["author_name"]),
        device=row["device"],
        seq=row["seq"],
        embedded=row["embedded"],
        feedback=row["feedback"],
    )
