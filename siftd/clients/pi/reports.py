"""What the extension gives the hook program: one report, in a form of our own around what pi's events carry.

    {"hook_event_name": "PostToolUse", "session_id": "01a2…", "cwd": "/…", "session_file": "/….jsonl", "tool": "bash",
     "id": "call_…", "input": {…}, "content": [{"type": "text", "text": "…"}], "is_error": false}

The names are Claude Code's, by which the hook program knows when it may be given something to print. What the agent
says between its calls, and what it keeps of a compacted session, its file tells.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import Origin, column_text
from siftd.clients.pi.facts import FACTS, call_event, text_of
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Report(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    hook_event_name: str = ""
    session_id: str = ""
    cwd: str | None = None
    session_file: str | None = None
    reason: str | None = None
    tool: str = ""
    id: str | None = None
    input: Any = None
    content: Any = None
    is_error: bool = False


_DECODER = msgspec.json.Decoder(Report)


def decode_report(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a report tells.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `not_a_prompt`, `unhandled_event`.
    """
    report = decode_as(raw, _DECODER)
    if not report.session_id:
        raise EnvelopeRejected("no_session")
    origin = Origin(
        session_id=column_text(report.session_id),
        ts=ts,
        cwd=column_text(report.cwd) if report.cwd else None,
        file=report.session_file or None,
    )
    match report.hook_event_name:
        case "PostToolUse":
            if not report.tool:
                raise EnvelopeRejected("no_tool")
            return call_event(origin, report.tool, report.id, report.input, report.content, is_error=report.is_error)
        case "UserPromptSubmit":
            if not (text := text_of(report.content).strip()):
                raise EnvelopeRejected("not_a_prompt")
            return FACTS.prompt(origin, text)
        case "Stop":
            return FACTS.end(origin, text_of(report.content))
        case "SessionStart":
            return FACTS.change(origin, "start", report.reason)
        case "SessionEnd":
            return FACTS.change(origin, "end", report.reason)
        case "PreCompact":
            return FACTS.change(origin, "compact")
    raise EnvelopeRejected("unhandled_event")
