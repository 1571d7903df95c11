"""An event's payload as a person reads it: what was asked or said, a change as a diff, a command with what it printed.

Total: any payload gives a text, and what has no form of its own is JSON. Nothing of a file that was there before is
shown, only what changed of it.
"""

from __future__ import annotations

from typing import Any

_SAID = ("prompt", "last_assistant_message", "text", "summary")
_OUTPUT = ("stdout", "stderr", "output", "content", "result", "text")
_WHOLE_FILES = ("originalFile", "structuredPatch", "oldString", "newString", "oldTodos")
"""What an answer repeats of the input, or of a file that was there before."""
DIFF_CONTEXT = 2
_DIFFED_LINES_MAX = 2_000
"""Lines of either side that are compared; longer ones are told one after the other."""


def as_text(payload: Any) -> str:
    """Return a payload as text of many lines. A change's lines begin with `- ` and `+ `."""
    if not isinstance(payload, dict):
        return payload if isinstance(payload, str) else _json(payload)
    for key in _SAID:
        if isinstance(said := payload.get(key), str):
            return said
    given, answer = payload.get("tool_input"), payload.get("tool_response", payload.get("error"))
    if not isinstance(given, dict):
        return _json(payload)
    parts = [_given(given), _answer(answer, is_change=_is_change(given))]
    return "\n\n".join(part for part in parts if part)


def _is_change(given: dict[str, Any]) -> bool:
    return any(key in given for key in ("old_string", "new_string", "edits", "content", "new_source"))


def _given(given: dict[str, Any]) -> str:
    path = given.get("file_path") or given.get("notebook_path") or ""
    several = given.get("edits")
    edits: list[Any] = several if isinstance(several, list) else [given]
    changes = [
        _diff(each.get("old_string"), new)
        for each in edits
        if isinstance(each, dict) and isinstance(new := each.get("new_string"), str)
    ]
    if changes:
        return "\n".join([str(path), *changes])
    for key in ("content", "new_source"):
        if isinstance(written := given.get(key), str):
            return "\n".join([str(path), *(f"+ {line}" for line in written.splitlines())])
    if isinstance(command := given.get("command"), str):
        about = given.get("description")
        return f"$ {command}" + (f"\n# {about}" if isinstance(about, str) and about else "")
    return "\n".join(f"{key}: {each if isinstance(each, str) else _json(each)}" for key, each in given.items())


def _diff(old: Any, new: str) -> str:
    before, after = (old.splitlines() if isinstance(old, str) else []), new.splitlines()
    if max(len(before), len(after)) > _DIFFED_LINES_MAX:
        return "\n".join([*(f"- {line}" for line in before), *(f"+ {line}" for line in after)])
    import difflib

    lines = difflib.unified_diff(before, after, lineterm="", n=DIFF_CONTEXT)
    return "\n".join(f"{line[:1]} {line[1:]}" for line in list(lines)[2:] if not line.startswith("@@"))


def _answer(answer: Any, *, is_change: bool) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):
        return "\n".join(filter(None, (_answer(each, is_change=is_change) for each in answer)))
    if not isinstance(answer, dict):
        return "" if answer is None else _json(answer)
    if is_change:
        return ""
    if isinstance(file := answer.get("file"), dict):
        return _answer(file, is_change=False)
    shown = [text for key in _OUTPUT if isinstance(text := answer.get(key), str) and text]
    inner = answer.get("content")
    if not shown and isinstance(inner, list):
        return _answer(inner, is_change=False)
    left = {key: each for key, each in answer.items() if key not in _WHOLE_FILES}
    return "\n".join(shown) if shown or not left else _json(left)


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1)
