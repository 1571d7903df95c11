"""What tools do, by the names that agents give them: the one place that knows such a name outside a client's own room.

Agents spell the same tools alike (`Read`, `read_file`, `view`), so one table serves them all; names are compared in
lower case. A decoder looks here for what it stores of a call (`action`, `said_by`), whoever reads a payload for its
shape (`operation`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from siftd.model import Action, SaidBy

Operation = Literal[
    "read",
    "edit",
    "multi_edit",
    "write",
    "notebook_edit",
    "patch",
    "shell",
    "grep",
    "glob",
    "language_server",
    "web_fetch",
    "web_search",
    "tool_search",
    "server_resource",
    "agent",
    "task_create",
    "task_update",
    "task_look",
    "todo_list",
    "skill",
    "ask",
    "plan",
    "plan_mode",
]
"""What a call does, more closely than its action: calls of one operation have inputs and results of one shape."""


class Tool(NamedTuple):
    """What is known of a tool."""

    action: Action
    operation: Operation | None = None
    said_by: SaidBy = "output"
    """Whose words its result brings. A subagent's come as a tool's result does."""


_ALIKE: tuple[tuple[Tool, str], ...] = (
    (Tool("read", "read"), "read read_file view notebookread"),
    (Tool("edit", "edit"), "edit edit_file replace"),
    (Tool("edit", "multi_edit"), "multiedit"),
    (Tool("edit", "write"), "write write_file"),
    (Tool("edit", "notebook_edit"), "notebookedit"),
    (Tool("edit", "patch"), "apply_patch"),
    (
        Tool("run", "shell"),
        "bash powershell shell local_shell shell_command exec_command run_shell_command run_terminal_cmd",
    ),
    (Tool("search", "grep"), "grep search_file_content"),
    (Tool("search", "glob"), "glob ls list list_dir list_directory"),
    (Tool("search", "language_server"), "lsp"),
    (Tool("web", "web_fetch", "outside"), "webfetch web_fetch"),
    (Tool("web", "web_search", "outside"), "websearch web_search google_web_search"),
    (Tool("other", "server_resource", "outside"), "listmcpresourcestool readmcpresourcetool"),
    (Tool("other", "tool_search"), "toolsearch"),
    (Tool("agent", "agent"), "agent task"),
    (Tool("todo", "task_create", "agent"), "taskcreate"),
    (Tool("todo", "task_update", "agent"), "taskupdate"),
    (Tool("todo", "task_look", "agent"), "taskget tasklist"),
    (Tool("todo", "todo_list", "agent"), "todowrite update_plan"),
    (Tool("other", "task_look"), "taskoutput taskstop bashoutput killshell"),
    (Tool("other", "skill"), "skill slashcommand"),
    (Tool("ask", "ask", "agent"), "askuserquestion"),
    (Tool("plan", "plan", "agent"), "exitplanmode"),
    (Tool("other", "plan_mode", "agent"), "enterplanmode"),
)
KNOWN: dict[str, Tool] = {name: tool for tool, names in _ALIKE for name in names.split()}
"""By the name in lower case."""
UNKNOWN = Tool("other")
OF_A_SERVER = Tool("other", said_by="outside")
_SERVERS = "mcp__"
"""How the name of a tool begins that another server brings."""


def tool_named(name: str) -> Tool:
    """Return what is known of a tool with this name."""
    return OF_A_SERVER if name.startswith(_SERVERS) else KNOWN.get(name.lower(), UNKNOWN)
