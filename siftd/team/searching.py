"""A search in the team's store: what is asked, what is found. A laptop searches its replica instead."""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from siftd.team.items import Moment, Put, Source, Vector
from siftd.team.protocol import Message, Person

Strategy = Literal["semantic", "keyword", "hybrid", "graph"]
"""`semantic`: the nearest vectors; `keyword`: BM25; `hybrid`: both, by their ranks; `graph`: the team's store has
no entities, so `hybrid` answers, and `degraded` says so."""
Verdict = Literal["useful", "wrong", "outdated", "irrelevant"]
QUESTION_CHARS_MAX = 10_000
TOP_MAX = 100


class SearchAsked(Message, frozen=True, kw_only=True):
    """A question. The server makes `vectors`: one by each model that the project's rows are of (`embedders`)."""

    question: Annotated[str, Meta(max_length=QUESTION_CHARS_MAX)]
    words: str = ""
    """Identifiers and paths of the question in parts; made from it where it is empty."""
    vectors: Annotated[list[Vector], Meta(max_length=2)] = msgspec.field(default_factory=list)
    top: Annotated[int, Meta(ge=1, le=TOP_MAX)] = 10
    strategy: Strategy = "hybrid"
    sources: list[Source] = msgspec.field(default_factory=list)
    type: str | None = None
    session: str | None = None
    as_of: Moment | None = None
    """What held then, superseded since or not."""
    include_stale: bool = False
    """What is superseded, expired or archived too."""
    by_session: bool = False
    """Add up what is of one session: the best session first, then the best of it."""


class Hit(Message, frozen=True, kw_only=True):
    """An item that was found. `ranks` are its places by leg, from 1; scores of different legs are never mixed."""

    item: Put
    author: Person
    device: uuid.UUID
    seq: int
    score: float
    """Of the fused ranks; orders this answer, and says nothing else."""
    ranks: dict[str, int]
    cosine: float | None = None
    bm25: float | None = None


class SearchFound(Message, frozen=True, kw_only=True):
    """What was found, the best first. `strategy` is the one that answered; `degraded` says what was missing."""

    hits: list[Hit]
    strategy: Strategy
    degraded: list[str] = msgspec.field(default_factory=list)
    head: int


class Stored(Message, frozen=True, kw_only=True):
    """An item as the store has it."""

    item: Put
    author: Person
    device: uuid.UUID
    seq: int
    embedded: bool
    feedback: dict[Verdict, int] = msgspec.field(default_factory=dict)


class Listed(Message, frozen=True, kw_only=True):
    """A page of items, the latest first. `before` is what the next page is asked with; None at the end."""

    items: list[Stored]
    before: int | None = None


class Audited(Message, frozen=True, kw_only=True):
    """What somebody did; without a person, the operator by a command."""

    number: int
    at: Moment
    what: str
    person: Person | None = None
    id: uuid.UUID | None = None


class Audit(Message, frozen=True, kw_only=True):
    """A page of the audit, the latest first."""

    entries: list[Audited]
    before: int | None = None


class Unembedded(msgspec.Struct, frozen=True):
    """An item that lacks a vector of a model."""

    id: uuid.UUID
    hash: str
    text: str
    source: Source
    visibility: str


class ReindexBatch(msgspec.Struct, frozen=True):
    """Items that lack a vector."""

    items: list[Unembedded]
    missing: int | None
    """How many lack one as the asking begins; None for very many, and later on."""
    before: int | None
    """With what the next batch is asked; None at the end."""
