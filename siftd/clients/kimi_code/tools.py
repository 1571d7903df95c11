"""Kimi Code's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("read", "read"), "Read ReadMediaFile"),
    (Tool("edit", "edit"), "Edit"),
    (Tool("edit", "write"), "Write"),
    (Tool("run", "shell"), "Bash"),
    (Tool("search", "grep"), "Grep"),
    (Tool("search", "glob"), "Glob"),
    (Tool("web", "web_fetch", "outside"), "FetchURL"),
    (Tool("web", "web_search", "outside"), "WebSearch"),
    (Tool("agent", "agent"), "Agent AgentSwarm"),
    (Tool("todo", "todo_list", "agent"), "TodoList"),
    (Tool("ask", "ask", "agent"), "AskUserQuestion"),
    (Tool("plan", "plan", "agent"), "ExitPlanMode"),
    (Tool("other", "plan_mode", "agent"), "EnterPlanMode"),
    (Tool("other", "skill"), "Skill"),
    (Tool("other", "task_look"), "TaskList TaskOutput TaskStop WaitFor"),
)
TOOLS = by_name(ALIKE)
