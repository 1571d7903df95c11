"""Qwen Code's hooks: Claude Code's events, with fields of their own."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import Origin, column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.qwen_code.facts import FACTS, answer_of, failure_of, known_tool, typed_prompt
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str = ""
    transcript_path: Any = None
    cwd: str | None = None
    hook_event_name: str = ""
    agent_id: str | None = None
    prompt: Any = None
    submitted_prompt: Any = None
    tool_name: str = ""
    tool_call_id: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    error: Any = None
    is_interrupt: bool | None = None
    last_assistant_message: str | None = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `not_a_prompt` (the client calls the hook of prompts before each request to its model, mostly without any),
    `unhandled_event` (one that we do not ask for).
    """
    envelope = decode_as(raw, _DECODER)
    if not envelope.session_id:
        raise EnvelopeRejected("no_session")
    origin = Origin(
        session_id=column_text(envelope.session_id),
        ts=ts,
        cwd=column_text(envelope.cwd) if envelope.cwd else None,
        agent_id=envelope.agent_id or None,
        file=envelope.transcript_path if isinstance(envelope.transcript_path, str) else None,
    )
    match envelope.hook_event_name:
        case "PostToolUse" | "PostToolUseFailure":
            return _call(origin, envelope, may_hold_media(raw))
        case "UserPromptSubmit":
            return _prompt(origin, envelope)
        case "Stop" | "SubagentStop":
            return FACTS.end(origin, envelope.last_assistant_message or "")
        case "SessionStart":
            return FACTS.change(origin, "start", envelope.source)
        case "SessionEnd":
            return FACTS.change(origin, "end", envelope.reason)
        case "PreCompact":
            return FACTS.change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _prompt(origin: Origin, envelope: Envelope) -> Event:
    typed = envelope.submitted_prompt if envelope.submitted_prompt is not None else envelope.prompt
    text = typed_prompt(typed) if isinstance(typed, str) else None
    if text is None:
        raise EnvelopeRejected("not_a_prompt")
    return FACTS.prompt(origin, text)


def _call(origin: Origin, envelope: Envelope, media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool, response = column_text(envelope.tool_name), envelope.tool_response
    tool_input = without_media(envelope.tool_input) if media else envelope.tool_input
    if envelope.hook_event_name == "PostToolUseFailure":
        answer = failure_of(tool, tool_input, envelope.error, is_interrupt=envelope.is_interrupt is True)
    else:
        answer = answer_of(tool, tool_input, response.get("llmContent") if isinstance(response, dict) else response)
    return FACTS.call(origin, tool, known_tool(tool), envelope.tool_call_id, tool_input, answer)
