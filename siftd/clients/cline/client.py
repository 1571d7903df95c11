"""Cline as siftd asks it."""

from __future__ import annotations

import functools
from typing import Any

from siftd.clients.client import Installer, Moment
from siftd.clients.cline.facts import CLIENT
from siftd.clients.cline.hooks import decode_envelope
from siftd.clients.cline.sessions import Documents
from siftd.clients.facts import canonical
from siftd.clients.support import ALL_LIVE, Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "TaskStart", "prompt": "UserPromptSubmit", "failure": "PostToolUse"}


class Cline:
    """Cline's command line program, from version 3 on, and its extension as far as it runs the same hooks."""

    name = CLIENT
    title = "Cline"
    files = Documents()
    support = Support(
        **{**ALL_LIVE, "prompts": "later"},
        backfill=True,
        mcp="yes",
        evidence="recordings",
        note="its program has no event for a prompt when it is run without a terminal: then its agent is given nothing",
    )
    moments: frozenset[Moment] = frozenset({"prompt"})

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.cline.wiring import ClineInstaller

        return ClineInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - it shows people none
        return {"contextModification": text} if text else {}

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
