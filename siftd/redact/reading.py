"""A payload read through before anything of it is redacted: its texts, and what may make a secret of a clean one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from siftd.redact.context import ANSWERS, OUTPUTS, expected_of, may_be_secret, secrets_printed
from siftd.redact.labels import columns_of, is_command, kind_of_key, kind_of_label, kind_of_pair
from siftd.redact.typed import secrets_typed

PROMPT = "prompt"
"""The key under which a payload has what was typed."""

DEEPEST = 400
"""Levels of nesting that are followed. Real payloads have fewer than 20."""


class Reading(NamedTuple):
    """What a payload is made of."""

    texts: list[str]
    """Keys too, and a list's strings as one."""
    names_secret: bool
    """Whether a key or a label names one, or a prompt holds one."""
    calls: list[dict[Any, Any]]
    """Objects with a tool's input, which tells of the answer beside it."""

    def may_hold(self, suspects: set[str]) -> bool:
        """Whether anything may be redacted, if of all texts only `suspects` are no clean ones."""
        return self.names_secret or not suspects.isdisjoint(self.texts) or any(map(_is_printed_by, self.calls))


def read_values(values: Iterable[Any]) -> Reading:
    """Read a payload, or several as one, however deep they are."""
    texts: list[str] = []
    calls: list[dict[Any, Any]] = []
    names_secret = False
    waiting = list(values)
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            texts.append(node)
        elif isinstance(node, dict):
            for key, item in node.items():
                if isinstance(key, str):
                    texts.append(key)
                    if kind_of_key(key) is not None and isinstance(item, str | list | dict | int):
                        names_secret = True
                    if key == PROMPT and isinstance(item, str) and secrets_typed(item):
                        names_secret = True
            if kind_of_label(node) is not None or columns_of(node):
                names_secret = True
            if "tool_input" in node:
                calls.append(node)
            waiting.extend(node.values())
        elif isinstance(node, list | tuple):
            if all(isinstance(item, str) for item in node):
                texts.append("\n".join(node))
                names_secret = names_secret or is_command(node) or kind_of_pair(node) is not None
            else:
                waiting.extend(node)
    return Reading(texts, names_secret, calls)


def _is_printed_by(call: dict[Any, Any]) -> bool:
    """Whether a call's answer holds a secret because of what was asked for."""
    outputs = [text for key in ANSWERS if key in call for text in _outputs(call[key], 0) if may_be_secret(text)]
    if not outputs:  # most answers are a line of words, whatever was asked for
        return False
    expected = expected_of(call["tool_input"])
    return any(secrets_printed(text, expected) for text in outputs)


def _outputs(item: Any, depth: int) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif depth < DEEPEST and isinstance(item, dict):
        for key, part in item.items():
            if key in OUTPUTS:
                yield from _outputs(part, depth + 1)
    elif depth < DEEPEST and isinstance(item, list):
        for part in item:
            yield from _outputs(part, depth + 1)
