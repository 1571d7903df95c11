"""JSON with positions: where in a text each value begins and ends, so that a part can be changed alone.

Strict JSON (RFC 8259) and a byte order mark in front, which editors on some systems leave.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

BYTE_ORDER_MARK = "\ufeff"
MAX_DEPTH = 200
"""Deeper nesting is no settings file; Python's own stack ends not far beyond."""

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class NotJson(ValueError):
    """The text is not JSON; `position` is where that shows."""

    def __init__(self, position: int) -> None:
        super().__init__(f"no JSON at character {position}")
        self.position = position


@dataclass(frozen=True, slots=True)
class Node:
    """One value at text[start:end]. A child's `key` and `at` (where its key begins) are set in an object."""

    start: int
    end: int
    value: Any
    """The decoded value, containers too."""
    children: list[Child] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_array(self) -> bool:
        return isinstance(self.value, list)

    def find_all(self, key: str) -> list[Child]:
        return [child for child in self.children if child.key == key]


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object (with its key) or an element of an array (key None), from `at` to `node.end`."""

    at: int
    key: str | None
    node: Node

    @property
    def end(self) -> int:
        return self.node.end


def scan(text: str) -> Node:
    """Return the tree of the one JSON value that `text` holds. Raises NotJson."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    node = _value(text, _skip(text, start), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise NotJson(end)
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise NotJson(at)
    match text[at : at + 1]:
        case "{":
            children, end = _children(text, at, "}", depth)
            return Node(at, end, {child.key: child.node.value for child in children}, children)
        case "[":
            children, end = _children(text, at, "]", depth)
            return Node(at, end, [child.node.value for child in children], children)
        case '"':
            return _scalar(text, at, _STRING)
        case _:
            return _scalar(text, at, _PLAIN)


def _scalar(text: str, at: int, pattern: re.Pattern[str]) -> Node:
    found = pattern.match(text, at)
    if found is None:
        raise NotJson(at)
    # As a float, since Python refuses to read integers of thousands of digits; nobody here counts.
    return Node(at, found.end(), json.loads(found.group(), parse_int=float))


def _children(text: str, start: int, closer: str, depth: int) -> tuple[list[Child], int]:
    """Return the children of the container that opens at `start`, and where it ends."""
    children: list[Child] = []
    at = _skip(text, start + 1)
    if text.startswith(closer, at):
        return children, at + 1
    while True:
        child = _member(text, at, depth) if closer == "}" else Child(at, None, _value(text, at, depth + 1))
        children.append(child)
        at = _skip(text, child.end)
        if text.startswith(closer, at):
            return children, at + 1
        at = _skip(text, _expect(text, at, ","))


def _member(text: str, at: int, depth: int) -> Child:
    key = _scalar(text, at, _STRING)
    colon = _expect(text, _skip(text, key.end), ":")
    return Child(at, key.value, _value(text, _skip(text, colon), depth + 1))


def _expect(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise NotJson(at)
    return at + len(mark)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
