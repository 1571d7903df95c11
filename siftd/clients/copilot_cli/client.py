"""Copilot CLI, and VS Code's agent, as siftd asks them: one folder of hook files serves both.

A hook's input says which of the two it is (`siftd.clients.marks`), so that each is printed what it takes: Copilot a
flat `additionalContext`, VS Code the form of Claude Code, and that at a start alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from siftd.clients.client import Head, Installer, Moment, Reader
from siftd.clients.copilot_cli.facts import CLIENT, PROMPT, VSCODE, input_identity
from siftd.clients.copilot_cli.home import copilot_home
from siftd.clients.copilot_cli.hooks import decode_envelope
from siftd.clients.no_files import NoFiles
from siftd.clients.support import Support
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "sessionStart", "prompt": PROMPT, "failure": "postToolUseFailure"}


class SessionStates:
    """`session-state/<session>/events.jsonl` under the client's home, subagents in the same file."""

    suffix = "events.jsonl"
    reports_outcomes = False
    reports_everything = True

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        return f"{copilot_home(environ, user_home)}/session-state"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        from siftd.clients.copilot_cli.session import head_of

        return head_of(lines)

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.copilot_cli.session import SessionReader

        return SessionReader(session_id)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - lines say it themselves
        return {}


class CopilotCli:
    """GitHub's Copilot CLI, from version 1.0.21 on."""

    name = CLIENT
    title = "GitHub Copilot CLI"
    files = SessionStates()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
        note="its hook file serves VS Code too",
    )
    moments: frozenset[Moment] = frozenset(_NAMES)

    @functools.cached_property
    def installer(self) -> Installer:
        from siftd.clients.copilot_cli.install import CopilotInstaller

        return CopilotInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return input_identity(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - it shows no line
        """Print the flat form, which alone reaches Copilot's model, and beside it, at a start, the one of VS Code: what
        is kept for a start without a daemon serves both."""
        if not text:
            return {}
        return {"additionalContext": text} | (_nested(text) if moment == "start" else {})

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]


class VsCode:
    """The agent of VS Code's chat, by its published hooks; it keeps its sessions in a form of its own."""

    name = VSCODE
    title = "VS Code (Copilot chat)"
    files = NoFiles()
    installer = None
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="no",
        ends="no",
        backfill=False,
        mcp="by hand",
        evidence="published shapes",
        note="`mem install --client copilot-cli` wires it, as does Claude Code's wiring; its hooks report no failure",
    )
    moments: frozenset[Moment] = frozenset({"start"})

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return input_identity(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:  # noqa: ARG002 - at a start alone
        return (_nested(text) if text else {}) | ({"systemMessage": notice} if notice else {})

    def name_of(self, moment: Moment) -> str:
        return _NAMES[moment]


def _nested(text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
