"""Antigravity's hooks, by their published shapes.

A prompt has no event: `PreInvocation` with `invocationNum` 0 says that one was given, and its text is the last that the
conversation's mirror holds. So are the last words at `Stop`. A call's output is in a file of its own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.antigravity.facts import FACTS, answer_of, call_event, step_id, typed_prompt
from siftd.clients.antigravity.places import conversation_of, last_steps, output_of
from siftd.clients.antigravity.transcript import Step
from siftd.clients.facts import Origin, column_text
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange


class Envelope(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields that are read."""

    conversation_id: str = ""
    workspace_paths: Any = None
    transcript_path: Any = None
    invocation_num: Any = None
    initial_num_steps: Any = None
    tool_call: Any = None
    step_idx: Any = None
    error: Any = None
    execution_num: Any = None
    fully_idle: Any = None


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_workspace`,
    `not_a_prompt` (the hook runs before each request to the model), `no_text` (the mirror has none), `unhandled_event`.
    """
    envelope = decode_as(raw, _DECODER)
    if not envelope.conversation_id:
        raise EnvelopeRejected("no_session")
    folders = envelope.workspace_paths
    if not isinstance(folders, list) or not folders or not isinstance(folders[0], str):
        raise EnvelopeRejected("no_workspace")
    mirror = envelope.transcript_path if isinstance(envelope.transcript_path, str) else ""
    origin = Origin(
        session_id=column_text(envelope.conversation_id),
        ts=ts,
        cwd=column_text(folders[0]),
        file=mirror if conversation_of(mirror) == envelope.conversation_id else None,
    )
    if isinstance(envelope.tool_call, dict) and isinstance(envelope.step_idx, int):
        return _call(origin, envelope.tool_call, envelope.step_idx, envelope.error)
    if envelope.invocation_num is not None:
        if envelope.invocation_num != 0:
            raise EnvelopeRejected("not_a_prompt")
        return _prompt(origin)
    if envelope.execution_num is not None or envelope.fully_idle is not None:
        return _end(origin)
    raise EnvelopeRejected("unhandled_event")


def _call(origin: Origin, call: dict[str, Any], step: int, error: Any) -> Event:
    name = call.get("name")
    if not isinstance(name, str) or not name:
        raise EnvelopeRejected("no_tool")
    output = output_of(origin.file, step) if origin.file else ""
    return call_event(origin, column_text(name), call.get("args"), step, answer_of(output, error))


def _prompt(origin: Origin) -> Event:
    step = _last(origin, "USER_INPUT")
    text = None if step is None else typed_prompt(step.content)
    if step is None or text is None:
        raise EnvelopeRejected("no_text")
    return FACTS.prompt(_of_step(origin, step), text)


def _end(origin: Origin) -> Event:
    step = _last(origin, "PLANNER_RESPONSE")
    if step is None or step.tool_calls:
        raise EnvelopeRejected("no_text")
    return FACTS.end(_of_step(origin, step), step.content)


def _last(origin: Origin, kind: str) -> Step | None:
    """Return the last step of a kind that has a text."""
    if origin.file is None:
        return None
    try:
        steps = (step for step in last_steps(origin.file) if step.type == kind and isinstance(step.step_index, int))
        return next((step for step in steps if isinstance(step.content, str) and step.content.strip()), None)
    except OSError:
        return None


def _of_step(origin: Origin, step: Step) -> Origin:
    return msgspec.structs.replace(origin, prompt_id=step_id(origin.session_id, step.step_index))
