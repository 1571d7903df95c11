"""Factory's droid as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.droid.facts import CLIENT, PROMPT
from siftd.clients.droid.hooks import decode_envelope
from siftd.clients.nested_output import NestedOutput
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": PROMPT, "failure": "PostToolUse"}


class Sessions:
    """`sessions/<folder>/<session>.jsonl` in the client's folder of a home."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = True

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:  # noqa: ARG002 - a home's, always
        return f"{user_home}/.factory/sessions"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        from siftd.clients.droid.sessions import session_head

        return session_head(lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.droid.sessions import SessionReader

        return SessionReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - an answer names the session
        return {}


class Droid(NestedOutput):
    """Factory's droid, from version 0.215 on."""

    name = CLIENT
    names = _NAMES
    title = "droid"
    files = Sessions()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="later",
        ends="later",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="a subagent is a session of its own; `droid exec` tells its prompt in the session's file alone",
    )
    moments: frozenset[Moment] = frozenset(("start", "prompt"))

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.droid.installer import DroidInstaller

        return DroidInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)
