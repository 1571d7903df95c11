"""What a hook's input and a session file of Antigravity have in common: a step of a conversation, by its number.

The names of a call's arguments are settled to those that readers of payloads know.
"""

from __future__ import annotations

from typing import Any

from siftd.clients.antigravity.tools import TOOLS
from siftd.clients.facts import Answer, Facts, Origin
from siftd.clients.failed import as_error
from siftd.clients.injected import without_tags
from siftd.clients.tool import find_tool
from siftd.model import Event

CLIENT = "antigravity"
PROMPT = "PreInvocation"
FACTS = Facts(CLIENT, PROMPT, "Stop")
_INJECTED = "siftd-memory|ADDITIONAL_METADATA|EPHEMERAL_MESSAGE"
_REQUEST = "<USER_REQUEST>", "</USER_REQUEST>"
_NAMES = {
    "CommandLine": "command",
    "AbsolutePath": "file_path",
    "TargetFile": "file_path",
    "TargetContent": "old_string",
    "ReplacementContent": "new_string",
    "CodeContent": "content",
    "Pattern": "pattern",
    "Query": "query",
    "Url": "url",
    "DirectoryPath": "path",
    "SearchPath": "path",
    "SearchDirectory": "path",
    "ReplacementChunks": "edits",
}
_EXIT = "exit status "


def step_id(conversation: str, step: int) -> str:
    """Return what names a step among those of all conversations."""
    return f"{conversation}/{step}"


def call_event(origin: Origin, name: str, args: Any, step: int, answer: Answer) -> Event:
    native_id = step_id(origin.session_id, step)
    return FACTS.call(origin, name, find_tool(TOOLS, name), native_id, settle_input(args), answer)


def settle_input(args: Any) -> Any:
    """The arguments of a call by the names that readers of payloads know; those of single edits too."""
    match args:
        case dict():
            return {_NAMES.get(key, key): settle_input(each) if key in _NAMES else each for key, each in args.items()}
        case list():
            return [settle_input(each) for each in args]
        case _:
            return args


def answer_of(output: str, error: Any) -> Answer:
    """What came of a call. An error such as `exit status 1` is a command's."""
    if not error:
        return Answer({"tool_response": output}, "ok")
    text = error if isinstance(error, str) else str(error)
    status = text.removeprefix(_EXIT)
    if text.startswith(_EXIT) and status.isdigit() and len(status) < 8:
        return Answer({"error": as_error(output, int(status))}, "failed")
    return Answer({"error": "\n".join(filter(None, (text, output)))}, "failed")


def typed_prompt(text: str) -> str | None:
    """What a person typed; None where nobody typed anything."""
    begin, end = text.find(_REQUEST[0]), text.rfind(_REQUEST[1])
    if 0 <= begin < end:
        text = text[begin + len(_REQUEST[0]) : end]
    return without_tags(text, _INJECTED).strip() or None
