"""What a hook's input and a session file of Qwen Code have in common.

Recorded from Qwen Code 0.24:

- A call's id is `tool_call_id`: what stands under `tool_use_id` is made up anew for each hook.
- `prompt_id` is on the hook's side alone, so a prompt and a turn's end are known by their text, counted.
- A command that ended with a status other than 0 is a failure, and the text of its error is that of a result.
- What a hook gave stands bare at the end of a result in the file. Behind a command's last line (`Process Group PGID`)
  it is known for what it is; elsewhere no reader can tell it from the result. A block of ours is known by its tag
  wherever it stands, and is cut where a fact is taken in.
"""

from __future__ import annotations

from typing import Any

from siftd.clients.facts import Answer, Facts
from siftd.clients.gemini_parts import command_answer, text_of, trusted_text
from siftd.clients.injected import without_tags
from siftd.clients.qwen_code.tools import TOOLS
from siftd.clients.tool import Tool, find_tool

CLIENT = "qwen-code"
PROMPT = "UserPromptSubmit"
FACTS = Facts(CLIENT, PROMPT, "Stop")
_LAST_LINE = "\nProcess Group PGID: "
_INJECTED = "qwen:[a-z-]{1,60}|system-reminder|siftd-memory"


def known_tool(name: str) -> Tool:
    return find_tool(TOOLS, name)


def answer_of(tool: str, tool_input: Any, content: Any) -> Answer:
    """What a call that did not fail answered."""
    text = text_of(content)
    if known_tool(tool).action == "run" and isinstance(tool_input, dict):
        return command_answer(_up_to_the_last_line(text), tool_input.get("command"))
    return Answer({"tool_response": trusted_text(text)}, "ok")


def failure_of(tool: str, tool_input: Any, error: Any, *, is_interrupt: bool = False) -> Answer:
    """What a call that failed, or that a person stopped, answered."""
    text = error if isinstance(error, str) else text_of(error)
    answer = Answer({"error": trusted_text(text)}, "failed")
    if known_tool(tool).action == "run" and isinstance(tool_input, dict):
        answered = command_answer(_up_to_the_last_line(text), tool_input.get("command"))
        answer = answered if answered.outcome == "failed" else answer
    return answer._replace(outcome="interrupted") if is_interrupt else answer


def typed_prompt(text: str) -> str | None:
    """What a person typed, without what was put around it; None where nobody typed anything."""
    return without_tags(text, _INJECTED).strip() or None


def _up_to_the_last_line(text: str) -> str:
    """Cut what stands behind the last line that the client writes below a command's output."""
    begin = text.rfind(_LAST_LINE)
    end = text.find("\n", begin + 1) if begin >= 0 else -1
    return text if end < 0 else text[:end]
