"""Names that many agents give to tools that do the same."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

TOOLS = by_name(
    (
        (Tool("read", "read"), "read read_file view"),
        (Tool("edit", "edit"), "edit edit_file replace"),
        (Tool("edit", "write"), "write write_file"),
        (Tool("edit", "patch"), "apply_patch"),
        (
            Tool("run", "shell"),
            "bash shell local_shell shell_command exec_command run_shell_command run_terminal_cmd",
        ),
        (Tool("search", "grep"), "grep search_file_content"),
        (Tool("search", "glob"), "glob ls list list_dir list_directory"),
        (Tool("web", "web_fetch", "outside"), "web_fetch"),
        (Tool("web", "web_search", "outside"), "web_search google_web_search"),
        (Tool("todo", "todo_list", "agent"), "update_plan"),
    )
)
