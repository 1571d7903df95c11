"""What a hook's envelope and a transcript's record of the same fact have in common.

Both decoders make their events here, so that one fact has one identity and one payload however it arrived.
Where the two tell it differently (recorded from Claude Code 2.1), this is settled as follows:

- A prompt's id names a *turn*: what a person types while the agent works reaches the hook under the id of
  the turn that is running. So the text belongs to a prompt's identity beside the id.
- A slash command that becomes a prompt is `/name args` in the hook and a `<command-message>` record in the
  transcript; one that the client runs itself (`<command-name>` first) is no prompt.
- A subagent's id is identity enough for its end: in the background it outlives the turn that started it.
- Hooks see the tool's input with absolute paths, coerced numbers and defaults filled in; a transcript keeps
  what the model wrote.
"""

from __future__ import annotations

import posixpath
from typing import Any

import msgspec

from siftd.clients.claude_code.tools import TOOLS
from siftd.clients.injected import without_tags
from siftd.clients.own import ids_alone, is_own_call
from siftd.clients.tool import find_tool
from siftd.model import Event, Outcome

CLIENT = "claude-code"
PROMPT = "UserPromptSubmit"
TURN_END = "Stop"
SUBAGENT_END = "SubagentStop"
TEXT = "AssistantText"
"""What an agent says between its tool calls; no hook's name, transcripts alone tell it."""
COMPACTION = "CompactSummary"
"""What the client tells of a session when it compacts it, in the agent's words; told by transcripts alone."""

Payload = dict[str, Any]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a fact was told."""

    session_id: str
    ts: int
    cwd: str | None = None
    branch: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    from_transcript: bool = False
    transcript: str | None = None


def tool_event(
    origin: Origin, tool: str, tool_use_id: str | None, tool_input: Any, answer: Payload, outcome: Outcome
) -> Event:
    """A finished tool call; `answer` is {"tool_response": ...} or {"error": ...}."""
    known = find_tool(TOOLS, tool)
    if "tool_response" in answer and is_own_call(known.action, tool, tool_input):
        answer = {"tool_response": ids_alone(answer["tool_response"])}
    response = answer.get("tool_response")
    spawned = response.get("agentId") if known.action == "agent" and isinstance(response, dict) else None
    return _event(
        origin,
        kind="tool",
        tool=tool,
        action=known.action,
        payload={"tool_input": tool_input, **answer},
        identity=("tool", tool_use_id) if tool_use_id else (),
        native_id=tool_use_id,
        outcome=outcome,
        spawned_agent_id=spawned if isinstance(spawned, str) else None,
        said_by=known.said_by,
    )


def prompt_event(origin: Origin, text: str) -> Event:
    """A prompt, its text already read by `typed_prompt`."""
    identity = ("prompt", origin.prompt_id, text) if origin.prompt_id else ("prompt", text)
    return _event(
        origin,
        kind="prompt",
        tool=PROMPT,
        payload={"prompt": text},
        identity=identity,
        native_id=origin.prompt_id,
        said_by="agent" if origin.from_transcript or origin.agent_id else "person",
    )


def stop_event(origin: Origin, closing_text: str) -> Event:
    """The end of a turn, or of a subagent when the origin names one."""
    closing_text = closing_text.strip()
    turn = "" if origin.agent_id else origin.prompt_id or ""
    return _event(
        origin,
        kind="subagent_end" if origin.agent_id else "turn_end",
        tool=SUBAGENT_END if origin.agent_id else TURN_END,
        payload={"last_assistant_message": closing_text},
        identity=("stop", origin.agent_id or "", turn, closing_text),
        native_id=origin.agent_id or origin.prompt_id,
        said_by="output" if origin.agent_id else "agent",
    )


def text_event(origin: Origin, text: str, record_id: str | None) -> Event:
    """What an agent said between its tool calls: one block, known by its record's id, of which each holds one."""
    return _event(
        origin,
        kind="assistant_text",
        tool=TEXT,
        payload={"text": text.strip()},
        identity=("text", record_id) if record_id else ("text", text),
        native_id=record_id,
        said_by="output" if origin.agent_id else "agent",
    )


def compaction_event(origin: Origin, text: str, record_id: str | None) -> Event:
    """The client's own account of a session so far, as a compaction leaves it."""
    return _event(
        origin,
        kind="compaction",
        tool=COMPACTION,
        payload={"summary": text.strip()},
        identity=("account", record_id) if record_id else ("account", text),
        native_id=record_id,
        said_by="agent",
    )


def _event(origin: Origin, **fact: Any) -> Event:
    return Event(
        client=CLIENT,
        session_id=origin.session_id,
        ts=origin.ts,
        cwd=origin.cwd,
        branch=origin.branch,
        prompt_id=origin.prompt_id,
        agent_id=origin.agent_id,
        from_transcript=origin.from_transcript,
        transcript=origin.transcript,
        **fact,
    )


# Prompts ------------------------------------------------------------------------------------------------

_INJECTED = "siftd-memory|system-reminder|ide_opened_file|ide_selection|ide_diagnostics"
_MACHINERY = (
    "<task-notification>",
    "<agent-notification>",
    "<local-command-",
    "<command-name>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "[Request interrupted by user",
    "Operation stopped by hook:",
    "Caveat: The messages below were generated by the user while running local commands.",
)
"""How texts begin that stand in a person's place and are the client's own."""
_OF_A_TASK = {"task_id", "tool_use_id", "description", "task_type"}


def typed_prompt(text: str) -> str | None:
    """What a person typed, without blocks that were injected around it; None where nobody typed anything."""
    text = without_tags(text, _INJECTED).strip()
    if (name := _command_name(text)) is not None:
        text = f"/{name} {between(text, '<command-args>', '</command-args>') or ''}"
    if text.startswith("/"):
        return " ".join(text.split(None, 1)).strip()  # the client keeps name and arguments, not the space between
    return None if not text or text.startswith(_MACHINERY) or _is_task(text) else text


def _is_task(text: str) -> bool:
    """Whether it is what the client notes of a task that it began in the background, and queues beside prompts."""
    if not text.startswith('{"task_id"'):
        return False
    try:
        noted = msgspec.json.decode(text.encode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return False
    return isinstance(noted, dict) and noted.keys() <= _OF_A_TASK


def _command_name(text: str) -> str | None:
    """Return the command that a transcript's record of a slash command names."""
    if not text.startswith("<command-message>"):
        return None
    rest = text.partition("</command-message>")[2].lstrip()
    name = between(rest, "<command-name>", "</command-name>") if rest.startswith("<command-name>") else None
    return None if name is None else name.removeprefix("/")


def between(text: str, opening: str, closing: str) -> str | None:
    """What stands between the first opening and the closing behind it."""
    within, found, _ = text.partition(opening)[2].partition(closing)
    return within if found else None


# Inputs of tools ----------------------------------------------------------------------------------------

_PATH_KEYS = ("file_path", "notebook_path")
_NUMBER_KEYS = ("offset", "limit")

_DEFAULTS: dict[str, Payload] = {"Edit": {"replace_all": False}, "ToolSearch": {"max_results": 5}}
"""What the client fills in before its hooks see an input."""

_ESSENTIAL: dict[str, tuple[str, ...]] = {
    "Agent": ("prompt",),
    "AskUserQuestion": ("questions",),
    "Bash": ("command",),
    "CronCreate": ("cron", "prompt"),
    "Edit": ("file_path", "old_string", "new_string"),
    "ExitPlanMode": (),
    "MultiEdit": ("file_path", "edits"),
    "NotebookEdit": ("notebook_path", "cell_id", "new_source"),
    "Read": ("file_path", "offset", "limit", "pages"),
    "Task": ("prompt",),
    "TaskOutput": ("task_id",),
    "TodoWrite": (),
    "ToolSearch": ("query",),
    "Write": ("file_path", "content"),
}
"""The part of an input that neither side fills in or rewrites. ExitPlanMode and TodoWrite are given theirs,
or have it coerced, on the hook's side alone; other tools are taken whole."""


def settle_input(tool: str, tool_input: Any, cwd: str | None) -> Any:
    """The input as hooks tell it: paths of file tools absolute, numbers as numbers, defaults filled in."""
    if not isinstance(tool_input, dict):
        return tool_input
    changes: Payload = {}
    for key in _PATH_KEYS:
        path = tool_input.get(key)
        if isinstance(path, str) and path.strip():
            changes[key] = _absolute(path, cwd or "")
    if tool == "Read":
        changes |= {key: int(tool_input[key]) for key in _NUMBER_KEYS if _is_digits(tool_input.get(key))}
    defaults = _DEFAULTS.get(tool, {})
    return {**defaults, **tool_input, **changes} if changes or defaults else tool_input


def _absolute(path: str, cwd: str) -> str:
    """As the client resolves it; a home's `~` and a Windows path are left to their owner."""
    path = path.strip()
    if path.startswith("/") and "/." not in path and "//" not in path:
        return path.rstrip("/") or path
    if path.startswith("~") or "\\" in path or not posixpath.isabs(posixpath.join(cwd, path)):
        return path
    return posixpath.normpath(posixpath.join(cwd, path))


def _is_digits(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16


def input_identity(tool: str, tool_input: Any) -> str:
    """A canonical text of the essential input, the same for hook and transcript of one call.

    A tool_use_id that comes back with another text is another call. Paths count by their last part, numbers
    by their digits, and what is empty or false, as defaults are, does not count.
    """
    keys = _ESSENTIAL.get(tool)
    if keys is not None and isinstance(tool_input, dict):
        tool_input = {key: tool_input[key] for key in keys if key in tool_input}
    return msgspec.json.encode(_essence(tool_input), order="deterministic").decode()


def _essence(value: Any) -> Any:
    match value:
        case dict():
            parts = {key: _essence_of_member(key, item) for key, item in value.items()}
            return {key: part for key, part in parts.items() if part}
        case list():
            return [_essence(item) for item in value]
        case None | False:
            return ""
        case True:
            return "true"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return " ".join(str(value).split())


def _essence_of_member(key: str, value: Any) -> Any:
    if isinstance(value, str) and (key in _PATH_KEYS or key == "path"):
        return posixpath.basename(posixpath.normpath(value.strip().replace("\\", "/")))
    return _essence(value)
