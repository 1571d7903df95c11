"""pi's own tools."""

from __future__ import annotations

from siftd.clients.tool import OF_A_SERVER, Tool, by_name

TOOLS = by_name(
    (
        (Tool("read", "read"), "read"),
        (Tool("edit", "edit"), "edit"),
        (Tool("edit", "write"), "write"),
        (Tool("run", "shell"), "bash"),
        (Tool("search", "grep"), "grep"),
        (Tool("search", "glob"), "find ls"),
    )
)


def known_tool(name: str) -> Tool:
    """Return what is known of a tool; of an extension's that nobody vouches for what it answers."""
    return TOOLS.get(name, OF_A_SERVER)
