"""What Cursor gives a hook: its own events, and those of a Claude Code settings file, which it runs too.

It names folders in `workspace_roots`, and no or an empty `cwd`. At its launch it runs a start for a conversation that
is none (`empty-state-draft`). The person's e-mail address in every payload is not read.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.cursor import facts
from siftd.clients.cursor.facts import CLIENT, Origin
from siftd.clients.facts import column_text
from siftd.clients.failed import as_error
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

DRAFT = "empty-state-draft"
"""The conversation of a window in which none was begun."""


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    hook_event_name: str = ""
    conversation_id: str = ""
    session_id: str = ""
    generation_id: str | None = None
    workspace_roots: Any = None
    cwd: str | None = None
    tool_name: str = ""
    tool_input: Any = None
    tool_output: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None
    error_message: Any = None
    error: Any = None
    is_interrupt: bool | None = None
    prompt: Any = None
    text: Any = None
    reason: str | None = None
    trigger: str | None = None
    source: str | None = None
    subagent_id: str | None = None
    summary: Any = None


_DECODER = msgspec.json.Decoder(Envelope)
_BORROWED = {"UserPromptSubmit": facts.PROMPT}
"""What a Claude Code settings file calls an event, where it is not the same but for its first letter."""


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """The fact that one envelope tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_workspace`
    (a window without a conversation), `no_tool`, `unhandled_event`, `not_a_prompt`, `nothing_said`.
    """
    envelope = decode_as(raw, _DECODER)
    session_id = envelope.conversation_id or envelope.session_id
    if not session_id:
        raise EnvelopeRejected("no_session")
    if session_id == DRAFT:
        raise EnvelopeRejected("no_workspace")
    roots = envelope.workspace_roots if isinstance(envelope.workspace_roots, list) else []
    cwd = envelope.cwd or next((each for each in roots if isinstance(each, str) and each), None)
    origin = Origin(
        session_id=column_text(session_id),
        ts=ts,
        cwd=column_text(cwd) if cwd else None,
        prompt_id=envelope.generation_id or None,
    )
    name = _BORROWED.get(envelope.hook_event_name, envelope.hook_event_name)
    match name[:1].lower() + name[1:]:
        case "postToolUse" | "postToolUseFailure" as event:
            return _call(origin, envelope, has_failed=event == "postToolUseFailure", has_media=may_hold_media(raw))
        case facts.PROMPT:
            if not isinstance(envelope.prompt, str):
                raise EnvelopeRejected("bad_type")
            if not envelope.prompt.strip():
                raise EnvelopeRejected("not_a_prompt")
            return facts.prompt_event(origin, envelope.prompt.strip())
        case facts.TEXT:
            if not isinstance(envelope.text, str) or not envelope.text.strip():
                raise EnvelopeRejected("nothing_said")
            return facts.text_event(origin, envelope.text)
        case facts.TURN_END:
            return facts.turn_end_event(origin, envelope.generation_id)
        case facts.SUBAGENT_END if envelope.subagent_id:
            text = envelope.summary if isinstance(envelope.summary, str) else ""
            return facts.subagent_end_event(origin, column_text(envelope.subagent_id), text)
        case "sessionStart":
            return _change(origin, "start", envelope.source)
        case "sessionEnd":
            return _change(origin, "end", envelope.reason)
        case "preCompact":
            return _change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _call(origin: Origin, envelope: Envelope, *, has_failed: bool, has_media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool, tool_input = column_text(envelope.tool_name), envelope.tool_input
    answer: dict[str, Any]
    if has_failed:
        answer = {"error": envelope.error if envelope.error_message is None else envelope.error_message}
    else:
        answer = {
            "tool_response": envelope.tool_response if envelope.tool_output is None else _output(envelope.tool_output)
        }
    if has_media:
        tool_input, answer = without_media(tool_input), without_media(answer)
    outcome = "interrupted" if envelope.is_interrupt else "failed" if has_failed else "ok"
    if _is_error(answer.get("tool_response")):
        answer, outcome = {"error": answer["tool_response"]}, "failed"
    elif code := _exit_code(answer.get("tool_response")):
        answer, outcome = {"error": as_error(_said(answer["tool_response"]), code)}, "failed"
    return facts.call_event(origin, tool, tool_input, answer, outcome, envelope.tool_use_id)  # type: ignore[arg-type]


def _output(output: Any) -> Any:
    """Return a tool's answer, which comes as JSON in a string."""
    if not isinstance(output, str):
        return output
    try:
        return decode_as(b'{"value":' + output.encode("utf-8", "surrogatepass") + b"}", _VALUE).value
    except EnvelopeRejected:
        return output


class _Value(msgspec.Struct):
    value: Any = None


_VALUE = msgspec.json.Decoder(_Value)


def _is_error(answer: Any) -> bool:
    """Whether another server's tool says that it failed."""
    return isinstance(answer, dict) and answer.get("isError") is True


def _exit_code(answer: Any) -> int | None:
    code = answer.get("exitCode", answer.get("exit_code")) if isinstance(answer, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _said(answer: dict[str, Any]) -> str:
    envelope = [text for key in ("output", "stdout", "stderr") if isinstance(text := answer.get(key), str) and text]
    return "\n".join(envelope)


def _change(origin: Origin, change: Any, detail: str | None) -> SessionChange:
    return SessionChange(
        client=CLIENT, session_id=origin.session_id, change=change, ts=origin.ts, cwd=origin.cwd, detail=detail
    )
