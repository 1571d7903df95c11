"""What Cline's hooks and its sessions' documents of the same fact have in common.

A call has one id in both. A prompt and a turn's end have none, and are counted among their equals. Results are entries
that each say whether they succeeded; a document holds a single one as JSON in a string. What hooks inject, and what a
person typed, stand in tags. Inputs are told by the names that summaries read.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from siftd.clients.cline.tools import known_tool, standard_name
from siftd.clients.facts import Answer, Facts, Origin, column_text
from siftd.clients.failed import as_error
from siftd.clients.injected import without_tags
from siftd.clients.media import without_media
from siftd.model import Event

CLIENT = "cline"
FACTS = Facts(CLIENT, prompt_name="UserPromptSubmit", end_name="TaskComplete", agent_end_name="TaskComplete")

_TYPED = re.compile(r"<user_input\b[^<>]*>(.*)</user_input>", re.DOTALL)
_NUMBERED = re.compile(r"^ *\d{1,7} \| ?", re.MULTILINE)
_EXITED = re.compile(r"Command exited with code (\d{1,4})\Z")
_NOTED = re.compile(r"\A\[Command exited with code \d{1,4}\]\n\n")


def call_event(origin: Origin, tool: str, call_id: str | None, given: Any, output: Any, *, is_error: bool) -> Event:
    """A call that has ended."""
    return FACTS.call(
        origin,
        column_text(standard_name(tool)),
        known_tool(tool),
        call_id,
        without_media(_normalised(tool, given)),
        _answer(tool, _decoded(output), is_error=is_error),
    )


def typed_prompt(text: Any) -> str | None:
    """Return what a person typed; None where nobody typed anything."""
    if not isinstance(text, str):
        return None
    text = without_tags(text, "hook_context").strip()
    if typed := _TYPED.fullmatch(text):
        text = typed[1].strip()
    return text or None


def _decoded(output: Any) -> Any:
    """Return a result as hooks tell it."""
    if not isinstance(output, str) or output[:1] not in ("{", "["):
        return output
    try:
        return msgspec.json.decode(output)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return output


def _answer(tool: str, output: Any, *, is_error: bool) -> Answer:
    entries = [each for each in (output if isinstance(output, list) else [output]) if isinstance(each, dict)]
    text = "\n".join(filter(None, map(_text_of, entries))) if entries else output if isinstance(output, str) else ""
    errors = [each["error"] for each in entries if isinstance(each.get("error"), str)]
    has_failed = is_error or any(each.get("success") is False or each.get("isError") is True for each in entries)
    if has_failed or (errors and not text):
        code = next((int(found[1]) for each in errors if (found := _EXITED.search(each))), None)
        if code is not None:
            return Answer({"error": as_error(_NOTED.sub("", text), code)}, "failed")
        return Answer({"error": "\n".join(errors) or text}, "failed")
    if tool == "read_files" and len(entries) == 1:
        return Answer({"tool_response": {"file": {"content": _NUMBERED.sub("", text)}}}, "ok")
    return Answer({"tool_response": {"output": text} if tool == "run_commands" else text}, "ok")


def _text_of(entry: dict[str, Any]) -> str:
    """Return the text of an entry: a tool's, a server's, a subagent's."""
    for key in ("result", "text"):
        if isinstance(text := entry.get(key), str):
            return text
    content = entry.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [each.get("text") for each in blocks if isinstance(each, dict)]
    return "\n".join(each for each in texts if isinstance(each, str))


def _normalised(tool: str, given: Any) -> Any:
    """The input by the names that summaries read; a list of one thing is that thing."""
    if not isinstance(given, dict):
        return given
    match tool, given:
        case "run_commands", {"commands": [*commands]} if all(isinstance(each, str) for each in commands):
            return {"command": "\n".join(commands)}
        case "read_files", {"files": [{"path": str(path), **rest}]}:
            return {"file_path": path, **rest}
        case "editor", {"path": str(path), "old_text": str(old), "new_text": str(new), **rest}:
            return {"file_path": path, "old_string": old, "new_string": new, **rest}
        case "editor", {"path": str(path), "new_text": str(new), **rest}:
            return {"file_path": path, "content": new, **rest}
        case "search_codebase", {"queries": [*queries]} if all(isinstance(each, str) for each in queries):
            return {"pattern": " | ".join(queries)}
        case "fetch_web_content", {"requests": [{"url": str(url), **rest}]}:
            return {"url": url, **rest}
        case "spawn_agent", {"task": str(task), **rest}:
            return {"prompt": task, **rest}
    return given
