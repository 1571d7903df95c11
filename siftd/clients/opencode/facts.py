"""What the plugin's reports and the database's rows of the same fact have in common.

Both bring a *part*, the piece of a message that OpenCode keeps as a row and tells plugins of, in the same words. So an
event is made of it here, and its identity and payload are equal however it came:

- A call is known by its part's id, and in a fork of its session, where the part has another one, by the id that the
  model gave it and the moment at which it began: models' ids alone are not always their own.
- A prompt is known by its message's id, and so is the turn that it begins: OpenCode has no other id for its end.
- What a part injects (`synthetic`) nobody typed.
- `run "a b"` puts quotation marks around the prompt, which are taken off.
- Inputs are told by the names that summaries read (`file_path`, `old_string`, …), a file's content without the lines
  that OpenCode numbers for its model, a command's failure by its exit code, which OpenCode calls completed.
- A subagent is a session of its own: its calls belong to the session that it was started from.
"""

from __future__ import annotations

from typing import Any

import msgspec

from siftd.clients.facts import column_text
from siftd.clients.media import without_media
from siftd.clients.opencode.tools import known_tool, standard_name
from siftd.clients.own import ids_alone, is_own_call
from siftd.model import Event, Outcome

CLIENT = "opencode"
PROMPT = "chat.message"
TEXT = "text"
TURN_END = "session.idle"
COMPACTION = "session.compacted"
ENDED = ("completed", "error")

_NAMES = {
    "filePath": "file_path",
    "oldString": "old_string",
    "newString": "new_string",
    "replaceAll": "replace_all",
    "patchText": "patch",
}
_UNKNOWN_TOOL = "invalid"
"""The tool that answers in the place of one that is none."""

_ABORTED = "Tool execution aborted"

Payload = dict[str, Any]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a fact was told."""

    session_id: str
    ts: int
    cwd: str | None = None
    agent_id: str | None = None
    from_transcript: bool = False


def tool_event(origin: Origin, part: Payload) -> Event | None:
    """A call that has ended; None for one that has not, or for what is no call."""
    state = part.get("state")
    if part.get("type") != "tool" or not isinstance(state, dict) or state.get("status") not in ENDED:
        return None
    given, name = state.get("input"), part.get("tool")
    if not isinstance(name, str) or not name:
        return None
    metadata = state.get("metadata")
    facts: Payload = metadata if isinstance(metadata, dict) else {}
    if name == _UNKNOWN_TOOL and isinstance(given, dict) and isinstance(given.get("tool"), str):
        name, answer, outcome = given["tool"], {"error": given.get("error")}, "failed"
        given = None
    else:
        answer, outcome = _answer(name, state, facts)
    known, name = known_tool(name), standard_name(name)
    if "tool_response" in answer and is_own_call(known.action, name, given):
        answer = {"tool_response": ids_alone(answer["tool_response"])}
    spawned = facts.get("sessionId") if known.action == "agent" else None
    identity, native = _ids("tool", part.get("id"), _call_id(part, state))
    return _event(
        origin,
        kind="tool",
        tool=column_text(name),
        action=known.action,
        payload=without_media({"tool_input": _normalised(given), **answer}),
        identity=identity,
        native_id=native,
        outcome=outcome,
        spawned_agent_id=spawned if isinstance(spawned, str) and spawned else None,
        said_by=known.said_by,
    )


def prompt_event(origin: Origin, text: str, message_id: str | None) -> Event:
    """A prompt, its text already put together by `typed`."""
    identity, native = _ids("prompt", message_id, message_id)
    said_by = "agent" if origin.from_transcript or origin.agent_id else "person"
    return _event(
        origin,
        kind="prompt",
        tool=PROMPT,
        payload={"prompt": text},
        identity=identity or ("prompt", text),
        native_id=native,
        said_by=said_by,
    )


def text_event(origin: Origin, text: str, part_id: str | None) -> Event:
    """What the agent said between its calls."""
    identity, native = _ids("text", part_id, part_id)
    return _event(
        origin,
        kind="assistant_text",
        tool=TEXT,
        payload={"text": text.strip()},
        identity=identity or ("text", text),
        native_id=native,
        said_by=_whose(origin),
    )


def end_event(origin: Origin, text: str, message_id: str | None) -> Event:
    """The end of a turn, or of a subagent's; `message_id` is the prompt that began it."""
    identity, native = _ids("stop", message_id, message_id)
    return _event(
        origin,
        kind="subagent_end" if origin.agent_id else "turn_end",
        tool=TURN_END,
        payload={"last_assistant_message": text.strip()},
        identity=identity or ("stop", origin.agent_id or "", text),
        native_id=native,
        said_by=_whose(origin),
    )


def compaction_event(origin: Origin, text: str, part_id: str | None) -> Event:
    """What the agent kept of a session that was compacted."""
    identity, native = _ids("account", part_id, part_id)
    return _event(
        origin,
        kind="compaction",
        tool=COMPACTION,
        payload={"summary": text.strip()},
        identity=identity or ("account", text),
        native_id=native,
        said_by="agent",
    )


def typed(parts: Any) -> str:
    """Return what a person typed of a message's parts; "" where nobody typed anything."""
    texts = [
        text
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict)
        and part.get("type") == "text"
        and not part.get("synthetic")
        and not part.get("ignored")
        if isinstance(text := part.get("text"), str)
    ]
    said = "\n".join(texts).strip()
    return said[1:-1].strip() if len(said) > 1 and said[0] == said[-1] == '"' and '"' not in said[1:-1] else said


def canonical_text(value: Any) -> str:
    """Return a text that is the same for equal values."""
    return msgspec.json.encode(value, order="deterministic").decode()


def _answer(tool: str, state: Payload, facts: Payload) -> tuple[Payload, Outcome]:
    """Return what a call answered, and how it ended."""
    if state.get("status") == "error":
        is_interrupted = facts.get("interrupted") is True or state.get("error") == _ABORTED
        return {"error": state.get("error")}, "interrupted" if is_interrupted else "failed"
    output = state.get("output")
    if tool == "bash":
        printed, code = facts.get("output", output), facts.get("exit")
        if isinstance(code, int) and code:
            return {"error": f"Exit code {code}\n{printed}"}, "failed"
        return {"tool_response": {"output": printed, "exit_code": code}}, "ok"
    shown = facts.get("display")
    if tool == "read" and isinstance(shown, dict) and isinstance(shown.get("text"), str):
        extent = {"startLine": shown.get("lineStart"), "totalLines": shown.get("totalLines")}
        return {"tool_response": {"file": {"content": shown["text"], **extent}}}, "ok"
    return {"tool_response": output}, "ok"


def _normalised(given: Any) -> Any:
    """The input by the names that summaries read, in its edits too."""
    if isinstance(given, list):
        return [_normalised(each) for each in given]
    if not isinstance(given, dict):
        return given
    return {_NAMES.get(key, key): _normalised(each) if key == "edits" else each for key, each in given.items()}


def _call_id(part: Payload, state: Payload) -> str | None:
    """Return what a call and its copy in a fork have in common."""
    call, time = part.get("callID"), state.get("time")
    began = time.get("start") if isinstance(time, dict) else None
    return f"{call}@{began}" if call and isinstance(began, int) else None


def _ids(kind: str, own: Any, native: Any) -> tuple[tuple[str, ...], str | None]:
    """Return identity and native id; nothing where OpenCode gave no id."""
    if not isinstance(own, str) or not own:
        return (), None
    return (kind, own), native if isinstance(native, str) and native else own


def _whose(origin: Origin) -> str:
    return "output" if origin.agent_id else "agent"


def _event(origin: Origin, **fact: Any) -> Event:
    return Event(
        client=CLIENT,
        session_id=origin.session_id,
        ts=origin.ts,
        cwd=origin.cwd,
        agent_id=origin.agent_id,
        from_transcript=origin.from_transcript,
        **fact,
    )
