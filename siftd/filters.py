"""What whoever searches wants hits to be."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Source = Literal["memory", "fact", "summary", "note", "knowledge", "issue", "comment", "job", "decision", "policy"]
"""As `siftd.team.items` has them, which whoever searches need not load."""
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
    source: Source | None = None
    """What a piece is for a team: a memory that was kept on purpose, a fact that was learnt, a summary, a note; and
    what only a team has."""
    team: bool | None = None
    """Of the team alone, or of this workspace alone; both where nothing is said."""
    superseded: bool = False
    as_of: Moment | None = None
    """As things stood then: nothing later, and what only something later hides is shown."""
