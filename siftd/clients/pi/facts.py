"""What the extension's reports and a session's lines of the same fact have in common.

A call has the model's id in both. A prompt and a turn's end have none, and are counted among their equals. A command's
exit code is the last line of what failed; inputs have the names that summaries read, a single edit as one.
"""

from __future__ import annotations

import re
from typing import Any

from siftd.clients.facts import Answer, Facts, Origin, column_text
from siftd.clients.failed import as_error
from siftd.clients.media import without_media
from siftd.clients.pi.tools import known_tool
from siftd.model import Event

CLIENT = "pi"
FACTS = Facts(CLIENT, prompt_name="before_agent_start", end_name="agent_end")
ENDINGS = ("stop", "length", "aborted")
"""How a message stops that is the last of its turn."""

_OF_A_FILE = {"read", "edit", "write"}
_NAMES = {"path": "file_path"}
_EDIT_NAMES = {"oldText": "old_string", "newText": "new_string"}
_EXIT = re.compile(r"\s*Command exited with code (\d{1,4})\s*\Z")
_ABORTED = "Command aborted"


def call_event(origin: Origin, tool: str, call_id: str | None, given: Any, content: Any, *, is_error: bool) -> Event:
    """A call that has ended."""
    return FACTS.call(
        origin,
        column_text(tool),
        known_tool(tool),
        call_id,
        without_media(_normalised(tool, given)),
        _answer(text_of(content), is_error=is_error, is_command=tool == "bash"),
    )


def text_of(content: Any) -> str:
    """Return the texts of a message, with a word for whatever else it holds."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [each.get("text") for each in blocks if isinstance(each, dict) and each.get("type") == "text"]
    return "\n".join(each for each in texts if isinstance(each, str))


def _answer(text: str, *, is_error: bool, is_command: bool) -> Answer:
    if not is_error:
        return Answer({"tool_response": {"output": text} if is_command else text}, "ok")
    ended = _EXIT.search(text[-100:]) if is_command else None
    if ended is None:
        return Answer({"error": text}, "interrupted" if text.rstrip().endswith(_ABORTED) else "failed")
    output = text[: len(text) - len(ended[0])].rstrip("\n") + "\n"
    return Answer({"error": as_error(output, int(ended[1]))}, "failed")


def _normalised(tool: str, given: Any) -> Any:
    if not isinstance(given, dict) or tool not in _OF_A_FILE:
        return given
    normalised = {_NAMES.get(key, key): each for key, each in given.items()}
    edits = normalised.get("edits")
    if isinstance(edits, list) and all(isinstance(each, dict) for each in edits):
        renamed = [{_EDIT_NAMES.get(key, key): each for key, each in edit.items()} for edit in edits]
        normalised = {**normalised, "edits": renamed} if len(renamed) != 1 else {**normalised, **renamed[0]}
        if len(renamed) == 1:
            del normalised["edits"]
    return normalised
