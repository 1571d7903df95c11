"""What droid's hooks and session files have in common: one fact, one payload, however it arrived.

Recorded from droid 0.215. Its hooks give calls no id, and none runs after a call that failed. So a call that ended well
is known by its tool and its input, counted among its equals, and one that failed by the id that the file gives it. The
end of a turn is told by files alone: its hook brings no text. Inputs get the names that everybody else gives them
(`old_string`, `new_string`), tools of a server theirs (`mem___search` is `mcp__mem__search`).
"""

from __future__ import annotations

import re
from typing import Any

from siftd.clients.droid.tools import CHANGES, SHELL, TOOLS
from siftd.clients.facts import Answer, Facts, Origin, column_text
from siftd.clients.failed import as_error
from siftd.clients.tool import find_tool
from siftd.model import Event

CLIENT = "droid"
PROMPT = "UserPromptSubmit"
FACTS = Facts(CLIENT, prompt_name=PROMPT, end_name="Stop")

_SERVER = "___"
_NAMES = {"old_str": "old_string", "new_str": "new_string"}
_EXIT = re.compile(r"\n{0,3}\[Process exited with code (-?\d{1,10})\]\s*\Z")
_END_CHARS = 80
_FAILED = re.compile(r"Error: Command failed \(exit code: -?\d{1,10}\)\n")
_SPAWNED = re.compile(r"session_id: ([0-9a-f-]{36})(?:\n|\Z)")
_DONE = '{"success":true'
_MACHINERY = ("<system-reminder>", "# Task Tool Invocation")
"""How texts begin that stand in a person's place and are the client's own, or a parent agent's."""


def typed_prompt(text: str) -> str | None:
    """What a person typed; None where nobody typed anything."""
    text = text.strip()
    return None if not text or text.startswith(_MACHINERY) else text


def ended_well(origin: Origin, tool: str, tool_input: Any, response: Any) -> Event:
    """A call of which both hook and file tell."""
    tool = _name(tool)
    spawned = _SPAWNED.match(response) if tool == "Task" and isinstance(response, str) else None
    return FACTS.call(
        origin,
        tool,
        find_tool(TOOLS, tool),
        None,
        _normalised(tool_input),
        Answer({"tool_response": _response(tool, response)}, "ok"),
        spawned=spawned[1] if spawned else None,
    )


def failed(origin: Origin, tool: str, call_id: str, tool_input: Any, text: str) -> Event:
    """A call of which the file alone tells."""
    tool = _name(tool)
    if tool == SHELL:
        output, code = _printed(_FAILED.sub("", text, count=1))
        error = as_error(output, code)
    else:
        error = text.removeprefix("Error: ")
    answer = Answer({"error": error, "_unhooked": "failed"}, "failed")
    return FACTS.call(origin, tool, find_tool(TOOLS, tool), call_id, _normalised(tool_input), answer)


def _name(tool: str) -> str:
    server, found, name = column_text(tool).partition(_SERVER)
    return f"mcp__{server}__{name}" if found and server and name else column_text(tool)


def _normalised(tool_input: Any) -> Any:
    if isinstance(tool_input, list):
        return [_normalised(each) for each in tool_input]
    if not isinstance(tool_input, dict):
        return tool_input
    renamed = {_NAMES.get(key, key): value for key, value in tool_input.items()}
    return renamed | ({"edits": _normalised(renamed["edits"])} if "edits" in renamed else {})


def _response(tool: str, response: Any) -> Any:
    if not isinstance(response, str):
        return response
    if tool in CHANGES and response.startswith(_DONE):
        return {"success": True}  # the rest repeats the input
    return _printed(response)[0] if tool == SHELL else response


def _printed(text: str) -> tuple[str, int | None]:
    """Return what a command printed, and its exit code, which stands behind it."""
    ended = _EXIT.search(text, max(0, len(text) - _END_CHARS))
    if ended is None:
        return text, None
    output = text[: ended.start()]
    return output + "\n" if output else output, int(ended[1])
