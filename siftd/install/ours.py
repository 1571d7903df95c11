"""What is ours in other programs' files, known by what it runs, from whatever path and of whichever version.

A hook is known by its command, the entry of `siftd.install.launcher`; a server of tools by `siftd … mcp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from siftd.install.launcher import is_entry

NAME = "siftd"
"""By which our entries go where entries have names."""


def is_our_handler(value: Any) -> bool:
    """Whether an entry itself, not one within it, runs our hook."""
    return isinstance(value, dict) and any(map(is_entry, value.values()))


def is_our_server(value: Any) -> bool:
    """Whether an entry of a list of MCP servers runs `siftd mcp`, however the client writes a command and arguments."""
    if not isinstance(value, dict):
        return False
    words = list(_words(value))
    return "mcp" in words and any(word == NAME or word.endswith(("/siftd", "/siftd/__main__.py")) for word in words)


def is_ours(value: Any) -> bool:
    """Whether a named entry is ours: a server of our tools, or a set of hooks that run ours."""
    return is_our_server(value) or any(map(is_entry, _words(value)))


def _words(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _words(each)
        case dict():
            for each in value.values():
                yield from _words(each)
