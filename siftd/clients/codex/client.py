"""Codex as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.codex import facts
from siftd.clients.codex.home import codex_home
from siftd.clients.codex.hooks import decode_envelope
from siftd.clients.nested_output import NestedOutput
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": facts.PROMPT, "failure": "PostToolUse"}


class Rollouts:
    """`sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl` under the client's home."""

    suffix = ".jsonl"
    reports_outcomes = True
    reports_everything = True

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        return f"{codex_home(environ, user_home)}/sessions"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it
        from siftd.clients.codex.rollout import rollout_head

        return rollout_head(lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.codex.rollout import RolloutReader

        return RolloutReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - rollouts say it themselves
        return {}


class Codex(NestedOutput):
    """OpenAI's Codex CLI and what shares its home: its editor extensions and its app."""

    name = facts.CLIENT
    names = _NAMES
    title = "Codex"
    files = Rollouts()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="later",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="asks a person once whether it may run our hooks; in a terminal it ends without saying so",
    )
    moments: frozenset[Moment] = frozenset(("start", "prompt"))

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.codex.installer import CodexInstaller

        return CodexInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:
        return facts.identify_input(tool, tool_input)
