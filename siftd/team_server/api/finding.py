"""Routes that look something up; they change nothing, and may be answered by a replica."""

from __future__ import annotations

import asyncio
import base64
import uuid

import msgspec
import numpy as np

from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import ConfigInvalid, RequestInvalid
from siftd.team.items import SOURCES, Source, Vector
from siftd.team.searching import Hit, Listed, SearchAsked, SearchFound, Stored
from siftd.team_server.routing import Call
from siftd.team_server.state import State
from siftd.team_server.types import ListQuery, SearchQuery, SeqQuery


async def search(call: Call) -> SearchFound:
    state, digest, project = call.state, call.digest, call.project
    query: SearchQuery = call.query
    vectors: list[Vector] = []
    missing: list[str] = []
    if query.strategy != "keyword":
        vectors, missing = await vectors_of(state, digest, project, query.q)
    asked = SearchAsked(
        question=query.q,
        vectors=vectors,
        top=query.k,
        strategy=query.strategy,
        sources=_sources(query.source),
        type=query.type,
        session=query.session,
        as_of=query.as_of,
        include_stale=query.stale,
        by_session=query.group == "session",
    )
    found = await state.reading.read(digest, project, query.min_seq, lambda store: store.search(digest, project, asked))
    if any("without a vector" in each for each in found.degraded):
        state.filling.want(project, digest)
    hits = found.hits if query.explain else [_unexplained(each) for each in found.hits]
    return msgspec.structs.replace(found, hits=hits, degraded=[*missing, *found.degraded])


async def item(call: Call) -> Stored:
    query: SeqQuery = call.query
    digest, project, wanted = call.digest, call.project, call.item
    return await call.state.reading.read(
        digest, project, query.min_seq, lambda store: store.get(digest, project, wanted)
    )


async def items(call: Call) -> Listed:
    query: ListQuery = call.query
    digest, project = call.digest, call.project
    return await call.state.reading.read(
        digest,
        project,
        query.min_seq,
        lambda store: store.list_items(digest, project, query.source, query.before, query.limit),
    )


async def vectors_of(state: State, digest: bytes, project: uuid.UUID, question: str) -> tuple[list[Vector], list[str]]:
    """Return a question's vectors, one by each model that the project has rows of, and which of them are missing."""
    models = await state.reading.read(digest, project, 0, lambda store: store.embedders(digest, project))
    made = await asyncio.gather(*(_vector(state, each, question) for each in models))
    away = [f"the embedder {model} is away" for model, vector in zip(models, made, strict=True) if vector is None]
    return [each for each in made if each is not None], away


async def _vector(state: State, model: str, question: str) -> Vector | None:
    try:
        row = await state.models.embed_question(model, question)
    except (EmbedderUnavailable, ConfigInvalid):
        return None
    return Vector(model=model, data=base64.b64encode(np.asarray(row, dtype="<f2").tobytes()).decode())


def _sources(given: str | None) -> list[Source]:
    """Return the sources of a list with commas. Raises RequestInvalid for one that is none."""
    names = [each.strip() for each in (given or "").split(",") if each.strip()]
    if unknown := [each for each in names if each not in SOURCES]:
        raise RequestInvalid(f"{len(unknown)} of the sources is none", hint=f"one of {', '.join(SOURCES)}")
    return [each for each in SOURCES if each in names]


def _unexplained(hit: Hit) -> Hit:
    return msgspec.structs.replace(hit, ranks={}, cosine=None, bm25=None)
