"""OpenCode as siftd asks it."""

from __future__ import annotations

import functools
from typing import Any

from siftd.clients.client import Installer, Moment
from siftd.clients.opencode.facts import CLIENT, canonical_text
from siftd.clients.opencode.reports import decode_report
from siftd.clients.opencode.sessions import Database
from siftd.clients.support import ALL_LIVE, Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "system.transform", "prompt": "chat.message", "failure": "tool.execute.after"}


class OpenCode:
    """OpenCode, from version 1.18 on."""

    name = CLIENT
    title = "OpenCode"
    files = Database()
    support = Support(
        **ALL_LIVE,
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="fetches a package of its own from npm once it finds a plugin; where it cannot, each start takes a minute",
    )
    moments: frozenset[Moment] = frozenset({"start", "prompt"})

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.opencode.wiring import OpenCodeInstaller

        return OpenCodeInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_report(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical_text(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - for the plugin alone
        return {"text": text} if text else {}

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
