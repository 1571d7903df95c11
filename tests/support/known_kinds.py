"""Kind and action of an event by the name that Claude Code has for it, for tests that write events down."""

from __future__ import annotations

from typing import Any

from siftd.clients.older import kind_and_action
from siftd.clients.tools import KNOWN, tool_named
from siftd.store.event_index import Captured
from siftd.summarise.contract import Item
from siftd.summarise.extractive import RENDERERS

RENDERED = sorted(name for name, tool in KNOWN.items() if tool.operation in RENDERERS)
"""Names of the tools whose calls are told in words of their own."""
ONE_OF_EACH = sorted({tool_named(name).operation: name for name in RENDERED}.values())
"""One of them for each way of telling."""


def named(tool: str) -> dict[str, Any]:
    """Return `kind`, `tool` and `action`."""
    kind, action = kind_and_action(None, None, tool)
    return {"kind": kind, "tool": tool, "action": action}


def item_of(*, tool: str, **fields: Any) -> Item:
    """Return an item of this tool."""
    return Item(**named(tool), **fields)


def captured(tool: str, payload_json: str) -> Captured:
    """Return an event as it is indexed."""
    return Captured("s", payload_json=payload_json, **named(tool))
