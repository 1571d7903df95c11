"""What Codex's hooks and rollouts have in common: one fact, one payload, however it arrived.

Recorded from Codex CLI 0.169. Where the two tell a fact differently:

- a hook's `apply_patch` answers with a head (`Exit code: 0`, `Wall time`), a rollout without;
- in code mode a rollout holds no patch as it was written, but what it changed. A call's id is unique, so a patch and
  the task of a subagent, which may be encrypted in a rollout, are no part of what a call is known by;
- a command's exit code is in the rollout alone.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from siftd.clients.codex.tools import PATCH, SPAWN, TOOLS
from siftd.clients.facts import Answer, Facts, Origin, canonical
from siftd.clients.failed import as_error
from siftd.clients.tolerant_json import MAX_DEPTH
from siftd.clients.tool import find_tool
from siftd.model import Event

CLIENT = "codex"
PROMPT = "UserPromptSubmit"
FACTS = Facts(CLIENT, prompt_name=PROMPT, end_name="Stop")

_HEAD = re.compile(
    r"(?:(?:Exit code|Wall time|Chunk ID|Process exited with code|Original token count|Total output lines)\b[^\n]*\n)+"
    r"(?:Output:(?:\n|\Z))?"
)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})\b", re.MULTILINE)
_HEAD_CHARS = 400
_REQUEST = "## My request for Codex:"
"""What stands before what a person typed in an editor, behind what the editor tells of itself."""
_MACHINERY = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "# AGENTS.md instructions for ",
)
"""How texts begin that stand in a person's place and are the client's own."""


def call(
    origin: Origin, tool: str, call_id: str | None, tool_input: Any, answer: Answer, *, spawned: str | None = None
) -> Event:
    """A finished tool call."""
    return FACTS.call(origin, tool, find_tool(TOOLS, tool), call_id, tool_input, answer, spawned=spawned)


def typed_prompt(text: str) -> str | None:
    """What a person typed; None where nobody typed anything."""
    text = text.rpartition(_REQUEST)[2].strip()
    return None if not text or text.startswith(_MACHINERY) else text


def output_of(text: str) -> tuple[str, int | None]:
    """Return what a command printed, without what Codex writes before it, and its exit code if that says one."""
    head = _HEAD.match(text[:_HEAD_CHARS])
    if head is None:
        return text, None
    code = _EXIT.search(head[0])
    return text[head.end() :], int(code[1]) if code else None


def ended(output: str, exit_code: int | None) -> Answer:
    """What came of a command, or of a patch."""
    if exit_code:
        return Answer({"error": as_error(output, exit_code)}, "failed")
    return Answer({"tool_response": output}, "ok")


def answered(text: Any) -> Answer:
    """What a tool of the client's own answered: a text, in which subagents' tools write JSON."""
    return Answer({"tool_response": decoded(text)}, "ok")


def decoded(text: Any) -> Any:
    """Return the object that a text is the JSON of; any other value as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith("{") or text.count("{") + text.count("[") > MAX_DEPTH:
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return text
    return value if isinstance(value, dict) else text


def answered_by_server(result: Any) -> Answer:
    """What an MCP server's tool answered."""
    if isinstance(result, dict) and result.get("isError") is True:
        return refused(text_of(result.get("content")), "failed")
    return Answer({"tool_response": result}, "ok")


def refused(why: str, reason: str) -> Answer:
    """What came of a call of which no hook tells: its client did not run it, or says nothing of one that failed."""
    return Answer({"error": why, "_unhooked": reason}, "failed")


def text_of(content: Any) -> str:
    """The texts of a message, or of a result, one below the other."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text", content.get("content")))
    texts = [each.get("text") for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def identify_input(tool: str, tool_input: Any) -> str:
    """Return a canonical text of what a call was given, as far as hook and rollout agree on it."""
    return "" if tool in (PATCH, SPAWN) else canonical(tool_input)
