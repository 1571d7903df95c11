"""Capture that stops, and goes on."""

from __future__ import annotations

from typing import TypedDict

from siftd.wire.requests.request import Request


class PauseAnswer(TypedDict):
    """Since when, of which session (empty: of all)."""

    since: int
    session: str


class ResumeAnswer(TypedDict):
    """When it was paused (null: it was not), and which session (empty: all)."""

    since: int | None
    session: str


class Pause(Request[PauseAnswer], frozen=True, kw_only=True):
    """Capture nothing more until `resume`; with a session's id nothing more of that session. Answers `since` and
    `session`.

    With `known` the id may be the beginning of one, and a session that was never heard of is refused: a person may
    mistype what a client would not.
    """

    session: str = ""
    known: bool = False


class Resume(Request[ResumeAnswer], frozen=True, kw_only=True):
    """Capture again what happens from now on; `known` as of `pause`. Answers `since` (when it was paused; null: it was
    not) and `session`.
    """

    session: str = ""
    known: bool = False
