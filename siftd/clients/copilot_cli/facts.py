"""What a hook's input and a session file's records of the same fact have in common.

Both decoders make their events here, so that one fact has one identity and one payload however it arrived (recorded
from Copilot CLI 1.0.102):

- Hooks are told no id of a call or a prompt, but the time at which the hook was called, to the millisecond. The session
  file keeps it beside the call (`hook.start`). So that time is the id of what a hook was told: two hook files that are
  both wired tell one event. What no hook was called for has the file's own id, and no hook tells it.
- A hook whose event has a name like Claude Code's is told Claude Code's names of tools; files have Copilot's own.
- A command that fails is a success whose text ends in its exit status.
- The closing words of a turn are the agent's last text, which the file alone has: a turn's end says nothing.
- Inputs are settled to the field names of Claude Code's tools (`file_path`, `old_string`, `new_string`, `content`,
  `command` for a patch), which whoever shows them knows.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from siftd.clients.copilot_cli.tools import PATCH_MARK, TOOLS, own_name
from siftd.clients.facts import Answer, Facts, Origin, Payload, canonical, column_text, milliseconds
from siftd.clients.failed import as_error
from siftd.clients.tool import OF_A_SERVER, find_tool
from siftd.model import Event

CLIENT = "copilot-cli"
VSCODE = "vscode"
PROMPT = "userPromptSubmitted"
FACTS = Facts(CLIENT, PROMPT, "agentStop", "subagentStop")
OF_VSCODE = FACTS._replace(client=VSCODE)


def called_at(timestamp: Any) -> str | None:
    """Return what names a fact by the time at which its hook was called."""
    ms = milliseconds(timestamp)
    return None if ms is None else f"at {ms}"


def named(origin: Origin, native: str | None) -> Origin:
    """Return the origin of a prompt, or of a turn's end, that has this name."""
    return msgspec.structs.replace(origin, prompt_id=native)


def call_event(
    facts: Facts,
    origin: Origin,
    tool: str,
    tool_input: Any,
    answer: Payload,
    native: str | None,
    spawned: str | None = None,
) -> Event:
    """A finished call; `answer` is {"tool_response": text} or {"error": text}."""
    tool = column_text(own_name(tool, tool_input))
    known = find_tool(TOOLS, tool)
    if "-" in tool and tool.lower() not in TOOLS:
        known = OF_A_SERVER
    ended = _ended(answer, is_command=known.operation == "shell")
    spawned = spawned if known.action == "agent" else None
    return facts.call(origin, tool, known, native, settle_input(tool_input), ended, spawned=spawned)


def account(text: str) -> str:
    """Return the account of a session that a compaction leaves, without the tag around it."""
    return text.strip().removeprefix("<summary>").removesuffix("</summary>").strip()


_EXIT = re.compile(r"\n?<shellId: [^<>\n]{0,40} completed with exit code (-?\d{1,5})>\s{0,8}\Z")
_TAIL_CHARS = 120


def _ended(answer: Payload, *, is_command: bool) -> Answer:
    """Return what a call answered and how it ended. A command's exit status stands at the end of its text."""
    if "error" in answer:
        return Answer(answer, "failed")
    text = answer.get("tool_response")
    if not is_command or not isinstance(text, str):
        return Answer(answer, "ok")
    found = _EXIT.search(text, max(0, len(text) - _TAIL_CHARS))
    if found is None:
        return Answer(answer, "ok")
    text = text[: found.start()]
    if int(found[1]) == 0:
        return Answer({"tool_response": text}, "ok")
    return Answer({"error": as_error(text, int(found[1]))}, "failed")


_GUIDED = 'Tool "{}" succeeded. Additional guidance from postToolUse hooks:\n'


def without_guidance(text: str, tool: str) -> str:
    """Return a result as the tool gave it: what hooks added to it for the model stands at its end."""
    before, found, _ = text.rpartition("\n\n" + _GUIDED.format(tool))
    return before if found else text


_STANDARD_KEYS = {
    "path": "file_path",
    "filePath": "file_path",
    "old_str": "old_string",
    "oldString": "old_string",
    "new_str": "new_string",
    "newString": "new_string",
    "file_text": "content",
    "replacements": "edits",
}


def settle_input(tool_input: Any) -> Any:
    """Return an input with the field names that whoever shows it knows."""
    if isinstance(tool_input, str) and PATCH_MARK in tool_input[:200]:
        return {"command": tool_input}
    if not isinstance(tool_input, dict):
        return tool_input
    normalised = {key: each for key, each in tool_input.items() if key not in _STANDARD_KEYS}
    if "pattern" in tool_input or "query" in tool_input:
        return tool_input  # where it looks is no file
    for key, name in _STANDARD_KEYS.items():
        if key in tool_input and name not in normalised:
            normalised[name] = tool_input[key]
    if isinstance(normalised.get("edits"), list):
        normalised["edits"] = [settle_input(each) for each in normalised["edits"]]
        paths = {each.get("file_path") for each in normalised["edits"] if isinstance(each, dict)}
        if len(paths) == 1 and isinstance(path := paths.pop(), str):
            normalised.setdefault("file_path", path)
    if isinstance(patch := normalised.get("input"), str) and PATCH_MARK in patch[:200]:
        normalised["command"] = normalised.pop("input")
    return normalised


def input_identity(tool_input: Any) -> str:
    """A canonical text of an input, the same for hook and session file of one call."""
    return canonical(tool_input)
