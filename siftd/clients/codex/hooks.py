"""Codex's hook inputs: Claude Code's shape, with a `turn_id` for what belongs to a turn."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.codex import facts
from siftd.clients.codex.tools import PATCH, SHELL
from siftd.clients.facts import Answer, Origin, column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str = ""
    hook_event_name: str = ""
    cwd: str | None = None
    turn_id: str | None = None
    agent_id: str | None = None
    transcript_path: Any = None
    agent_transcript_path: Any = None
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None
    prompt: Any = None
    last_assistant_message: str | None = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that one hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`, `not_a_prompt`,
    `unhandled_event` (one that we do not ask for).
    """
    envelope = decode_as(raw, _DECODER)
    if not envelope.session_id:
        raise EnvelopeRejected("no_session")
    file = envelope.agent_transcript_path or envelope.transcript_path
    origin = Origin(
        session_id=column_text(envelope.session_id),
        ts=ts,
        cwd=column_text(envelope.cwd) if envelope.cwd else None,
        prompt_id=envelope.turn_id or None,
        agent_id=envelope.agent_id or None,
        file=file if isinstance(file, str) else None,
    )
    match envelope.hook_event_name:
        case "PostToolUse":
            return _tool_call(origin, envelope, has_media=may_hold_media(raw))
        case "UserPromptSubmit":
            return _prompt(origin, envelope)
        case "Stop" | "SubagentStop":
            return facts.FACTS.end(origin, envelope.last_assistant_message or "")
        case "SessionStart":
            return facts.FACTS.change(origin, "start", envelope.source)
        case "SessionEnd":
            return facts.FACTS.change(origin, "end", envelope.reason)
        case "PreCompact":
            return facts.FACTS.change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _tool_call(origin: Origin, envelope: Envelope, *, has_media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool = column_text(envelope.tool_name)
    tool_input, response = envelope.tool_input, envelope.tool_response
    if has_media:
        tool_input, response = without_media(tool_input), without_media(response)
    return facts.call(origin, tool, envelope.tool_use_id, tool_input, _answer(tool, response))


def _answer(tool: str, response: Any) -> Answer:
    if isinstance(response, dict):
        return facts.answered_by_server(response)
    if tool == PATCH and isinstance(response, str):
        return facts.ended(*facts.output_of(response))
    return Answer({"tool_response": response}, "ok") if tool == SHELL else facts.answered(response)


def _prompt(origin: Origin, envelope: Envelope) -> Event:
    if not isinstance(envelope.prompt, str):
        raise EnvelopeRejected("bad_type")
    text = facts.typed_prompt(envelope.prompt)
    if text is None:
        raise EnvelopeRejected("not_a_prompt")
    return facts.FACTS.prompt(origin, text)
