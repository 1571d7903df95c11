"""Capture that stops, and goes on."""

from __future__ import annotations

from typing import Any

from siftd.wire.requests.request import Request


class Pause(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Capture nothing more until `resume`; with a session's id nothing more of that session. Answers `since` and
    `session`.

    With `known` the id may be the beginning of one, and a session that was never heard of is refused: a person may
    mistype what a client would not.
    """

    session: str = ""
    known: bool = False


class Resume(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Capture again what happens from now on; `known` as of `pause`. Answers `since` (when it was paused; null: it was
    not) and `session`.
    """

    session: str = ""
    known: bool = False
