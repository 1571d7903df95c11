"""Summaries and vectors: made now, made again, brought back; a model that is lent for them."""

from __future__ import annotations

from typing import TypedDict

from siftd.filters import Moment
from siftd.wire.requests.request import Request


class DrainAnswer(TypedDict):
    """What a drain did, and how many events are still raw."""

    processed: int
    errors: int
    pending: int
    backend: str
    firstError: str | None
    embedded: int
    sessions: int
    rewritten: int


class RetryAnswer(TypedDict):
    """How many events are tried again."""

    retried: int


class ResummariseAnswer(TypedDict):
    """How many summaries are to be made again."""

    summaries: int


class ReembedAnswer(TypedDict):
    """How many vectors were taken out, and made."""

    cleared: int
    embedded: int


class UndoAnswer(TypedDict):
    """How many summaries no longer hide it."""

    restored: int


class MuteAnswer(TypedDict):
    """The event that it is of, or the team's item (t12), and since when nothing of that is given unasked; null: it may
    be."""

    event: str
    mutedSince: int | None


class Question(TypedDict):
    """What a lent model is asked."""

    id: int
    rules: str
    message: str
    maxTokens: int


class SamplingAnswer(TypedDict):
    """A question, null where there is none for now; whether another offer makes sense."""

    ask: Question | None
    wanted: bool


class Drain(Request[DrainAnswer], frozen=True, kw_only=True):
    """Summarise and embed what is raw, at most `limit` events. Streams progress; answers the counts.

    `backend` names another than the configured one for this time; a remote one is bound by the same daily cap.
    """

    changes_brief = True

    limit: int | None = None
    backend: str | None = None


class Retry(Request[RetryAnswer], frozen=True, kw_only=True):
    """Make a skipped event raw again, or all of them. Answers `retried`."""

    waits_for_log = True

    id: str | None = None


class Resummarise(Request[ResummariseAnswer], frozen=True, kw_only=True):
    """Have what happened in a time told anew by the configured backend, at the next drains. Answers `summaries`."""

    waits_for_log = True

    since: Moment
    until: Moment | None = None


class Reembed(Request[ReembedAnswer], frozen=True, kw_only=True):
    """Make the vectors anew, of what happened since a moment or of everything. Answers `cleared` and `embedded`.

    Search goes on meanwhile with the words, and with each vector as soon as it is there. Streams progress.
    """

    since: Moment | None = None


class Undo(Request[UndoAnswer], frozen=True, kw_only=True):
    """Bring a superseded summary back for good. Answers `restored`."""

    changes_brief = True
    waits_for_log = True

    id: str


class Mute(Request[MuteAnswer], frozen=True, kw_only=True):
    """Give nothing of an event unasked any more (`id`: its own, a summary's, or t12 of the team's), or again; a search
    finds it."""

    changes_brief = True
    waits_for_log = True

    id: str
    muted: bool = True


class Sampling(Request[SamplingAnswer], frozen=True, kw_only=True):
    """Offer a model of one's own for summaries, and bring what it `said` to question `id` (null: nothing).

    Answers after a while at most: `ask` (null, or `id`, `rules`, `message`, `maxTokens`), and `wanted`, whether another
    offer makes sense.
    """

    id: int | None = None
    said: str | None = None
