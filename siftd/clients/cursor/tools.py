"""Cursor's own tools."""

from __future__ import annotations

from siftd.clients.tool import OF_A_SERVER, Tool, by_name, find_tool

ALIKE = (
    (Tool("read", "read"), "Read read_file"),
    (Tool("edit", "edit"), "StrReplace edit_file search_replace"),
    (Tool("edit", "multi_edit"), "MultiEdit"),
    (Tool("edit", "write"), "Write"),
    (Tool("edit", "notebook_edit"), "EditNotebook"),
    (Tool("edit", "patch"), "ApplyPatch apply_patch"),
    (Tool("run", "shell"), "Shell run_terminal_cmd"),
    (Tool("search", "grep"), "Grep SemanticSearch codebase_search grep_search"),
    (Tool("search", "glob"), "Glob LS list_dir file_search"),
    (Tool("web", "web_fetch", "outside"), "WebFetch"),
    (Tool("web", "web_search", "outside"), "WebSearch web_search"),
    (Tool("agent", "agent"), "Task"),
    (Tool("todo", "todo_list", "agent"), "TodoWrite todo_write"),
    (Tool("ask", "ask", "agent"), "AskQuestion"),
)
TOOLS = by_name(ALIKE)
_SERVERS = "MCP:"


def cursor_tool(name: str) -> Tool:
    """Return what is known of a tool; another server's is named without its server."""
    return OF_A_SERVER if name.startswith(_SERVERS) else find_tool(TOOLS, name)
