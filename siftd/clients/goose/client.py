"""goose as siftd asks it, from version 1.38 on: by its published hooks. Its program was not run.

A plugin of ours hands events over. goose reads what a hook prints as a decision and gives none of it to its agent, so
nothing is printed. Its payloads hold no result of a tool: a call is known by what it was given and by whether it
failed. Sessions lie in a database that nobody has described, so none are read.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.client import Installer, Moment
from siftd.clients.facts import Answer, Facts, Origin, canonical, column_text
from siftd.clients.goose.tools import TOOLS
from siftd.clients.no_files import NoFiles
from siftd.clients.support import ALL_LIVE, Support
from siftd.clients.tolerant_json import decode_as
from siftd.clients.tool import find_tool
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

NAME = "goose"
_FACTS = Facts(NAME, "UserPromptSubmit", "Stop")
_NOTE = "its hooks report no results; `goose configure`, Add Extension, Command-line Extension, `siftd mcp`"
_NAMES_OF_OTHERS = {"path": "file_path", "before": "old_string", "after": "new_string"}
"""How other agents call what goose gives its tools for files, and how it is kept."""


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    event: str = ""
    session_id: str = ""
    working_dir: str | None = None
    tool_name: str = ""
    tool_input: Any = None
    tool_call_id: str | None = None
    error: Any = None
    message: str | None = None
    last_assistant_message: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


class Goose:
    """goose."""

    name = NAME
    title = "goose"
    files = NoFiles()
    moments: frozenset[Moment] = frozenset()
    support = Support(**ALL_LIVE, backfill=False, mcp="by hand", evidence="published shapes", note=_NOTE)

    @property
    def installer(self) -> Installer:
        from siftd.clients.goose.installer import GooseInstaller

        return GooseInstaller()

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        if not (envelope := decode_as(raw, _DECODER)).session_id:
            raise EnvelopeRejected("no_session")
        origin = Origin(session_id=column_text(envelope.session_id), ts=ts, cwd=envelope.working_dir or None)
        match envelope.event:
            case "PostToolUse" | "PostToolUseFailure":
                return _call(origin, envelope)
            case "UserPromptSubmit" if envelope.message:
                return _FACTS.prompt(origin, envelope.message)
            case "Stop":
                return _FACTS.end(origin, envelope.last_assistant_message or "")
            case "SessionStart":
                return _FACTS.change(origin, "start")
            case "SessionEnd":
                return _FACTS.change(origin, "end")
        raise EnvelopeRejected("unhandled_event")

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> str:  # noqa: ARG002 - nothing is
        return ""

    def name_of(self, moment: Moment) -> str:
        return moment


def _call(origin: Origin, envelope: Envelope) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool, given = column_text(envelope.tool_name), envelope.tool_input
    known = find_tool(TOOLS, tool)
    if known.operation is not None and isinstance(given, dict):
        given = {_NAMES_OF_OTHERS.get(key, key): value for key, value in given.items()}
    if envelope.event == "PostToolUse":
        answer = Answer({"tool_response": None}, "ok")
    else:
        answer = Answer({"error": envelope.error if isinstance(envelope.error, str) else ""}, "failed")
    return _FACTS.call(origin, tool, known, envelope.tool_call_id, given, answer)
