"""Reading `payload_json` back. We write canonical JSON there; a person with sqlite3 may write anything."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

_BRANCH = '{"_branch":"'
_CLIENT = re.compile(r'\{(?:"_branch":"(?:[^"\\]|\\.)*",)?"_source":"([^"\\]*)"')
HEAD_CHARS = 300
"""Of a payload's beginning: enough for the longest name of a branch."""


def find_object(payload_json: str) -> dict[str, Any] | None:
    """Return the payload; None for text that is no JSON object, or none that can be written again."""
    try:
        value = msgspec.json.decode(payload_json)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def branch_of(head: str) -> str | None:
    """Return the branch of an event, from the beginning of its payload: of the keys in order `_branch` is first."""
    if not head.startswith(_BRANCH):
        return None
    try:
        return str(json.JSONDecoder().raw_decode(head, len(_BRANCH) - 1)[0])
    except ValueError:
        return None


def client_of(head: str) -> str | None:
    """Return whose agent's program an event is of, from the beginning of its payload: only a branch stands before."""
    found = _CLIENT.match(head)
    return found[1] if found else None


def texts_of(value: Any, left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield the strings of a value, in the order of the keys, new before old, without what stands under some keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value, key=lambda key: (key == "old_string", key)):
            if key not in left_out:
                yield from texts_of(value[key], left_out)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item, left_out)
