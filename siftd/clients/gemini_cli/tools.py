"""Gemini CLI's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "read_file read_many_files"),
    (Tool("edit", "edit"), "replace"),
    (Tool("edit", "write"), "write_file"),
    (Tool("run", "shell"), "run_shell_command"),
    (Tool("search", "grep"), "grep_search search_file_content"),
    (Tool("search", "glob"), "glob list_directory"),
    (Tool("web", "web_fetch", "outside"), "web_fetch"),
    (Tool("web", "web_search", "outside"), "google_web_search"),
    (Tool("other", "server_resource", "outside"), "read_mcp_resource list_mcp_resources"),
    (Tool("agent", "agent"), "invoke_agent"),
    (Tool("todo", "todo_list", "agent"), "write_todos"),
    (Tool("ask", "ask", "agent"), "ask_user"),
    (Tool("plan", "plan_mode", "agent"), "enter_plan_mode exit_plan_mode"),
    (Tool("other", "skill"), "activate_skill"),
    (Tool("other", "task_look"), "list_background_processes read_background_output"),
    (Tool("other", None, "agent"), "update_topic complete_task save_memory"),
    (Tool("other"), "get_internal_docs"),
)
TOOLS = by_name(ALIKE)
