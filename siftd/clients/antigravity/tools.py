"""Antigravity's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "view_file view_file_outline view_code_item"),
    (Tool("edit", "edit"), "replace_file_content"),
    (Tool("edit", "multi_edit"), "multi_replace_file_content"),
    (Tool("edit", "write"), "write_to_file"),
    (Tool("run", "shell"), "run_command"),
    (Tool("search", "grep"), "codebase_search grep_search"),
    (Tool("search", "glob"), "find_by_name list_dir"),
    (Tool("web", "web_fetch", "outside"), "read_url_content"),
    (Tool("web", "web_search", "outside"), "search_web"),
    (Tool("agent", "agent"), "browser_subagent"),
    (Tool("other", "task_look"), "command_status"),
    (Tool("other", None, "agent"), "task_boundary notify_user"),
)
TOOLS = by_name(ALIKE)
