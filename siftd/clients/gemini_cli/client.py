"""Gemini CLI as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.gemini_cli.facts import CLIENT, PROMPT
from siftd.clients.gemini_cli.hooks import decode_envelope
from siftd.clients.nested_output import NestedOutput
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": PROMPT, "failure": "AfterTool"}


class Sessions:
    """`tmp/<project>/chats/` in the client's folder of a home."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:  # noqa: ARG002 - a home's, always
        return f"{user_home}/.gemini/tmp"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:
        from siftd.clients.gemini_cli.sessions import head_of

        return head_of(path, lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.gemini_cli.sessions import SessionReader

        return SessionReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
        from siftd.clients.gemini_cli.sessions import session_lines

        return session_lines(path, lines)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - lines say it themselves
        return {}


class GeminiCli(NestedOutput):
    """Google's Gemini CLI, from version 0.61 on."""

    name = CLIENT
    names = _NAMES
    title = "Gemini CLI"
    files = Sessions()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="its hooks give calls no id; a subagent's call is reported as the session's own",
    )
    moments: frozenset[Moment] = frozenset(("start", "prompt"))

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.gemini_cli.installer import GeminiCliInstaller

        return GeminiCliInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)
