"""What a hook's input and a session file of Gemini CLI have in common.

The client gives its hooks no id of a call, so a call is known by its tool and its arguments, counted. Recorded from
Gemini CLI 0.61:

- A result is the text that the model was given, without the tag around what others said and without what hooks added.
  What the client shows a person (`returnDisplay`, whole files of every edit) is not kept.
- A command that ended with a status other than 0 is a success to the client, and says so in its text alone.
- A failed call is told by the message of its error: the model is given that in the file, another text in the hook.
- A turn's end brings everything that the agent said in it, each text on a line of its own: so hooks tell it.
- Context that hooks gave stands in tags around a prompt, and in what the hook itself is told of the prompt.
"""

from __future__ import annotations

from typing import Any

from siftd.clients.facts import Answer, Facts
from siftd.clients.gemini_cli.tools import TOOLS
from siftd.clients.gemini_parts import command_answer, text_of, trusted_text
from siftd.clients.tool import Tool, find_tool

CLIENT = "gemini-cli"
PROMPT = "BeforeAgent"
FACTS = Facts(CLIENT, PROMPT, "AfterAgent")
_CONTEXT = "<hook_context>", "</hook_context>"
"""Around what a hook gave; the client writes any angle bracket inside as an entity."""
_CONTEXTS_MAX = 8
_REFERENCED = "--- Content from referenced files ---"
"""Behind it stand the files that a prompt names with `@`."""
_NOTHING_SAID = "[no response text]"


def known_tool(name: str) -> Tool:
    """Return what is known of a tool; `mcp_<server>_<tool>` is another server's."""
    return find_tool(TOOLS, name)


def settle_input(tool_input: Any) -> Any:
    """The input with the name for a file's path that older versions gave otherwise."""
    if isinstance(tool_input, dict) and isinstance(path := tool_input.get("absolute_path"), str):
        return {"file_path": path, **{key: each for key, each in tool_input.items() if key != "absolute_path"}}
    return tool_input


def answer_of(tool: str, tool_input: Any, content: Any) -> Answer:
    """What a call that did not fail answered."""
    text = without_hook_context(text_of(content))
    if known_tool(tool).action == "run" and isinstance(tool_input, dict):
        return command_answer(text, tool_input.get("command"))
    return Answer({"tool_response": trusted_text(text)}, "ok")


def failure_of(message: Any) -> Answer:
    """What a call that failed answered."""
    text = message if isinstance(message, str) else text_of(message)
    return Answer({"error": trusted_text(without_hook_context(text))}, "failed")


def typed_prompt(content: Any) -> str | None:
    """What a person typed, without what was put around it; None where nobody typed anything."""
    parts = content if isinstance(content, list) else [content]
    text = "".join(without_hook_context(text_of(part)) for part in parts)
    return without_hook_context(text).partition(_REFERENCED)[0].strip() or None


def without_hook_context(text: str) -> str:
    """Cut what hooks gave from the beginning and the end of a text; in its middle somebody speaks of such a tag."""
    opening, closing = _CONTEXT
    if closing not in text:
        return text
    for _ in range(_CONTEXTS_MAX):
        text = text.strip()
        if text.startswith(opening):
            text = text.partition(closing)[2]
        elif text.endswith(closing) and "<" not in text[text.rfind(opening) + len(opening) : -len(closing)]:
            text = text[: text.rfind(opening)]
        else:
            break
    return text


def said_at_the_end(text: Any) -> str:
    """Everything that the agent said in a turn."""
    return text if isinstance(text, str) and text != _NOTHING_SAID else ""
