"""Summaries of calls that failed, of MCP tools, and of tools nobody here knows."""

from __future__ import annotations

import re

from siftd.clients.tool import Operation
from siftd.clients.tools import tool_named
from siftd.summarise.extractive.code import changed, difference, statements
from siftd.summarise.extractive.files import PATH_KEYS, apply_patch, file_of
from siftd.summarise.extractive.gist import arguments, result_gist
from siftd.summarise.extractive.outcomes import first_error
from siftd.summarise.extractive.text import (
    BARE,
    SEEN,
    SPOKEN,
    THIN,
    Call,
    Line,
    bounded,
    clip,
    first_text,
    lines_of,
    relative,
    string,
)

_REJECTED = re.compile(
    r"User rejected tool use|The user doesn't want to (?:proceed|take this action)|user (?:declined|denied|rejected)",
    re.IGNORECASE,
)
_THE_USER_SAID = re.compile(r"the user said:\s*(.+)", re.DOTALL)
_ERROR_TAG = re.compile(r"</?(?:tool_use_error|error)>")
_HINT = re.compile(r"(?<=[.!]) (?:Note: your current working directory|Did you mean) .*$")
"""What a client adds for its model: it tells where the agent was, not what went wrong."""
_FILE_VERBS: dict[Operation, str] = {
    "edit": "Edit of",
    "multi_edit": "Edit of",
    "read": "Read of",
    "write": "Write of",
    "notebook_edit": "Edit of notebook",
}
_SUBJECT_KEYS = (
    "pattern", "url", "query", "title", "subject", "description", "skill", "command", "file_path", "path", "name",
    "prompt", "task_id", "taskId", "id",
)  # fmt: skip


def is_rejection(call: Call) -> bool:
    """Whether a call did not run because somebody, or the client itself, would not have it."""
    error = (call.error or "")[:600]
    return bool(_REJECTED.search(error)) or is_cancelled(call)


def is_cancelled(call: Call) -> bool:
    """Whether the client did not run a call because another one of the same message failed."""
    return (call.error or "").startswith(("Sibling tool call errored", "Cancelled: parallel tool call"))


def failed(call: Call) -> Line:
    """ "Edit of src/auth.py failed: String to replace not found in file."."""
    subject = subject_of(call)
    error = _ERROR_TAG.sub("", bounded(call.error or ""))
    if is_cancelled(call):
        return Line(f"{subject}: not run, since a call beside it failed", BARE)
    if _REJECTED.search(error[:600]):
        said = _THE_USER_SAID.search(error)
        what = f"The user rejected: {subject}{_proposed(call, 150)}"
        return Line(f"{what}. They said: {clip(said[1], 380 - len(what))}" if said else what, SEEN)
    if not error.strip():
        return Line(f"{subject} {'was interrupted' if call.outcome == 'interrupted' else 'failed'}", THIN)
    lines = lines_of(error, 3)
    lines = [_HINT.sub("", line) for line in lines]
    why = lines[0] if lines and len(lines[0]) > 20 else first_error(error) or statements(lines, 240) or error
    return Line(f"{subject} failed: {clip(why, 240)}", SEEN)


def generic(call: Call) -> Line:
    """Any other tool: its name, its short arguments, the short of its result."""
    name = _tool_name(call.tool)
    given = arguments(call.input, 200) or clip(string(call.given), 150)
    said = f"{name} ({given})" if given else name
    body = result_gist(call.response, 380 - len(said)) if call.response is not None else ""
    if body:
        return Line(f"{said}: {body}", SPOKEN)
    return Line(said, THIN if given else BARE)


def subject_of(call: Call) -> str:
    """Name a call by what it was about."""
    operation = tool_named(call.tool).operation
    if operation in _FILE_VERBS:
        return f"{_FILE_VERBS[operation]} {file_of(call)}"
    if operation == "patch":
        return f"Patch ({clip(apply_patch(call).text, 120)})"
    value = first_text(call.input, *_SUBJECT_KEYS) or string(call.given)
    if value and any(call.input.get(key) == value for key in PATH_KEYS):
        value = relative(value, call.cwd)
    name = _tool_name(call.tool)
    return f"{name} of {clip(value, 130)}" if value else name


def _proposed(call: Call, limit: int) -> str:
    """What a rejected edit would have changed: people reject for a reason."""
    old, new = call.input.get("old_string"), call.input.get("new_string")
    change = difference(*changed(string(old), string(new)), limit) if old or new else ""
    return f" ({change})" if change else ""


def _tool_name(tool: str) -> str:
    """ "mcp__linear-server__create_issue" reads as "linear-server create_issue"."""
    if tool.startswith("mcp__"):
        server, _, name = tool[5:].partition("__")
        return clip(f"{server.removeprefix('plugin_')} {name}", 90) or "An MCP tool"
    return clip(tool, 80) or "A tool"
