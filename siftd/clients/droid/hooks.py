"""droid's hook inputs: Claude Code's shape, without ids of calls."""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.droid import facts
from siftd.clients.facts import Origin, column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str = ""
    hook_event_name: str = ""
    cwd: str | None = None
    message_id: str | None = None
    transcript_path: Any = None
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    prompt: Any = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that one hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`, `not_a_prompt`,
    `unhandled_event` (one that we do not ask for: ends of turns come without a text, the file has it).
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
        case "PostToolUse":
            if not envelope.tool_name:
                raise EnvelopeRejected("no_tool")
            given, response = envelope.tool_input, envelope.tool_response
            if may_hold_media(raw):
                given, response = without_media(given), without_media(response)
            return facts.ended_well(origin, envelope.tool_name, given, response)
        case facts.PROMPT:
            return _prompt(origin, envelope)
        case "SessionStart":
            return facts.FACTS.change(origin, "start", envelope.source)
        case "SessionEnd":
            return facts.FACTS.change(origin, "end", envelope.reason)
        case "PreCompact":
            return facts.FACTS.change(origin, "compact", envelope.trigger)
    raise EnvelopeRejected("unhandled_event")


def _prompt(origin: Origin, envelope: Envelope) -> Event:
    if not isinstance(envelope.prompt, str):
        raise EnvelopeRejected("bad_type")
    text = facts.typed_prompt(envelope.prompt)
    if text is None:
        raise EnvelopeRejected("not_a_prompt")
    return facts.FACTS.prompt(msgspec.structs.replace(origin, prompt_id=envelope.message_id or None), text)
