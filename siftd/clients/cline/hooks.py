"""Cline's hooks: the JSON document that a hook reads from its standard input."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from siftd.clients.cline.facts import FACTS, call_event, typed_prompt
from siftd.clients.cline.home import sessions_folder
from siftd.clients.facts import Origin, column_text
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

_ID = re.compile(r"[\w-]{1,100}", re.ASCII)


class _Context(msgspec.Struct, rename="camel"):
    root_session_id: str = ""


class _Result(msgspec.Struct):
    id: str | None = None
    name: str = ""
    input: Any = None
    output: Any = None
    error: Any = None


class _Turn(msgspec.Struct, rename="camel"):
    output_text: Any = None


class _Prompt(msgspec.Struct):
    prompt: Any = None


class Envelope(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    hook_name: str = msgspec.field(default="", name="hookName")
    context: _Context = msgspec.field(default_factory=_Context, name="sessionContext")
    workspace_roots: Any = msgspec.field(default=None, name="workspaceRoots")
    agent_id: str | None = None
    parent_agent_id: str | None = None
    tool_result: _Result | None = None
    turn: _Turn | None = None
    prompt: _Prompt | None = msgspec.field(default=None, name="userPromptSubmit")


_DECODER = msgspec.json.Decoder(Envelope)


def decode_envelope(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that a hook's input tells, `ts` being when the hook ran.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `not_a_prompt`, `unhandled_event` (one that we do not ask for), `internal_agent` (a subagent's beginning).
    """
    envelope = decode_as(raw, _DECODER)
    if not (session := envelope.context.root_session_id):
        raise EnvelopeRejected("no_session")
    agent = envelope.agent_id if envelope.parent_agent_id else None
    roots = envelope.workspace_roots
    cwd = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    origin = Origin(
        session_id=column_text(session),
        ts=ts,
        cwd=column_text(cwd) if cwd else None,
        agent_id=agent or None,
        file=_document(session, agent),
    )
    match envelope.hook_name:
        case "tool_result":
            result = envelope.tool_result
            if result is None or not result.name:
                raise EnvelopeRejected("no_tool")
            has_failed = result.error is not None and result.output is None
            output = result.error if has_failed else result.output
            return call_event(origin, result.name, result.id, result.input, output, is_error=has_failed)
        case "prompt_submit":
            text = typed_prompt(envelope.prompt.prompt if envelope.prompt else None)
            if text is None or agent:
                raise EnvelopeRejected("not_a_prompt")
            return FACTS.prompt(origin, text)
        case "agent_end":
            said = envelope.turn.output_text if envelope.turn else None
            return FACTS.end(origin, said if isinstance(said, str) else "")
        case "agent_start" if not agent:
            return FACTS.change(origin, "start")
        case "agent_start":
            raise EnvelopeRejected("internal_agent")
        case "session_shutdown" if not agent:
            return FACTS.change(origin, "end")
    raise EnvelopeRejected("unhandled_event")


def _document(session: str, agent: str | None) -> str | None:
    """Return the document of a session, or of its subagent, which no hook names."""
    name = agent or session
    if not _ID.fullmatch(session) or not _ID.fullmatch(name):
        return None
    return f"{sessions_folder(str(Path.home()))}/{session}/{name}.messages.json"
