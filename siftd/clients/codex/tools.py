"""Codex's own tools, as its hooks name them. Commands are `Bash` there, whichever tool of the model's ran them."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

SHELL = "Bash"
PATCH = "apply_patch"
COLLABORATION = "collaboration"
"""The namespace of tools for subagents; hooks write it before their names."""
SPAWN = f"{COLLABORATION}spawn_agent"

TOOLS = by_name(
    (
        (Tool("run", "shell"), SHELL),
        (Tool("edit", "patch"), PATCH),
        (Tool("read", "read"), "view_image"),
        (Tool("web", "web_search", "outside"), "web_search"),
        (Tool("todo", "todo_list", "agent"), "update_plan"),
        (Tool("ask", "ask", "agent"), "request_user_input"),
        (Tool("other", "tool_search"), "tool_search"),
        (Tool("agent", "agent"), f"{SPAWN} spawn_agent"),
    )
)
