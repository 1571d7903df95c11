"""JSON with positions: where in a text each value begins and ends, so that a part can be changed alone.

Strict JSON (RFC 8259) and a byte order mark in front, which editors on some systems leave; for clients that take them
in their settings, comments and a comma behind the last child too.
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
_SPACE_OR_COMMENT = re.compile(r"(?:[ \t\n\r]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
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


def scan(text: str, *, comments: bool = False) -> Node:
    """Return the tree of the one JSON value that `text` holds, maybe among comments. Raises NotJson."""
    return _Scanner(text, comments).scan()


class _Scanner:
    """One reading of one text."""

    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self._space = _SPACE_OR_COMMENT if comments else _SPACE

    def scan(self) -> Node:
        start = len(BYTE_ORDER_MARK) if self._text.startswith(BYTE_ORDER_MARK) else 0
        node = self._value(self._skip(start), 0)
        end = self._skip(node.end)
        if end != len(self._text):
            raise NotJson(end)
        return node

    def _value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise NotJson(at)
        match self._text[at : at + 1]:
            case "{":
                children, end = self._children(at, "}", depth)
                return Node(at, end, {child.key: child.node.value for child in children}, children)
            case "[":
                children, end = self._children(at, "]", depth)
                return Node(at, end, [child.node.value for child in children], children)
            case '"':
                return self._scalar(at, _STRING)
            case _:
                return self._scalar(at, _PLAIN)

    def _scalar(self, at: int, pattern: re.Pattern[str]) -> Node:
        found = pattern.match(self._text, at)
        if found is None:
            raise NotJson(at)
        # As a float, since Python refuses to read integers of thousands of digits; nobody here counts.
        return Node(at, found.end(), json.loads(found.group(), parse_int=float))

    def _children(self, start: int, closer: str, depth: int) -> tuple[list[Child], int]:
        """Return the children of the container that opens at `start`, and where it ends."""
        children: list[Child] = []
        at = self._skip(start + 1)
        if self._text.startswith(closer, at):
            return children, at + 1
        while True:
            child = self._member(at, depth) if closer == "}" else Child(at, None, self._value(at, depth + 1))
            children.append(child)
            at = self._skip(child.end)
            if self._text.startswith(closer, at):
                return children, at + 1
            at = self._skip(self._expect(at, ","))
            if self._comments and self._text.startswith(closer, at):
                return children, at + 1

    def _member(self, at: int, depth: int) -> Child:
        key = self._scalar(at, _STRING)
        colon = self._expect(self._skip(key.end), ":")
        return Child(at, key.value, self._value(self._skip(colon), depth + 1))

    def _expect(self, at: int, mark: str) -> int:
        if not self._text.startswith(mark, at):
            raise NotJson(at)
        return at + len(mark)

    def _skip(self, at: int) -> int:
        found = self._space.match(self._text, at)
        return found.end() if found else at
