"""Qwen Code's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "read_file read_many_files"),
    (Tool("edit", "edit"), "edit replace"),
    (Tool("edit", "write"), "write_file"),
    (Tool("edit", "notebook_edit"), "notebook_edit"),
    (Tool("run", "shell"), "run_shell_command"),
    (Tool("search", "grep"), "grep_search"),
    (Tool("search", "glob"), "glob list_directory"),
    (Tool("search", "language_server"), "lsp"),
    (Tool("web", "web_fetch", "outside"), "web_fetch"),
    (Tool("web", "web_search", "outside"), "web_search"),
    (Tool("agent", "agent"), "agent task"),
    (Tool("todo", "todo_list", "agent"), "todo_write"),
    (Tool("ask", "ask", "agent"), "ask_user_question"),
    (Tool("plan", "plan", "agent"), "exit_plan_mode"),
    (Tool("other", "plan_mode", "agent"), "enter_plan_mode"),
    (Tool("other", "skill"), "skill"),
    (Tool("other", "tool_search"), "tool_search"),
    (Tool("other", None, "agent"), "save_memory"),
)
TOOLS = by_name(ALIKE)
