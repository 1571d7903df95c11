"""A tool call that is kept, and the header of a hook's frame."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import msgspec

from siftd.wire.requests.request import Request


class CaptureAnswer(TypedDict):
    """The event's id; `duplicate` when it was there already, `ignored` when it is not to be kept."""

    id: NotRequired[str]
    eventId: NotRequired[int]
    tokensEst: NotRequired[int]
    duplicate: NotRequired[bool]
    ignored: NotRequired[bool]


class Capture(Request[CaptureAnswer], frozen=True, kw_only=True):
    """Keep a tool call. Answers `id`, `eventId`, `tokensEst`, and `duplicate` when it was there already.

    `uid` makes a repeat harmless; `source` is the agent that did the work.
    """

    session_id: str
    tool: str
    payload: dict[str, Any]
    ts: int
    uid: str | None = None
    source: str = "api"
    cwd: str | None = None


class HookHeader(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The header of a hook frame. Hooks of released versions write these keys: their names stay."""

    client: str
    frame_uid: str
    root: str
    ts: int
    bytes: int = 0
    """How long the client's input was. More than follows the header: it did not fit a frame."""
    told: str = ""
    """The ids in the kept brief that the hook printed while no daemon answered."""
    tell: int = 0
    """1: what there is to tell the agent at this event is wanted, in an answer of its own behind this one."""
    off: bool = False
    """With SIFTD_OFF=1: nothing of the session is to be kept, now or later."""
