"""pi as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.facts import canonical
from siftd.clients.pi.facts import CLIENT
from siftd.clients.pi.home import folder_of
from siftd.clients.pi.reports import decode_report
from siftd.clients.support import ALL_LIVE, Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "session_start", "prompt": "before_agent_start", "failure": "tool_result"}


class Sessions:
    """`sessions/` in pi's folder of a home."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        return f"{folder_of(environ, user_home)}/sessions"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        from siftd.clients.pi.sessions import head_of

        return head_of(lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.pi.sessions import SessionReader

        return SessionReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterator[bytes]:  # noqa: ARG002 - each stands alone
        yield from lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - it has no subagents
        return {}


class Pi:
    """pi, from version 0.74 on."""

    name = CLIENT
    title = "pi"
    files = Sessions()
    support = Support(**ALL_LIVE, backfill=True, mcp="no", evidence="real program", note="takes no servers of tools")
    moments: frozenset[Moment] = frozenset({"start", "prompt"})

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.pi.wiring import PiInstaller

        return PiInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_report(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - for the extension
        return {"text": text} if text else {}

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]
