"""What siftd itself said to an agent, as it comes back in what is captured: memory must not feed on itself.

A marked block (`siftd.search.block`) is cut out of every string, wherever it stands. Of a result of our own tools, by
MCP or by `mem` in a shell, the ids are kept and nothing else: with the query in the input they tell what was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MARK = b"siftd-memory"
_BLOCK = re.compile(r"<siftd-memory\b[^<>]*>.*?</siftd-memory>\s?", re.DOTALL)
_TOOL = re.compile(r"mcp__(?:plugin_\w+_)?siftd__\w+")
_COMMAND = re.compile(
    r"\s*(?:cd\s+\S+\s*&&\s*)?(?:\S*/)?mem\s+(?:-\S+\s+)*"
    r"(?:search|timeline|show|sessions|brief|why|injections|memories|conversations)\b[^;&\n]*"
)
"""`mem` alone: what else a command line does is to be captured."""
_ID = re.compile(r"(?<![\w#/-])#?([esm][0-9]{1,18})(?![\w-])")
IDS_MAX = 100


def is_own_call(tool: str, tool_input: Any) -> bool:
    """Whether a tool call asked siftd."""
    if tool == "Bash" and isinstance(tool_input, dict):
        command = tool_input.get("command")
        return isinstance(command, str) and "mem " in command and _COMMAND.fullmatch(command) is not None
    return _TOOL.fullmatch(tool) is not None


def ids_alone(response: Any) -> Any:
    """Return the result of one of our tools with the ids in it and nothing else, in the form it had."""
    ids = list(dict.fromkeys(_iter_ids(response)))[:IDS_MAX]
    return (
        {"stdout": " ".join(ids), "stderr": ""} if isinstance(response, dict) and "stdout" in response else {"ids": ids}
    )


def without_blocks(value: Any) -> Any:
    """Return a JSON value whose strings hold no marked block."""
    match value:
        case str():
            return _BLOCK.sub("", value) if "<siftd-memory" in value else value
        case dict():
            return {key: without_blocks(each) for key, each in value.items()}
        case list():
            return [without_blocks(each) for each in value]
        case _:
            return value


def _iter_ids(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield from _ID.findall(value)
        case dict():
            for each in value.values():
                yield from _iter_ids(each)
        case list():
            for each in value:
                yield from _iter_ids(each)
