"""What the routes for programs take and give, as far as it is not the wire's of laptops (`siftd.team.protocol`).

As in `siftd.web.types`: keys are camelCase, moments are milliseconds since 1970, what is not known is refused.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from siftd.facts.model import Category
from siftd.team.items import Moment, Ref, Source, Visibility
from siftd.team.searching import Strategy, Verdict
from siftd.web.types import Given, Importance, Problem, Share, Short

Seq = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(min_length=1, max_length=100_000)]


class Answer(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Whatever is answered."""


class HealthAnswer(Answer, frozen=True, kw_only=True):
    """The process listens; `store` tells whether PostgreSQL answers it. Nothing else is said without a token."""

    ok: bool
    store: bool


class ChangesQuery(Given, frozen=True, kw_only=True):
    """From where on, how much at once, how long to wait for something new, and what is applied already."""

    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 500
    wait: Annotated[float, Meta(ge=0, le=25)] = 0
    applied: Seq | None = None


class SearchQuery(Given, frozen=True, kw_only=True):
    """What to find. `source` may be several, with commas; `minSeq`: a change that must be seen already."""

    q: Annotated[str, Meta(min_length=1, max_length=10_000)]
    k: Annotated[int, Meta(ge=1, le=100)] = 10
    strategy: Strategy = "hybrid"
    source: Short | None = None
    type: Short | None = None
    session: Short | None = None
    as_of: Moment | None = None
    stale: bool = False
    """What is superseded, expired or archived too."""
    group: Literal["session"] | None = None
    explain: bool = False
    """Whether each hit says what its place is made of."""
    min_seq: Seq = 0


class ListQuery(Given, frozen=True, kw_only=True):
    """Items, the latest first; `before`: `nextBefore` of the answer before."""

    source: Source | None = None
    before: Seq | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50
    min_seq: Seq = 0


class SeqQuery(Given, frozen=True, kw_only=True):
    """`minSeq`: a change that must be seen already."""

    min_seq: Seq = 0


class Note(Given, frozen=True, kw_only=True):
    """A statement to keep. With a `sourceRef` that is known it replaces what was said there."""

    text: Text
    type: Category = "fact"
    tags: Annotated[list[Short], Meta(max_length=32)] = msgspec.field(default_factory=list)
    source: Literal["memory", "decision", "policy"] = "memory"
    source_ref: Ref | None = None
    visibility: Visibility = "project"
    importance: Importance = 3
    confidence: Share | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None


class NoteAnswer(Answer, frozen=True, kw_only=True):
    """The item, and those that say nearly the same."""

    id: uuid.UUID
    duplicate: bool
    """It was kept already, word for word."""
    similar: list[uuid.UUID]


class Feedback(Given, frozen=True, kw_only=True):
    """A word on an item."""

    id: uuid.UUID
    verdict: Verdict
    evidence: Annotated[str, Meta(max_length=2_000)] = ""


class FeedbackAnswer(Answer, frozen=True, kw_only=True):
    """It is noted."""

    id: uuid.UUID


class ForgetQuery(Given, frozen=True, kw_only=True):
    """Which project, and what the answer before said with its 409."""

    project: uuid.UUID
    confirm: Short | None = None


class ForgetBody(Given, frozen=True, kw_only=True):
    """What to forget."""

    ids: Annotated[list[uuid.UUID], Meta(min_length=1, max_length=500)]
    confirm: Short | None = None


class ToForget(Answer, frozen=True, kw_only=True):
    """What would go, and the value that says yes to exactly that, for five minutes."""

    error: Problem
    confirm: str
    matched: list[uuid.UUID]


class ForgetAnswer(Answer, frozen=True, kw_only=True):
    """What went, from every answer at once and from each device as it next asks; and what is another's."""

    forgotten: list[uuid.UUID]
    not_yours: list[uuid.UUID]
    head: int


class Reindex(Given, frozen=True, kw_only=True):
    """Which model is to make the project's vectors from now on; without one, what lacks a vector gets one."""

    embedder: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class WebhookAnswer(Answer, frozen=True, kw_only=True):
    """What became of an event of another program."""

    put: int
    forgotten: int
    ignored: list[str]
