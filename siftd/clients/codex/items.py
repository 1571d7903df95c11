"""What a rollout says that was done: items that are complete (0.16x on), and the events that told it before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from siftd.clients.codex import facts
from siftd.clients.codex.tools import PATCH, SHELL
from siftd.clients.facts import Answer
from siftd.clients.failed import as_error


class Done(NamedTuple):
    """One finished call."""

    id: str
    tool: str
    tool_input: Any
    answer: Answer


def done_by_item(item: Mapping[str, Any], written: Any) -> Done | None:
    """Return the call that an item tells, of which the model wrote `written`; None for an item of another kind."""
    call_id = item.get("id")
    if not isinstance(call_id, str):
        return None
    match item.get("type"):
        case "CommandExecution":
            return _command(call_id, item)
        case "FileChange":
            is_done = item.get("status") == "completed"
            return _patch(call_id, item, written, is_done=is_done)
        case "McpToolCall":
            error = text_or_message(item.get("error"))
            return _server(call_id, item, item.get("result"), error if item.get("status") == "failed" else "")
        case "WebSearch":
            return Done(call_id, "web_search", {"query": item.get("query")}, Answer({"tool_response": None}, "ok"))
    return None


def done_by_event(event: Mapping[str, Any], written: Any) -> Done | None:
    """Return the call that an event of an older version tells, likewise."""
    call_id = event.get("call_id")
    if not isinstance(call_id, str):
        return None
    match event.get("type"):
        case "exec_command_end":
            return _command(call_id, event)
        case "patch_apply_end":
            return _patch(call_id, event, written, is_done=event.get("success") is True)
        case "mcp_tool_call_end":
            invocation, result = event.get("invocation"), event.get("result")
            if not isinstance(invocation, dict) or not isinstance(result, dict):
                return None
            return _server(call_id, invocation, result.get("Ok"), text_or_message(result.get("Err")))
        case "web_search_end":
            return Done(call_id, "web_search", {"query": event.get("query")}, Answer({"tool_response": None}, "ok"))
    return None


def command_of(value: Any) -> str | None:
    """Return the command line of an argument list whose last part a shell reads, or of a text."""
    if isinstance(value, str):
        return value
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    if len(words) > 2 and words[-2] in ("-lc", "-c", "-Command"):
        return words[-1]
    return " ".join(words) or None


def text_or_message(error: Any) -> str:
    """Return an error's text."""
    return facts.text_of(error.get("message", error) if isinstance(error, dict) else error)


def _command(call_id: str, value: Mapping[str, Any]) -> Done | None:
    command = command_of(value.get("command"))
    if command is None:
        return None
    output, code = value.get("aggregated_output"), value.get("exit_code")
    if not isinstance(output, str):
        output = "".join(text for name in ("stdout", "stderr") if isinstance(text := value.get(name), str))
    exit_code = code if isinstance(code, int) else None
    if value.get("status") == "declined":
        answer = facts.refused(output or "declined", "declined")
    elif value.get("status") == "failed" and not exit_code:
        answer = Answer({"error": as_error(output, exit_code)}, "failed")
    else:
        answer = facts.ended(output, exit_code)
    return Done(call_id, SHELL, {"command": command}, answer)


def _patch(call_id: str, value: Mapping[str, Any], written: Any, *, is_done: bool) -> Done:
    output = next((text for name in ("stdout", "stderr") if isinstance(text := value.get(name), str) and text), "")
    patch = written if isinstance(written, str) and "*** Begin Patch" in written else _patch_of(value.get("changes"))
    answer = Answer({"tool_response": output}, "ok") if is_done else facts.refused(output, "failed")
    return Done(call_id, PATCH, {"command": patch}, answer)


def _server(call_id: str, value: Mapping[str, Any], result: Any, error: str) -> Done:
    answer = facts.refused(error, "failed") if error else facts.answered_by_server(result)
    return Done(call_id, f"mcp__{value.get('server')}__{value.get('tool')}", value.get("arguments"), answer)


def _patch_of(changes: Any) -> str:
    """Write a patch of what a rollout says that it changed: in code mode that is all it has."""
    parts = []
    for path, change in changes.items() if isinstance(changes, dict) else ():
        kind = change.get("type") if isinstance(change, dict) else None
        if kind == "add":
            content = str(change.get("content") or "")
            parts.append(f"*** Add File: {path}\n" + "".join(f"+{line}\n" for line in content.splitlines()))
        elif kind == "delete":
            parts.append(f"*** Delete File: {path}\n")
        elif kind == "update":
            moved = f"*** Move to: {move}\n" if (move := change.get("move_path")) else ""
            parts.append(f"*** Update File: {path}\n{moved}{change.get('unified_diff') or ''}")
    body = "".join(each if each.endswith("\n") else f"{each}\n" for each in parts)
    return f"*** Begin Patch\n{body}*** End Patch\n"
