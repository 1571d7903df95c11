"""What a hook's input and a session file of Kimi Code have in common.

Recorded from Kimi Code 2.1:

- A prompt is a list of blocks, and has its id in the file alone: it is known by its text, counted.
- A failed call is told as such, a command with a status other than 0 too, whose output ends with
  `Command failed with exit code: 1.`
- The hook of a turn's end has no text and does not say whose turn ended, a subagent's or the session's; that of a
  subagent's end names no agent. So files alone tell of ends. Hooks of calls that ended run beside the turn, and some
  are lost: the file has the call.
- The path of a file is `path`.
"""

from __future__ import annotations

import re
from typing import Any

from siftd.clients.facts import Answer, Facts
from siftd.clients.failed import as_error
from siftd.clients.injected import without_tags
from siftd.clients.kimi_code.tools import TOOLS
from siftd.clients.tool import Tool, find_tool

CLIENT = "kimi-code"
PROMPT = "UserPromptSubmit"
FACTS = Facts(CLIENT, PROMPT, "Stop")
_INJECTED = "hook_result|system-reminder|siftd-memory"
_FAILED = re.compile(r"\n?Command failed with exit code: (\d{1,10})\.?\s*\Z")
_FAILED_CHARS_MAX = 60
_OF_FILES = ("read", "edit", "write")


def known_tool(name: str) -> Tool:
    return find_tool(TOOLS, name)


def settle_input(tool: str, tool_input: Any) -> Any:
    """The input of a call on a file with `file_path`, as readers of payloads know it."""
    if isinstance(tool_input, dict) and "path" in tool_input and known_tool(tool).operation in _OF_FILES:
        return {"file_path" if key == "path" else key: each for key, each in tool_input.items()}
    return tool_input


def answer_of(output: Any) -> Answer:
    """What a call that did not fail answered."""
    return Answer({"tool_response": output if isinstance(output, str) else text_of(output)}, "ok")


def failure_of(tool: str, error: Any) -> Answer:
    """What a call that failed answered; a command's status is told in front of its output."""
    text = error if isinstance(error, str) else text_of(error)
    if known_tool(tool).action == "run" and (status := _FAILED.search(text, max(0, len(text) - _FAILED_CHARS_MAX))):
        text = as_error(text[: status.start()], int(status[1]))
    return Answer({"error": text}, "failed")


def text_of(blocks: Any) -> str:
    """Return the text of a list of blocks."""
    texts = [block.get("text") for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def typed_prompt(blocks: Any) -> str | None:
    """What a person typed, without what was put around it; None where nobody typed anything."""
    text = blocks if isinstance(blocks, str) else text_of(blocks)
    return without_tags(text, _INJECTED).strip() or None
