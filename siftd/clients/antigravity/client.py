"""Antigravity as siftd asks it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from siftd.clients.antigravity.facts import CLIENT, PROMPT
from siftd.clients.antigravity.hooks import decode_envelope
from siftd.clients.client import Installer, Moment
from siftd.clients.facts import canonical
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

if TYPE_CHECKING:
    from siftd.clients.antigravity.conversations import Conversations


class Antigravity:
    """Google's Antigravity: its command line, its editor and its desktop program."""

    name = CLIENT
    title = "Antigravity"
    support = Support(
        starts="no",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="published shapes",
        note="it reports no start and no end of a session",
    )
    moments: frozenset[Moment] = frozenset(("prompt",))

    @functools.cached_property
    def files(self) -> Conversations:
        from siftd.clients.antigravity.conversations import Conversations

        return Conversations()

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.antigravity.installer import AntigravityInstaller

        return AntigravityInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - no place for a notice
        return {"injectSteps": [{"ephemeralMessage": text}]} if text else {}

    def name_of(self, moment: Moment) -> str:  # noqa: ARG002 - one event for all
        return PROMPT
