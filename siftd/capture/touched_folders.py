"""The folders that a tool call touches: where its files lie, where its command runs, what its command names."""

from __future__ import annotations

import re
from typing import Any

FOLDERS_MAX = 8
COMMAND_CHARS = 1_024
_FILE_FIELDS = ("file_path", "notebook_path")
_WORD = re.compile(r"[^\s\"'=;|&<>()`$*?]{2,256}")


def touched_folders(payload: dict[str, Any], cwd: str | None) -> list[str]:
    """Return folders, absolute ones, that may lie anywhere and need not exist; a file's path is among them too."""
    given = payload.get("tool_input")
    tool_input = given if isinstance(given, dict) else {}
    start = cwd if cwd and cwd.startswith("/") else ""
    files = [path for field in _FILE_FIELDS if isinstance(path := tool_input.get(field), str)]
    folders = [start, *(_absolute(path, start).rpartition("/")[0] for path in files)]
    command, searched = tool_input.get("command"), tool_input.get("path")
    named = [searched] if isinstance(searched, str) else []
    if isinstance(command, str) and "/" in command:
        named += [word for word in _WORD.findall(command[:COMMAND_CHARS]) if "/" in word]
    for path in named[:FOLDERS_MAX]:
        whole = _absolute(path, start)
        folders += [whole.rpartition("/")[0], whole]
    return list(dict.fromkeys(each for each in folders if each))[:FOLDERS_MAX]


def _absolute(path: str, start: str) -> str:
    return path if path.startswith("/") else f"{start}/{path}" if start else ""
