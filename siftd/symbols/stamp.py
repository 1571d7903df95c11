"""From a write to its symbols: the definitions in the new text, and the one around each changed place.

Indentation tells what encloses what: the definition around a line is the nearest one above that is indented less,
with nothing in between, indented as little, that is not a mere bracket, label, comment or preprocessor line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from siftd.clients.tool import Operation
from siftd.clients.tools import tool_named
from siftd.symbols.definitions import find_pattern

SYMBOLS_MAX = 32
TEXT_MAX_CHARS = 1_048_576
"""Text beyond is not read: nobody asks for the symbols of a megabyte, and capture must stay fast."""

_CHANGES_MAX = 64
_LINES_ABOVE_MAX = 4096
"""How far up an enclosing definition is looked for."""
_LINE_MAX_CHARS = 1000
_NAME_MAX_CHARS = 128

_Pattern = re.Pattern[str]
_TRANSPARENT = re.compile(r"[)\]}{#@*/]|--|(?:public|private|protected|default|\w++)[ \t]*+:[ \t]*+$")
"""Lines that end no definition although they stand at its margin: brackets, comments, labels, `public:`."""


class _Hunk(NamedTuple):
    """Lines of a patch, each with its mark (" ", "+", "-"); "@" marks a line that names what the others are in."""

    pattern: _Pattern
    above: list[str]
    """The file's lines just before it, where they are known."""
    lines: list[str]


class _Written(NamedTuple):
    hunks: list[_Hunk]
    texts: list[tuple[_Pattern, str]]


def symbols_of(tool: str, payload: dict[str, Any]) -> list[str]:
    """Return the names a call of `tool` defined or changed: sorted, unique, at most `SYMBOLS_MAX`.

    Whatever is no write to a code file has none; odd shapes are read as far as they make sense, never refused.
    When there are too many, the definitions around changes go first, then those in the order of the text.
    """
    operation = tool_named(tool).operation
    read = _READERS.get(operation) if operation else None
    if read is None:
        return []
    tool_input, response = payload.get("tool_input"), payload.get("tool_response")
    if not isinstance(tool_input, dict):
        return []
    hunks, texts = read(tool_input, response if isinstance(response, dict) else {})
    names: set[str] = set()
    for name in chain(_around_changes(hunks), _defined(texts)):
        if len(name) <= _NAME_MAX_CHARS:
            names.add(name)
        if len(names) == SYMBOLS_MAX:
            break
    return sorted(names)


def _read_file_write(tool_input: dict[str, Any], response: dict[str, Any]) -> _Written:
    """Edit, MultiEdit and Write: what was written, and the response's patch where there is one."""
    pattern = find_pattern(tool_input.get("file_path"))
    if pattern is None:
        return _Written([], [])
    original = _lines(response.get("originalFile"))
    hunks = []
    for hunk in _dicts(response.get("structuredPatch"))[:_CHANGES_MAX]:
        start, lines = hunk.get("oldStart"), hunk.get("lines")
        if isinstance(lines, list):
            end = start - 1 if isinstance(start, int) and 0 < start <= len(original) else 0
            texts_ = [line for line in lines[:_LINES_ABOVE_MAX] if isinstance(line, str)]
            hunks.append(_Hunk(pattern, original[max(0, end - _LINES_ABOVE_MAX) : end], texts_))
    edits = [edit.get("new_string") for edit in _dicts(tool_input.get("edits"))]
    texts = [tool_input.get("content"), tool_input.get("new_string"), *edits]
    return _Written(hunks, [(pattern, text) for text in texts if isinstance(text, str)])


def _read_notebook_edit(tool_input: dict[str, Any], _response: dict[str, Any]) -> _Written:
    """NotebookEdit: a cell's new source, taken for Python."""
    source = tool_input.get("new_source")
    pattern = find_pattern("cell.py") if tool_input.get("cell_type") != "markdown" else None
    return _Written([], [(pattern, source)] if pattern is not None and isinstance(source, str) else [])


def _read_patch(tool_input: dict[str, Any], _response: dict[str, Any]) -> _Written:
    """apply_patch: the hunks of each file section, and the lines they add."""
    hunks: list[_Hunk] = []
    pattern: _Pattern | None = None
    lines: list[str] = []
    for line in [*_lines(tool_input.get("command")), "*** End Patch"]:
        if not line.startswith(("***", "@@")):
            lines.append(line)
            continue
        if pattern is not None and any(texts_.startswith(("+", "-")) for texts_ in lines):
            hunks.append(_Hunk(pattern, [], lines))
            lines = []
        if line.startswith("@@ "):
            lines.append("@" + line[3:].strip())
        else:
            lines = []
        if line.startswith("*** Delete File: "):
            pattern = None
        elif line.startswith(("*** Add File: ", "*** Update File: ", "*** Move to: ")):
            pattern = find_pattern(line.partition(": ")[2].strip())
    texts = [(pattern, "\n".join(texts_[1:] for texts_ in lines if texts_[:1] == "+")) for pattern, _, lines in hunks]
    return _Written(hunks, texts)


_READERS: dict[Operation, Callable[[dict[str, Any], dict[str, Any]], _Written]] = {
    "edit": _read_file_write,
    "multi_edit": _read_file_write,
    "write": _read_file_write,
    "notebook_edit": _read_notebook_edit,
    "patch": _read_patch,
}


def _defined(texts: list[tuple[_Pattern, str]]) -> Iterator[str]:
    """The names defined in the texts, in order, as far as `TEXT_MAX_CHARS` reach."""
    room = TEXT_MAX_CHARS
    for pattern, text in texts:
        for found in pattern.finditer(text[:room].replace("\r\n", "\n")):
            yield found[found.lastindex or 0]
        room -= len(text)
        if room <= 0:
            return


def _around_changes(hunks: list[_Hunk]) -> Iterator[str]:
    """The definition around each run of changed lines."""
    places = ((hunk, at) for hunk in hunks for at in _changes(hunk.lines))
    for hunk, at in islice(places, _CHANGES_MAX):
        name = _find_enclosing(hunk, at)
        if name is not None:
            yield name


def _changes(lines: list[str]) -> Iterator[int]:
    """Where each run of added and removed lines begins."""
    is_inside = False
    for at, line in enumerate(lines):
        is_change = line[:1] in ("+", "-")
        if is_change and not is_inside:
            yield at
        is_inside = is_change or (is_inside and line[:1] == "\\")


def _find_enclosing(hunk: _Hunk, at: int) -> str | None:
    """Walk up from a changed line, through the text as it is after the change, to the definition it stands in."""
    margin = next((_margin(line[1:]) for line in islice(hunk.lines, at, None) if line[1:].strip()), "")
    above, context = _above_in_hunk(hunk.lines[:at])
    width, below = _width(margin), ""
    for line in islice(chain(above, reversed(hunk.above)), _LINES_ABOVE_MAX):
        if not margin:
            break
        if not line.startswith(margin) and line.strip():
            own = _margin(line)
            if (own_width := _width(own)) < width:
                text = line[:_LINE_MAX_CHARS].rstrip("\r")
                name = _name(hunk.pattern, f"{text}\n{below}")
                if name is not None:
                    return name
                if not _TRANSPARENT.match(text, len(own)):
                    margin, width = own, own_width
        below = line
    return _name(hunk.pattern, context)


def _above_in_hunk(lines: list[str]) -> tuple[list[str], str]:
    """The lines of a hunk above a place, nearest first, and the line that was said to be around them, if any."""
    above: list[str] = []
    for line in reversed(lines):
        if line[:1] == "@":
            return above, line[1:]
        if line[:1] in (" ", "+"):
            above.append(line[1:])
    return above, ""


def _name(pattern: _Pattern, text: str) -> str | None:
    found = pattern.match(text)
    return found[found.lastindex or 0] if found else None


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _width(margin: str) -> int:
    """Some versions of the client show a tab as two spaces in a patch, never in the original file."""
    return len(margin) + margin.count("\t")


def _lines(text: object) -> list[str]:
    return text[:TEXT_MAX_CHARS].split("\n") if isinstance(text, str) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
