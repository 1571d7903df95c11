"""OpenCode's own tools."""

from __future__ import annotations

from siftd.clients.tool import OF_A_SERVER, Tool, by_name

TOOLS = by_name(
    (
        (Tool("read", "read"), "read"),
        (Tool("edit", "edit"), "edit"),
        (Tool("edit", "write"), "write"),
        (Tool("edit", "patch"), "apply_patch"),
        (Tool("run", "shell"), "bash"),
        (Tool("search", "grep"), "grep codesearch"),
        (Tool("search", "glob"), "glob"),
        (Tool("search", "language_server"), "lsp"),
        (Tool("web", "web_fetch", "outside"), "webfetch"),
        (Tool("web", "web_search", "outside"), "websearch"),
        (Tool("agent", "agent"), "task"),
        (Tool("todo", "todo_list", "agent"), "todowrite"),
        (Tool("other", "skill"), "skill"),
        (Tool("ask", "ask", "agent"), "question"),
        (Tool("plan", said_by="agent"), "plan_exit"),
        (Tool("other", "plan_mode", "agent"), "plan_enter"),
    )
)
_OUR_SERVER = "siftd_"


def known_tool(name: str) -> Tool:
    """Return what is known of a tool. Of a name that is not OpenCode's own nobody vouches for what it answers: it is a
    server's, or a plugin's."""
    return TOOLS.get(name, OF_A_SERVER)


def standard_name(name: str) -> str:
    """Return a tool's name; of one of our server the name that every agent's are known by."""
    return f"mcp__siftd__{name.removeprefix(_OUR_SERVER)}" if name.startswith(_OUR_SERVER) else name
