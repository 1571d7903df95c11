"""OpenCode as siftd asks it."""

from __future__ import annotations

from typing import Any

from siftd.clients.client import Moment
from siftd.clients.opencode.facts import CLIENT, canonical_text
from siftd.clients.opencode.reports import decode_report
from siftd.clients.opencode.sessions import Database
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "system.transform", "prompt": "chat.message", "failure": "tool.execute.after"}


class OpenCode:
    """OpenCode, from version 1.18 on."""

    name = CLIENT
    title = "OpenCode"
    files = Database()
    installer = None
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="recordings",
    )
    moments: frozenset[Moment] = frozenset({"start", "prompt"})

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_report(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical_text(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - for the plugin alone
        return {"text": text} if text else {}

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
