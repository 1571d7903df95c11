"""Copilot's own tools, and those of VS Code's agent."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "view read_file"),
    (Tool("edit", "edit"), "edit str_replace_editor replace_string_in_file insert_edit_into_file"),
    (Tool("edit", "multi_edit"), "multi_replace_string_in_file"),
    (Tool("edit", "write"), "create create_file"),
    (Tool("edit", "notebook_edit"), "edit_notebook_file"),
    (Tool("edit", "patch"), "apply_patch"),
    (Tool("run", "shell"), "bash powershell run_in_terminal"),
    (Tool("search", "grep"), "grep grep_search semantic_search"),
    (Tool("search", "glob"), "glob file_search list_dir"),
    (Tool("web", "web_fetch", "outside"), "web_fetch fetch_webpage"),
    (Tool("web", "web_search", "outside"), "web_search"),
    (Tool("agent", "agent"), "task runSubagent"),
    (Tool("todo", "todo_list", "agent"), "update_todo manage_todo_list"),
    (Tool("other", "task_look"), "read_bash write_bash stop_bash list_bash get_terminal_output read_agent list_agents"),
    (Tool("other", "skill"), "skill"),
    (Tool("ask", "ask", "agent"), "ask_user"),
    (Tool("plan", "plan", "agent"), "exit_plan_mode"),
    (Tool("other", None, "agent"), "report_intent"),
)
TOOLS = by_name(ALIKE)
_BORROWED = {
    "Read": "view",
    "Edit": "edit",
    "Write": "create",
    "Bash": "bash",
    "Grep": "grep",
    "Glob": "glob",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Agent": "task",
    "TodoWrite": "update_todo",
    "AskUserQuestion": "ask_user",
    "rg": "grep",
}
"""What a hook whose event has a name like Claude Code's is told instead of the tool's own name."""
PATCH_MARK = "*** Begin Patch"


def own_name(tool: str, tool_input: object) -> str:
    """Return a tool's own name, whichever naming a hook or a session file uses."""
    if tool == "Edit" and isinstance(tool_input, dict) and PATCH_MARK in str(tool_input.get("input"))[:200]:
        return "apply_patch"
    return _BORROWED.get(tool, tool)
