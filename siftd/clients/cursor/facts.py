"""What Cursor's hooks tell, as events.

Its transcripts have no ids, so a fact is told from its equals by counting them, in the order in which they came. Two
hook files that are both wired tell it once, by the id that the hook alone has.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.cursor.tools import cursor_tool
from siftd.clients.facts import canonical
from siftd.model import Event, Outcome

CLIENT = "cursor"
PROMPT = "beforeSubmitPrompt"
TURN_END = "stop"
SUBAGENT_END = "subagentStop"
TEXT = "afterAgentResponse"

Payload = dict[str, Any]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a fact was told."""

    session_id: str
    ts: int
    cwd: str | None = None
    prompt_id: str | None = None
    from_transcript: bool = False


def call_event(
    origin: Origin, tool: str, tool_input: Any, answer: Payload, outcome: Outcome | None, call_id: str | None = None
) -> Event:
    """A call; `answer` is {"tool_response": ...} or {"error": ...}, and nothing where no result was kept."""
    known = cursor_tool(tool)
    tool_input = settle_input(tool_input)
    return _event(
        origin,
        kind="tool",
        tool=tool,
        action=known.action,
        payload={"tool_input": tool_input, **answer},
        identity=("tool", tool, canonical(tool_input)),
        delivery=("tool", call_id) if call_id else (),
        outcome=outcome,
        said_by=known.said_by,
    )


def prompt_event(origin: Origin, text: str) -> Event:
    """A prompt of a person's."""
    return _event(
        origin,
        kind="prompt",
        tool=PROMPT,
        payload={"prompt": text},
        identity=("prompt", text),
        delivery=("prompt", origin.prompt_id, text) if origin.prompt_id else (),
        said_by="agent" if origin.from_transcript else "person",
    )


def text_event(origin: Origin, text: str) -> Event:
    """What the agent said."""
    text = text.strip()
    return _event(
        origin,
        kind="assistant_text",
        tool=TEXT,
        payload={"text": text},
        identity=("text", text),
        delivery=("text", origin.prompt_id, text) if origin.prompt_id else (),
        said_by="agent",
    )


def turn_end_event(origin: Origin, turn: str | None) -> Event:
    """The end of a turn; what was said last is a text of its own. A transcript tells of none."""
    return _event(
        origin,
        kind="turn_end",
        tool=TURN_END,
        payload={"last_assistant_message": ""},
        identity=("stop", turn) if turn else (),
        native_id=turn,
        said_by="agent",
    )


def subagent_end_event(origin: Origin, agent_id: str, text: str) -> Event:
    """The end of a subagent, with what it found."""
    return _event(
        msgspec.structs.replace(origin, prompt_id=None),
        kind="subagent_end",
        tool=SUBAGENT_END,
        payload={"last_assistant_message": text.strip()},
        identity=("stop", agent_id, text.strip()),
        native_id=agent_id,
        agent_id=agent_id,
        said_by="output",
    )


def _event(origin: Origin, **fact: Any) -> Event:
    return Event(
        client=CLIENT,
        session_id=origin.session_id,
        ts=origin.ts,
        cwd=origin.cwd,
        prompt_id=origin.prompt_id,
        from_transcript=origin.from_transcript,
        **fact,
    )


_STANDARD_KEYS = {"path": "file_path", "target_file": "file_path", "contents": "content", "streamContent": "content"}


def settle_input(tool_input: Any) -> Any:
    """Return an input with the field names that whoever shows it knows."""
    if not isinstance(tool_input, dict) or "pattern" in tool_input or "query" in tool_input:
        return tool_input
    return {
        _STANDARD_KEYS[key] if key in _STANDARD_KEYS and _STANDARD_KEYS[key] not in tool_input else key: each
        for key, each in tool_input.items()
    }
