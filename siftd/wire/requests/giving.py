"""What an agent is given: the brief of a session's start, what bears on a prompt."""

from __future__ import annotations

from typing import TypedDict

from siftd.wire.requests.request import Request


class GivenPiece(TypedDict):
    """One thing that the block holds, by the id that it is cited by."""

    id: str
    ts: int
    text: str


class GivenAnswer(TypedDict):
    """A marked block, empty where there is nothing to give; what is in it; about how many tokens it has."""

    text: str
    items: list[GivenPiece]
    tokens: int


class Recall(Request[GivenAnswer], frozen=True, kw_only=True):
    """What bears on a prompt, as a marked block. Answers `text`, `items` and `tokens`; empty when nothing is relevant.

    What `session_id` itself did is left out. `max_tokens` may lower the configured bound, never raise it.
    """

    prompt: str
    session_id: str | None = None
    max_tokens: int | None = None


class Brief(Request[GivenAnswer], frozen=True, kw_only=True):
    """What a session is given at its start, as a marked block. Answers `text`, `items` and `tokens`.

    Without `session_id` it is what any new session would get. `max_tokens` may lower the configured bound.
    """

    session_id: str | None = None
    max_tokens: int | None = None
