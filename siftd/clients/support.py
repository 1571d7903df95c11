"""What siftd can and cannot do with a client, as data: for `mem clients`, and for docs/clients.md."""

from __future__ import annotations

from typing import Literal

import msgspec

from siftd.clients.client import Moment

Live = Literal["yes", "later", "no"]
"""Whether a fact is captured: as it happens; later, from the session's file, at a turn's end; not at all."""


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """What is captured of a client, what reaches its agent by itself is in `Client.moments`."""

    starts: Live
    """Starts of sessions."""
    prompts: Live
    """What a person asked."""
    tools: Live
    """Calls of tools, with their results."""
    failures: Live
    """That a call failed."""
    ends: Live
    """Ends of turns, with the agent's last words."""
    backfill: bool
    """Whether `mem backfill` reads its earlier sessions."""
    mcp: Literal["yes", "by hand", "no"]
    """Whether `mem install` registers our tools with it."""
    evidence: Literal["real program", "recordings", "published shapes"]
    """How sure all that is: the suite drives the real program; it has input and files of the real program; or the form
    is only known as somebody published it."""
    note: str = ""
    """What a person should know besides."""


ALL_LIVE: dict[str, Live] = dict.fromkeys(("starts", "prompts", "tools", "failures", "ends"), "yes")
"""Of a client whose hooks tell everything."""
NOTHING_CAPTURED = {"starts": "no", "prompts": "no", "tools": "no", "failures": "no", "ends": "no", "backfill": False}
"""Of a client that only gives its agent our tools."""


def brief_of(moments: frozenset[Moment]) -> str:
    """Return when an agent is given the brief."""
    if "start" in moments:
        return "at the start"
    return "with the first prompt" if "prompt" in moments else "no"
