"""Qwen Code as siftd asks it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.nested_output import NestedOutput
from siftd.clients.qwen_code.facts import CLIENT, PROMPT
from siftd.clients.qwen_code.hooks import decode_envelope
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": PROMPT, "failure": "PostToolUseFailure"}


class Chats:
    """`projects/<folder>/` in the client's folder of a home."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:  # noqa: ARG002 - a home's, always
        return f"{user_home}/.qwen/projects"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        from siftd.clients.qwen_code.chats import head_of

        return head_of(lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.qwen_code.chats import ChatReader

        return ChatReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:
        from siftd.clients.qwen_code.agent_files import spawned_agents

        return {} if head.agent_id or not head.session_id else spawned_agents(path, head.session_id)


class QwenCode(NestedOutput):
    """Qwen Code, from version 0.24 on."""

    name = CLIENT
    names = _NAMES
    title = "Qwen Code"
    files = Chats()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="with `-p` it ends without saying so",
    )
    moments: frozenset[Moment] = frozenset(("start", "prompt", "failure"))

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.qwen_code.installer import QwenCodeInstaller

        return QwenCodeInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)
