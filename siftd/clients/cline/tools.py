"""Cline's own tools."""

from __future__ import annotations

from siftd.clients.tool import OF_A_SERVER, UNKNOWN, Tool, by_name

TOOLS = by_name(
    (
        (Tool("read", "read"), "read_files"),
        (Tool("edit", "edit"), "editor"),
        (Tool("edit", "patch"), "apply_patch"),
        (Tool("run", "shell"), "run_commands"),
        (Tool("search", "grep"), "search_codebase"),
        (Tool("web", "web_fetch", "outside"), "fetch_web_content"),
        (Tool("agent", "agent"), "spawn_agent"),
        (Tool("ask", "ask", "agent"), "ask_question"),
        (Tool("other", "skill"), "skills"),
    )
)
_OUR_SERVER = "siftd__"


def known_tool(name: str) -> Tool:
    """Return what is known of a tool; of a server's, `server__tool`, that it is one."""
    return TOOLS.get(name) or (OF_A_SERVER if "__" in name else UNKNOWN)


def standard_name(name: str) -> str:
    """Return a tool's name; of one of our server the name that every agent's are known by."""
    return f"mcp__{name}" if name.startswith(_OUR_SERVER) else name
