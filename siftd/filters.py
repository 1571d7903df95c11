"""What whoever searches wants hits to be."""

from __future__ import annotations

from typing import Annotated

import msgspec

Moment = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
"""Milliseconds since the epoch, as far as a database's integers reach."""


class Filters(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What hits must be; every filter applies before the top is cut."""

    tool: str | None = None
    session: str | None = None
    client: str | None = None
    """Whose agent's program: "claude-code", "codex". A memory is of none."""
    file: str | None = None
    symbol: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    kind: str | None = None
    """summary, event, memory, tool, prompt, stop, text or failure."""
    type: str | None = None
    """Of a memory: then nothing else is found."""
    label: str | None = None
    """What a memory was labelled with; nothing else has a label."""
    project: bool = False
    """Of this project alone: no memory that is kept for every one."""
    superseded: bool = False
    as_of: Moment | None = None
    """As things stood then: nothing later, and what only something later hides is shown."""
