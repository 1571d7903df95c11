"""What can be known of a tool by its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from siftd.model import Action, SaidBy

Operation = Literal[
    "read",
    "edit",
    "multi_edit",
    "write",
    "notebook_edit",
    "patch",
    "shell",
    "grep",
    "glob",
    "language_server",
    "web_fetch",
    "web_search",
    "tool_search",
    "server_resource",
    "agent",
    "task_create",
    "task_update",
    "task_look",
    "todo_list",
    "skill",
    "ask",
    "plan",
    "plan_mode",
]
"""What a call does, more closely than its action: calls of one operation have inputs and results of one shape."""


class Tool(NamedTuple):
    """What is known of a tool."""

    action: Action
    operation: Operation | None = None
    said_by: SaidBy = "output"
    """Whose words its result brings. A subagent's come as a tool's result does."""


UNKNOWN = Tool("other")
OF_A_SERVER = Tool("other", said_by="outside")
_SERVERS = "mcp_"
"""How agents begin the name of a tool that another server brings: `mcp__server__tool`, `mcp_server_tool`."""


def by_name(alike: Iterable[tuple[Tool, str]]) -> dict[str, Tool]:
    """Return a table by name in lower case, of tools with the names that each has."""
    return {name.lower(): tool for tool, names in alike for name in names.split()}


def find_tool(tools: dict[str, Tool], name: str) -> Tool:
    """Return what a table knows of a tool; of a server's that it is one."""
    return OF_A_SERVER if name.startswith(_SERVERS) else tools.get(name.lower(), UNKNOWN)
