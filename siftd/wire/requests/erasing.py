"""What erases: forget, scrub, prune."""

from __future__ import annotations

from typing import TypedDict

from siftd.filters import Moment
from siftd.wire.requests.request import Request


class ForgetAnswer(TypedDict):
    """How much it is about, by kind; what still holds something, by name; what holds the text and stays."""

    matched: int
    digest: str
    """Of each thing that it is about: the same for the same things."""
    byKind: dict[str, int]
    pending: list[str]
    left: list[str]


class ScrubAnswer(TypedDict):
    """Rows by table, and `records` of the log, that changed; secrets by rule; what still holds something."""

    changed: dict[str, int]
    byRule: dict[str, int]
    pending: list[str]


class PruneAnswer(TypedDict):
    """Events forgotten; segments of the log removed; events too old by the clock alone; what still holds something."""

    events: int
    segments: int
    held: int
    pending: list[str]


class Forget(Request[ForgetAnswer], frozen=True, kw_only=True):
    """Forget for good: ids (e12, s7, m3), or a session, a file, a text, or a span of time alone.

    `since` and `until` narrow a session, a file or a text. With `dry_run` nothing changes. Answers `matched`, `byKind`
    `pending` (what still holds something, by name) and `left` (what holds the text and stays).

    With `expected`, a dry run's `digest`, nothing is forgotten where it would be anything else by now.
    """

    changes_brief = True
    may_be_global = True

    ids: list[str] = []
    session: str | None = None
    file: str | None = None
    query: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    dry_run: bool = True
    expected: str | None = None


class Scrub(Request[ScrubAnswer], frozen=True, kw_only=True):
    """Apply the rules of the configuration as it is now to everything stored. With `dry_run` nothing changes.

    Answers `changed` (rows by table, `records` of the log), `byRule` and `pending` (what still holds something).
    """

    dry_run: bool = True


class Prune(Request[PruneAnswer], frozen=True, kw_only=True):
    """Forget what is older than `store.keepDays` and `log.keepDays` now. Answers `events`, `segments`, `pending`."""

    changes_brief = True
