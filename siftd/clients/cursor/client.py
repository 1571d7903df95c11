"""Cursor as siftd asks it: by what is published, for nothing of it runs without an account."""

from __future__ import annotations

import functools
from typing import Any

from siftd.clients.client import Installer, Moment
from siftd.clients.cursor.facts import CLIENT, PROMPT
from siftd.clients.cursor.hooks import decode_envelope
from siftd.clients.facts import canonical
from siftd.clients.no_files import NoFiles
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "sessionStart", "prompt": PROMPT, "failure": "postToolUseFailure"}


class Cursor:
    """The desktop program and `cursor-agent`."""

    name = CLIENT
    title = "Cursor"
    files = NoFiles()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=False,
        mcp="yes",
        evidence="published shapes",
        note="its earlier sessions are not read: their files have no ids, times and results",
    )
    moments: frozenset[Moment] = frozenset({"start"})

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.cursor.install import CursorInstaller

        return CursorInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - it shows no line
        return {"additional_context": text} if text and moment != "prompt" else {}

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
