"""Gemini CLI's hooks: the JSON document that a hook reads from its standard input."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import Origin, column_text
from siftd.clients.gemini_cli.facts import (
    FACTS,
    answer_of,
    failure_of,
    known_tool,
    said_at_the_end,
    settle_input,
    typed_prompt,
)
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str = ""
    transcript_path: Any = None
    cwd: str | None = None
    hook_event_name: str = ""
    prompt: Any = None
    prompt_response: Any = None
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    source: str | None = None
    reason: str | None = None


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
        file=envelope.transcript_path if isinstance(envelope.transcript_path, str) else None,
    )
    match envelope.hook_event_name:
        case "AfterTool":
            return _call(origin, envelope, may_hold_media(raw))
        case "BeforeAgent":
            if (text := typed_prompt(envelope.prompt)) is None:
                raise EnvelopeRejected("not_a_prompt")
            return FACTS.prompt(origin, text)
        case "AfterAgent":
            return FACTS.end(origin, said_at_the_end(envelope.prompt_response))
        case "SessionStart":
            return FACTS.change(origin, "start", envelope.source)
        case "SessionEnd":
            return FACTS.change(origin, "end", envelope.reason)
    raise EnvelopeRejected("unhandled_event")


def _call(origin: Origin, envelope: Envelope, media: bool) -> Event:
    if not envelope.tool_name:
        raise EnvelopeRejected("no_tool")
    tool, response = column_text(envelope.tool_name), envelope.tool_response
    tool_input = settle_input(envelope.tool_input)
    given = response if isinstance(response, dict) else {"llmContent": response}
    error = given.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        answer = failure_of(message or given.get("llmContent"))
    else:
        answer = answer_of(tool, tool_input, given.get("llmContent"))
    tool_input = without_media(tool_input) if media else tool_input
    return FACTS.call(origin, tool, known_tool(tool), None, tool_input, answer, spawned=_spawned(given))


def _spawned(response: dict[str, Any]) -> str | None:
    """The subagent that a call had work, by the ids of what it did: `<agent>#<step>`."""
    match response.get("returnDisplay"):
        case {"isSubagentProgress": True, "recentActivity": [{"id": str(activity)}, *_]} if "#" in activity:
            return activity.partition("#")[0] or None
    return None
