"""How a client's facts become events, for clients that tell them as most do.

A hook and a session file of one client make their events here, so that one fact has one identity and one payload
however it arrived. A call is known by the client's own id where hook and file share one; else by its tool and its
arguments, counted: the store counts what hooks tell, and a reader (`Counting`) what a file tells.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Literal, NamedTuple

import msgspec

from siftd.clients.own import ids_alone, is_own_call
from siftd.clients.tool import Tool
from siftd.model import Event, Outcome, SessionChange

Payload = dict[str, Any]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a fact was told."""

    session_id: str
    ts: int
    cwd: str | None = None
    branch: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    from_file: bool = False
    file: str | None = None
    """The session file that a hook names."""


class Answer(NamedTuple):
    """What came of a call: `{"tool_response": …}` or `{"error": …}`, and how it ended."""

    payload: Payload
    outcome: Outcome


def column_text(text: str) -> str:
    """Text for a column that people read with sqlite3, which ends a text at its first NUL."""
    return text.replace("\x00", "\ufffd")


def canonical(value: Any) -> str:
    """Return a value as JSON with sorted keys."""
    return msgspec.json.encode(value, order="deterministic").decode()


def milliseconds(timestamp: Any) -> int | None:
    """Return a time in ISO 8601, or in milliseconds, as milliseconds; None for what is none."""
    if isinstance(timestamp, int) and not isinstance(timestamp, bool):
        return timestamp
    try:
        return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except (TypeError, ValueError, OverflowError):
        return None


class Facts(NamedTuple):
    """Makes one client's events."""

    client: str
    prompt_name: str
    """What tells of a prompt, and of a turn's end, by the client's own name."""
    end_name: str
    agent_end_name: str = "SubagentStop"

    def call(
        self,
        origin: Origin,
        tool: str,
        known: Tool,
        call_id: str | None,
        tool_input: Any,
        answer: Answer,
        *,
        spawned: str | None = None,
    ) -> Event:
        """A finished tool call. Without `call_id` it is one of the equal ones of its session, which are counted."""
        payload = answer.payload
        if "tool_response" in payload and is_own_call(known.action, tool, tool_input):
            payload = payload | {"tool_response": ids_alone(payload["tool_response"])}
        return self._event(
            origin,
            kind="tool",
            tool=tool,
            action=known.action,
            payload={"tool_input": tool_input, **payload},
            identity=("tool", call_id) if call_id else ("tool", tool, canonical(tool_input)),
            native_id=call_id or None,
            outcome=answer.outcome,
            spawned_agent_id=spawned,
            said_by=known.said_by,
        )

    def prompt(self, origin: Origin, text: str) -> Event:
        """What a person typed. With the origin's prompt id the text is part of the identity beside it."""
        return self._event(
            origin,
            kind="prompt",
            tool=self.prompt_name,
            payload={"prompt": text},
            identity=("prompt", origin.prompt_id, text) if origin.prompt_id else ("prompt", text),
            native_id=origin.prompt_id,
            said_by="agent" if origin.from_file or origin.agent_id else "person",
        )

    def end(self, origin: Origin, text: str) -> Event:
        """The end of a turn, or of a subagent when the origin names one, with the last words."""
        text = text.strip()
        turn = "" if origin.agent_id else origin.prompt_id or ""
        return self._event(
            origin,
            kind="subagent_end" if origin.agent_id else "turn_end",
            tool=self.agent_end_name if origin.agent_id else self.end_name,
            payload={"last_assistant_message": text},
            identity=("stop", origin.agent_id or "", turn, " ".join(text.split())),
            native_id=origin.agent_id or origin.prompt_id,
            said_by="output" if origin.agent_id else "agent",
        )

    def said(self, origin: Origin, text: str, record_id: str | None) -> Event:
        """What an agent said between its tool calls; files alone tell it."""
        return self._from_files(origin, "assistant_text", "AssistantText", {"text": text.strip()}, record_id)

    def compacted(self, origin: Origin, text: str, record_id: str | None) -> Event:
        """The client's own account of a session so far, as a compaction leaves it."""
        return self._from_files(origin, "compaction", "CompactSummary", {"summary": text.strip()}, record_id)

    def change(
        self, origin: Origin, change: Literal["start", "end", "compact"], detail: str | None = None
    ) -> SessionChange:
        return SessionChange(
            client=self.client,
            session_id=origin.session_id,
            change=change,
            ts=origin.ts,
            cwd=origin.cwd,
            detail=detail,
            transcript=origin.file,
        )

    def _from_files(self, origin: Origin, kind: str, tool: str, payload: Payload, record_id: str | None) -> Event:
        text = next(iter(payload.values()))
        return self._event(
            origin,
            kind=kind,
            tool=tool,
            payload=payload,
            identity=(kind, record_id) if record_id else (kind, text),
            native_id=record_id,
            said_by="output" if origin.agent_id else "agent",
        )

    def _event(self, origin: Origin, **fact: Any) -> Event:
        return Event(
            client=self.client,
            session_id=origin.session_id,
            ts=origin.ts,
            cwd=origin.cwd,
            branch=origin.branch,
            prompt_id=origin.prompt_id,
            agent_id=origin.agent_id,
            from_transcript=origin.from_file,
            transcript=origin.file,
            **fact,
        )


class Counting:
    """Counts a file's facts that have no id of the client's, each among its equals."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def __call__(self, event: Event) -> Event:
        """Return the event with its how-manieth time."""
        if event.native_id is not None:
            return event
        self._seen[event.identity] += 1
        return msgspec.structs.replace(event, occurrence=self._seen[event.identity])
