"""Conversations: sessions that have a name, or stem from others."""

from __future__ import annotations

from typing import Annotated, TypedDict

import msgspec

from siftd.wire.requests.request import Request


class Conversation(TypedDict):
    """A session that has a name, or stems from another; how much was done and remembered in it."""

    id: str
    title: str | None
    parentId: str | None
    relation: str | None
    branchesFrom: str | None
    project: str | None
    """What it was labelled with."""
    startedTs: int
    rememberedTs: int
    """When something was last remembered in it; 0: never."""
    lastTs: int
    memories: int
    events: int
    asked: str | None


class ConverseAnswer(TypedDict):
    """The conversation."""

    id: str


class ConversationsAnswer(TypedDict):
    """Conversations, and where the list goes on (null: nowhere)."""

    conversations: list[Conversation]
    nextCursor: str | None


class Converse(Request[ConverseAnswer], frozen=True, kw_only=True):
    """Name a session, or begin one from another: it follows up on one, branches from one, or both. Answers `id`."""

    waits_for_log = True

    id: str | None = None
    title: str = ""
    follows_up_on: str | None = None
    branches_from: str | None = None
    label: str | None = None


class Conversations(Request[ConversationsAnswer], frozen=True, kw_only=True):
    """The conversations, the latest first; the tree of one (`id`); or those idle for `stale_days`."""

    id: str | None = None
    label: str | None = None
    stale_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] | None = None
    limit: int = 20
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""
