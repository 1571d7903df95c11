"""What Copilot gives a hook, in either naming, and what VS Code gives it: the JSON document on its standard input.

The event's name in the hook file decides: one like Claude Code's brings fields like Claude Code's (`session_id`,
`tool_result`), Copilot's own brings `sessionId`, `toolResult` and no name of the event at all, so that what is there
says which it is. VS Code brings `hookEventName` beside the others.

What is told of a subagent names it as the session, and whoever started it as its parent: it belongs to the parent's
session. Its prompt is the call's that started it, with what other hooks put in front, and is not taken again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.copilot_cli.facts import FACTS, OF_VSCODE, call_event, called_at, named
from siftd.clients.facts import Facts, Origin, column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    hook_event_name: str = ""
    hookEventName: str = ""  # noqa: N815 - as it is told
    session_id: str = ""
    sessionId: str = ""  # noqa: N815
    timestamp: Any = None
    cwd: str | None = None
    transcript_path: Any = None
    transcriptPath: Any = None  # noqa: N815
    agent_id: str | None = None
    agentId: str | None = None  # noqa: N815
    parent_agent_id: str | None = None
    parentAgentId: str | None = None  # noqa: N815
    tool_name: str = ""
    toolName: str = ""  # noqa: N815
    tool_input: Any = None
    toolArgs: Any = None  # noqa: N815
    tool_use_id: str | None = None
    tool_result: Any = None
    toolResult: Any = None  # noqa: N815
    tool_response: Any = None
    error: Any = None
    prompt: Any = None
    initial_prompt: Any = None
    initialPrompt: Any = None  # noqa: N815
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None
    stop_reason: str | None = None
    stopReason: str | None = None  # noqa: N815
    response: str | None = None
    last_assistant_message: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)
_NEW = {"new": "startup"}


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """The fact that one envelope tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `unhandled_event` (one that we do not ask for), `not_a_prompt` (a subagent's task), `internal_agent` (the end of a
    subagent's turn, which its own end tells).
    """
    envelope = decode_as(raw, _DECODER)
    session_id = envelope.session_id or envelope.sessionId
    if not session_id:
        raise EnvelopeRejected("no_session")
    parent, path = (
        envelope.parent_agent_id or envelope.parentAgentId,
        envelope.transcript_path or envelope.transcriptPath,
    )
    agent_id = (envelope.agent_id or envelope.agentId or session_id) if parent else None
    path = path if isinstance(path, str) else None
    facts = OF_VSCODE if envelope.hookEventName else FACTS
    origin = Origin(
        session_id=column_text((_session_of(path) or parent or session_id) if agent_id else session_id),
        ts=ts,
        cwd=column_text(envelope.cwd) if envelope.cwd else None,
        agent_id=column_text(agent_id) if agent_id else None,
        file=None if envelope.hookEventName else path,
    )
    match _event_of(envelope):
        case "PostToolUse" | "PostToolUseFailure" as event:
            return _call(
                facts, origin, envelope, has_failed=event == "PostToolUseFailure", has_media=may_hold_media(raw)
            )
        case "UserPromptSubmit":
            return _prompt(facts, origin, envelope)
        case "Stop":
            if origin.agent_id:
                raise EnvelopeRejected("internal_agent")
            return facts.end(named(origin, called_at(envelope.timestamp)), "")
        case "SubagentStop":
            if not origin.agent_id:
                raise EnvelopeRejected("internal_agent")
            return facts.end(origin, envelope.last_assistant_message or envelope.response or "")
        case "SessionStart":
            return facts.change(origin, "start", _NEW.get(envelope.source or "", envelope.source))
        case "SessionEnd":
            return facts.change(origin, "end", envelope.reason)
        case "PreCompact":
            return facts.change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _event_of(envelope: Envelope) -> str:
    """Return the name of the event: as it is told, else by what is there."""
    if name := envelope.hook_event_name or envelope.hookEventName:
        return name
    if envelope.toolName:
        return (
            "PostToolUseFailure"
            if envelope.error is not None
            else "PostToolUse"
            if envelope.toolResult is not None
            else ""
        )
    if envelope.prompt is not None:
        return "UserPromptSubmit"
    if envelope.response is not None:
        return "SubagentStop"
    if envelope.stopReason is not None:
        return "Stop"
    if envelope.initialPrompt is not None or envelope.source is not None:
        return "SessionStart"
    if envelope.trigger is not None:
        return "PreCompact"
    return "SessionEnd" if envelope.reason is not None else ""


def _session_of(transcript: str | None) -> str | None:
    """Return the session whose file a path names: of a subagent's subagent nothing else says whose it is."""
    parts = (transcript or "").split("/")
    return parts[-2] if len(parts) > 2 and parts[-1] == "events.jsonl" else None


def _call(facts: Facts, origin: Origin, envelope: Envelope, *, has_failed: bool, has_media: bool) -> Event:
    tool = envelope.tool_name or envelope.toolName
    if not tool:
        raise EnvelopeRejected("no_tool")
    tool_input = envelope.tool_input if envelope.toolArgs is None else envelope.toolArgs
    answer = {"error": envelope.error} if has_failed else {"tool_response": _result(envelope)}
    if has_media:
        tool_input, answer = without_media(tool_input), without_media(answer)
    native = envelope.tool_use_id or called_at(envelope.timestamp)
    return call_event(facts, origin, tool, tool_input, answer, native)


def _result(envelope: Envelope) -> Any:
    """Return what the tool said: what the model was given of it."""
    result = envelope.tool_result if envelope.toolResult is None else envelope.toolResult
    if not isinstance(result, dict):
        return envelope.tool_response if result is None else result
    return result.get("text_result_for_llm", result.get("textResultForLlm", result))


def _prompt(facts: Facts, origin: Origin, envelope: Envelope) -> Event:
    if origin.agent_id:
        raise EnvelopeRejected("not_a_prompt")
    if not isinstance(envelope.prompt, str):
        raise EnvelopeRejected("bad_type")
    text = envelope.prompt.strip()
    if not text:
        raise EnvelopeRejected("not_a_prompt")
    return facts.prompt(named(origin, called_at(envelope.timestamp)), text)
