"""Kimi Code's hooks: Claude Code's events, with fields of their own."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import Origin, column_text
from siftd.clients.kimi_code.facts import FACTS, answer_of, failure_of, known_tool, settle_input, typed_prompt
from siftd.clients.kimi_code.files import find_session_file
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str = ""
    cwd: str | None = None
    hook_event_name: str = ""
    prompt: Any = None
    tool_name: str = ""
    tool_call_id: str | None = None
    tool_input: Any = None
    tool_output: Any = None
    error: Any = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `not_a_prompt`, `unhandled_event` (one that we do not ask for).
    """
    envelope = decode_as(raw, _DECODER)
    if not envelope.session_id:
        raise EnvelopeRejected("no_session")
    origin = Origin(
        session_id=column_text(envelope.session_id),
        ts=ts,
        cwd=column_text(envelope.cwd) if envelope.cwd else None,
        file=find_session_file(envelope.session_id),
    )
    match envelope.hook_event_name:
        case "PostToolUse" | "PostToolUseFailure":
            return _call(origin, envelope, may_hold_media(raw))
        case "UserPromptSubmit":
            if (text := typed_prompt(envelope.prompt)) is None:
                raise EnvelopeRejected("not_a_prompt")
            return FACTS.prompt(origin, text)
        case "SessionStart":
            return FACTS.change(origin, "start", envelope.source)
        case "SessionEnd":
            return FACTS.change(origin, "end", envelope.reason)
        case "PreCompact":
            return FACTS.change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _call(origin: Origin, envelope: Envelope, media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool = column_text(envelope.tool_name)
    tool_input = settle_input(tool, envelope.tool_input)
    if envelope.hook_event_name == "PostToolUseFailure":
        error = envelope.error
        answer = failure_of(tool, error.get("message") if isinstance(error, dict) else error)
    else:
        answer = answer_of(envelope.tool_output)
    if media:
        tool_input, answer = without_media(tool_input), answer._replace(payload=without_media(answer.payload))
    return FACTS.call(origin, tool, known_tool(tool), envelope.tool_call_id, tool_input, answer)
