"""What the plugin gives the hook program: one report a line, in a form of our own around OpenCode's parts.

    {"hook_event_name": "PostToolUse", "session_id": "ses_…", "agent_id": "ses_…", "cwd": "/…", "part": {…}}

`session_id` is the session that a person sees, `agent_id` a subagent's own. The names are Claude Code's, by which the
hook program knows when it may be given something to print.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import column_text
from siftd.clients.opencode.facts import (
    CLIENT,
    Origin,
    compaction_event,
    end_event,
    prompt_event,
    text_event,
    tool_event,
    typed,
)
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Report(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    hook_event_name: str = ""
    session_id: str = ""
    agent_id: str | None = None
    cwd: str | None = None
    source: str | None = None
    message_id: str | None = None
    part_id: str | None = None
    parts: Any = None
    part: Any = None
    text: str = ""


_DECODER = msgspec.json.Decoder(Report)


def decode_report(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a report tells.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool` (a call
    that has not ended, or is none), `not_a_prompt`, `unhandled_event`.
    """
    report = decode_as(raw, _DECODER)
    if not report.session_id:
        raise EnvelopeRejected("no_session")
    origin = Origin(
        session_id=column_text(report.session_id),
        ts=ts,
        cwd=column_text(report.cwd) if report.cwd else None,
        agent_id=report.agent_id or None,
    )
    match report.hook_event_name:
        case "PostToolUse":
            event = tool_event(origin, report.part) if isinstance(report.part, dict) else None
            if event is None:
                raise EnvelopeRejected("no_tool")
            return event
        case "UserPromptSubmit":
            text = typed(report.parts)
            if not text:
                raise EnvelopeRejected("not_a_prompt")
            return prompt_event(origin, text, report.message_id)
        case "AssistantText" if report.text.strip():
            return text_event(origin, report.text, report.part_id)
        case "Stop":
            return end_event(origin, report.text, report.message_id)
        case "CompactSummary" if report.text.strip():
            return compaction_event(origin, report.text, report.part_id)
        case "SessionStart":
            return _change(origin, "start", report.source)
        case "SessionEnd":
            return _change(origin, "end", None)
        case "PreCompact":
            return _change(origin, "compact", None)
    raise EnvelopeRejected("unhandled_event")


def _change(origin: Origin, change: Any, detail: str | None) -> SessionChange:
    return SessionChange(
        client=CLIENT, session_id=origin.session_id, change=change, ts=origin.ts, cwd=origin.cwd, detail=detail
    )
