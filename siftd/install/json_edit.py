"""Putting a value into a JSON text and taking it out again, every other byte as it was.

The text is never dumped anew: what is inserted follows the file's own indentation and line ends, and taking it out is
the exact inverse. For that, one thing must be seen in the text: whether the container a value sits in was there before,
empty, or came with it. What we create has white space before its closing bracket, what we found empty has none:

    "Stop": []   becomes   "Stop": [{…}]   and goes back to   "Stop": []
    nothing      becomes   "Stop": [ {…} ]                    to nothing

A file that a program has dumped anew since, indented, reads as the second kind: what is emptied is then removed. A
container with a comment in it stays: somebody wrote that. Comments around what is taken out stay too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from siftd.install.json_spans import BYTE_ORDER_MARK, Child, Node

DEFAULT_INDENT = "  "

_LAST_LINE_BREAK = re.compile(r"\r?\n[^\n]*\Z")
_COMMENT_OR_COMMA = re.compile(r"//[^\n]*|/\*.*?\*/|,", re.DOTALL)


def insert_child(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    """Return `text` with `value` as the last child of `parent`, under `key` in an object."""
    if parent.children:
        return _append(text, root, parent, key, value)
    return _insert_first(text, root, parent, key, value)


def _append(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    """Insert after the last child, set off from it as that is from what stands before it."""
    last = parent.children[-1]
    before = text[: last.at]
    gap = before[len(before.rstrip(" \t\r\n")) :]
    at = last.end
    if "\n" not in gap:
        return text[:at] + "," + (gap or " ") + _render(key, _dump_padded(value)) + text[at:]
    eol, indent = _eol(text), gap.rpartition("\n")[2]
    return text[:at] + "," + eol + indent + _render(key, _dump_indented(text, root, value, indent)) + text[at:]


def _insert_first(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    """Insert into a container that is empty, keeping the white space in it."""
    at = parent.end - 1
    if not _is_indented(text, root):
        return text[:at] + _render(key, _dump_padded(value)) + text[at:]
    # A lone carriage return that ends the kept white space must not become half of our line end.
    eol = "\r\n" if text[at - 1] == "\r" else _eol(text)
    indent = _line_indent(text, parent.start) + _indent_unit(text, root)
    tail = eol if parent is root else ""
    return text[:at] + eol + indent + _render(key, _dump_indented(text, root, value, indent)) + tail + text[at:]


def _render(key: str | None, value: str) -> str:
    return value if key is None else f"{dump(key)}: {value}"


def dump(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def _dump_padded(value: Any) -> str:
    """On one line, with the white space before closing brackets that tells our containers from found ones."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{dump(key)}: {_dump_padded(item)}" for key, item in value.items()) + " }"
        case list():
            return "[ " + ", ".join(_dump_padded(item) for item in value) + " ]"
        case _:
            return dump(value)


def _dump_indented(text: str, root: Node, value: Any, indent: str) -> str:
    dumped = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text, root))
    return dumped.replace("\n", _eol(text) + indent)


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_indented(text: str, root: Node) -> bool:
    return not root.children or "\n" in text[root.start : root.end]


def _indent_unit(text: str, root: Node) -> str:
    """One step of indentation: what stands before the first key, or the default."""
    line = _line_indent(text, root.children[0].at) if root.children else ""
    return line.removeprefix(_line_indent(text, root.start)) or DEFAULT_INDENT


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].removeprefix(BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def is_to_stay(text: str, container: Node) -> bool:
    """Whether a container stays when a child of it goes: it holds others, or was there, empty, before us."""
    first, last = container.children[0], container.children[-1]
    if len(container.children) > 1 or last.end == container.end - 1:
        return True
    return "/" in text[container.start + 1 : first.at] + text[last.end : container.end - 1]


def cut_child(text: str, parent: Node, child: Child) -> str:
    """Return `text` without a child of `parent`."""
    at = [other.at for other in parent.children].index(child.at)
    if at > 0:
        before = parent.children[at - 1].end
        return text[:before] + _comments_of(text[before : child.at]) + text[child.end :]
    if len(parent.children) > 1:
        after = parent.children[1].at
        return text[: child.at] + _comments_of(text[child.end : after]).lstrip() + text[after:]
    gap = _LAST_LINE_BREAK.sub("", text[parent.start + 1 : child.at])
    if "//" in gap.rpartition("\n")[2]:
        gap += _eol(text)
    return text[: parent.start + 1] + gap + _comments_of(text[child.end : parent.end - 1]) + text[parent.end - 1 :]


def _comments_of(gap: str) -> str:
    """Return what is between two children, without its comma; nothing if no comment is in it."""
    if "/" not in gap:
        return ""
    comma = next((found for found in _COMMENT_OR_COMMA.finditer(gap) if found.group() == ","), None)
    return gap if comma is None else gap[: comma.start()] + gap[comma.end() :]
