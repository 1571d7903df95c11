"""Claude Code's hook envelopes: the JSON document that a hook reads from its standard input."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.claude_code.facts import (
    CLIENT,
    Origin,
    prompt_event,
    settle_input,
    stop_event,
    tool_event,
    typed_prompt,
)
from siftd.clients.facts import column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read; every other one is skipped without being built."""

    session_id: str = ""
    hook_event_name: str = ""
    cwd: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    transcript_path: Any = None
    agent_transcript_path: Any = None
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None
    error: Any = None
    is_interrupt: bool | None = None
    prompt: Any = None
    last_assistant_message: str | None = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """The fact that one envelope tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`,
    `no_tool`, `unhandled_event` (one that we do not ask for), `not_a_prompt` (the client's own message in a
    prompt's place), `internal_agent` (an agent of the client's own, such as the one that compacts).
    """
    envelope = decode_as(raw, _DECODER)
    if not envelope.session_id:
        raise EnvelopeRejected("no_session")
    media = may_hold_media(raw)
    origin = Origin(
        session_id=column_text(envelope.session_id),
        ts=ts,
        cwd=column_text(envelope.cwd) if envelope.cwd else None,
        prompt_id=envelope.prompt_id or None,
        agent_id=envelope.agent_id or None,
        transcript=_transcript(envelope),
    )
    match envelope.hook_event_name:
        case "PostToolUse" | "PostToolUseFailure":
            return _tool_call(origin, envelope, media)
        case "UserPromptSubmit":
            return _prompt(origin, envelope)
        case "Stop" | "SubagentStop":
            return _stop(origin, envelope)
        case "SessionStart":
            return _change(origin, "start", envelope.source)
        case "SessionEnd":
            return _change(origin, "end", envelope.reason)
        case "PreCompact":
            return _change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _transcript(envelope: Envelope) -> str | None:
    """The file that tells more of what the hook tells: a subagent's at its end, else the session's."""
    path = envelope.agent_transcript_path or envelope.transcript_path
    return path if isinstance(path, str) else None


def _tool_call(origin: Origin, envelope: Envelope, media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool = column_text(envelope.tool_name)
    tool_input = settle_input(tool, envelope.tool_input, origin.cwd)
    failed = envelope.hook_event_name == "PostToolUseFailure"
    answer = {"error": envelope.error} if failed else {"tool_response": envelope.tool_response}
    if media:
        tool_input, answer = without_media(tool_input), without_media(answer)
    if envelope.is_interrupt or _is_interrupted(envelope.tool_response):
        return tool_event(origin, tool, envelope.tool_use_id, tool_input, answer, "interrupted")
    return tool_event(origin, tool, envelope.tool_use_id, tool_input, answer, "failed" if failed else "ok")


def _is_interrupted(tool_response: Any) -> bool:
    return isinstance(tool_response, dict) and tool_response.get("interrupted") is True


def _prompt(origin: Origin, envelope: Envelope) -> Event:
    if not isinstance(envelope.prompt, str):
        raise EnvelopeRejected("bad_type")
    text = typed_prompt(envelope.prompt)
    if text is None:
        raise EnvelopeRejected("not_a_prompt")
    return prompt_event(origin, text)


def _stop(origin: Origin, envelope: Envelope) -> Event:
    if envelope.hook_event_name == "SubagentStop" and envelope.agent_type == "":
        raise EnvelopeRejected("internal_agent")
    return stop_event(origin, envelope.last_assistant_message or "")


def _change(origin: Origin, change: Any, detail: str | None) -> SessionChange:
    return SessionChange(
        client=CLIENT,
        session_id=origin.session_id,
        change=change,
        ts=origin.ts,
        cwd=origin.cwd,
        detail=detail,
        transcript=origin.transcript,
    )
