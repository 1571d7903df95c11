"""Summaries and vectors: made now, made again, brought back; a model that is lent for them."""

from __future__ import annotations

from typing import Any

from siftd.filters import Moment
from siftd.wire.requests.request import Request


class Drain(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Summarise and embed what is raw, at most `limit` events. Streams progress; answers the counts.

    `backend` names another than the configured one for this time; a remote one is bound by the same daily cap.
    """

    changes_brief = True

    limit: int | None = None
    backend: str | None = None


class Retry(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Make a skipped event raw again, or all of them. Answers `retried`."""

    waits_for_log = True

    id: str | None = None


class Resummarise(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Have what happened in a time told anew by the configured backend, at the next drains. Answers `summaries`."""

    waits_for_log = True

    since: Moment
    until: Moment | None = None


class Reembed(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Make the vectors anew, of what happened since a moment or of everything. Answers `cleared` and `embedded`.

    Search goes on meanwhile with the words, and with each vector as soon as it is there.
    """

    since: Moment | None = None


class Undo(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Bring a superseded summary back for good. Answers `restored`."""

    changes_brief = True
    waits_for_log = True

    id: str


class Sampling(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Offer a model of one's own for summaries, and bring what it `said` to question `id` (null: nothing).

    Answers after a while at most: `ask` (null, or `id`, `rules`, `message`, `maxTokens`), and `wanted`, whether another
    offer makes sense.
    """

    id: int | None = None
    said: str | None = None
