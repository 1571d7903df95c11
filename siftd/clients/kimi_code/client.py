"""Kimi Code as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.facts import canonical
from siftd.clients.kimi_code.facts import CLIENT, PROMPT
from siftd.clients.kimi_code.files import home_of
from siftd.clients.kimi_code.hooks import decode_envelope
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": PROMPT, "failure": "PostToolUseFailure"}


class Wires:
    """`sessions/` in the client's home."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = True

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        return f"{home_of(environ, user_home)}/sessions"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:
        from siftd.clients.kimi_code.wire import head_of

        return head_of(path, lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.kimi_code.wire import WireReader

        return WireReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - lines say it themselves
        return {}


class KimiCode:
    """Kimi Code, from version 2.1 on."""

    name = CLIENT
    title = "Kimi Code"
    files = Wires()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="its hooks run beside the turn and a few are lost; the session's file has what they reported",
    )
    moments: frozenset[Moment] = frozenset(("prompt",))

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.kimi_code.installer import KimiCodeInstaller

        return KimiCodeInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> str:  # noqa: ARG002 - shown to the model as it stands
        return text

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
