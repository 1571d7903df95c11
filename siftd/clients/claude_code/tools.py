"""Claude Code's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "Read NotebookRead"),
    (Tool("edit", "edit"), "Edit"),
    (Tool("edit", "multi_edit"), "MultiEdit"),
    (Tool("edit", "write"), "Write"),
    (Tool("edit", "notebook_edit"), "NotebookEdit"),
    (Tool("run", "shell"), "Bash PowerShell"),
    (Tool("search", "grep"), "Grep"),
    (Tool("search", "glob"), "Glob LS"),
    (Tool("search", "language_server"), "LSP"),
    (Tool("web", "web_fetch", "outside"), "WebFetch"),
    (Tool("web", "web_search", "outside"), "WebSearch"),
    (Tool("other", "server_resource", "outside"), "ListMcpResourcesTool ReadMcpResourceTool"),
    (Tool("other", "tool_search"), "ToolSearch"),
    (Tool("agent", "agent"), "Agent Task"),
    (Tool("todo", "task_create", "agent"), "TaskCreate"),
    (Tool("todo", "task_update", "agent"), "TaskUpdate"),
    (Tool("todo", "task_look", "agent"), "TaskGet TaskList"),
    (Tool("todo", "todo_list", "agent"), "TodoWrite"),
    (Tool("other", "task_look"), "TaskOutput TaskStop BashOutput KillShell"),
    (Tool("other", "skill"), "Skill SlashCommand"),
    (Tool("ask", "ask", "agent"), "AskUserQuestion"),
    (Tool("plan", "plan", "agent"), "ExitPlanMode"),
    (Tool("other", "plan_mode", "agent"), "EnterPlanMode"),
)
TOOLS = by_name(ALIKE)
