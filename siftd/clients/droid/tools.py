"""droid's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

SHELL = "Execute"
CHANGES = ("Edit", "Create", "MultiEdit")
TOOLS = by_name(
    (
        (Tool("read", "read"), "Read"),
        (Tool("edit", "edit"), "Edit"),
        (Tool("edit", "multi_edit"), "MultiEdit"),
        (Tool("edit", "write"), "Create"),
        (Tool("edit", "patch"), "ApplyPatch"),
        (Tool("run", "shell"), SHELL),
        (Tool("search", "grep"), "Grep"),
        (Tool("search", "glob"), "Glob LS"),
        (Tool("web", "web_fetch", "outside"), "FetchUrl"),
        (Tool("web", "web_search", "outside"), "WebSearch"),
        (Tool("other", "tool_search"), "ToolSearch"),
        (Tool("agent", "agent"), "Task"),
        (Tool("todo", "todo_list", "agent"), "TodoWrite"),
        (Tool("other", "skill"), "Skill"),
        (Tool("ask", "ask", "agent"), "AskUser"),
        (Tool("plan", "plan", "agent"), "ExitSpecMode"),
    )
)
