"""Whether a daemon is there, what state it is in, and its end."""

from __future__ import annotations

from typing import Any

from siftd.wire.requests.request import Request


class Hello(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Who are you? Answers version, protocol, workspace, pid, uptimeMs."""


class Info(Request[dict[str, Any]], frozen=True, kw_only=True):
    """The state of everything; `mem info --json` is this answer."""


class Stop(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Finish what is in flight and end; with `hold` stay down until `mem start` or a new session."""

    hold: bool = True
