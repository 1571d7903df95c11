"""Every tool name with a renderer, in the shape in which its client sends it: told with its names, claiming no more.

The texts word for word are in the golden file; here is what each of them must not miss.
"""

from __future__ import annotations

from typing import Any

import pytest
from known_kinds import RENDERED, item_of

from siftd.clients.tools import KNOWN, tool_named
from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item
from siftd.summarise.extractive import render
from siftd.summarise.grounding import Source, unsupported_claims

CASES: list[tuple[str, dict[str, Any], Any, list[str]]] = [
    (
        "Read",
        {"file_path": "/w/a/auth.py"},
        {"file": {"content": "def login(): pass\n", "numLines": 1}},
        ["a/auth.py", "login"],
    ),
    ("read_file", {"absolute_path": "/w/a/auth.py"}, "def login(): pass\n", ["a/auth.py"]),
    ("read_file", {"path": "a/auth.py"}, "def login(): pass\n", ["a/auth.py"]),
    ("view", {"path": "/w/a/auth.py"}, "def login(): pass\n", ["a/auth.py"]),
    ("NotebookRead", {"notebook_path": "/w/n.ipynb"}, "x", ["n.ipynb"]),
    (
        "Edit",
        {"file_path": "/w/a/auth.py", "old_string": "return 1", "new_string": "return 2"},
        {"structuredPatch": [{"lines": [" def login():", "-return 1", "+return 2"]}]},
        ["a/auth.py", "return 2"],
    ),
    (
        "edit_file",
        {"path": "a/auth.py", "old_string": "return 1", "new_string": "return 2"},
        "ok",
        ["a/auth.py", "return 2"],
    ),
    (
        "replace",
        {"file_path": "/w/a/auth.py", "old_string": "return 1", "new_string": "return 2"},
        "ok",
        ["a/auth.py", "return 2"],
    ),
    (
        "MultiEdit",
        {"file_path": "/w/a/auth.py", "edits": [{"old_string": "x = 1", "new_string": "x = 2"}]},
        {},
        ["a/auth.py"],
    ),
    ("Write", {"file_path": "/w/new.md", "content": "# Tokens\n"}, {"type": "create"}, ["new.md"]),
    ("write_file", {"file_path": "/w/new.md", "content": "# Tokens\n"}, "ok", ["new.md"]),
    ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": "plot(x)", "cell_id": "c1"}, {}, ["n.ipynb"]),
    (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Update File: src/x.py\n@@\n-a\n+b\n*** End Patch"},
        "Success",
        ["src/x.py"],
    ),
    (
        "apply_patch",
        {"command": "*** Begin Patch\n*** Update File: src/x.py\n@@\n-a\n+b\n*** End Patch"},
        "Success",
        ["src/x.py"],
    ),
    ("Bash", {"command": "make all"}, {"stdout": "built", "stderr": ""}, ["make all"]),
    ("PowerShell", {"command": "dotnet build"}, {"stdout": "built", "stderr": ""}, ["dotnet build"]),
    (
        "shell",
        {"command": ["bash", "-lc", "make all"]},
        {"output": "built", "metadata": {"exit_code": 0}},
        ["make all"],
    ),
    ("local_shell", {"command": ["make", "all"]}, "built", ["make all"]),
    ("shell_command", {"command": "make all"}, "built", ["make all"]),
    ("exec_command", {"cmd": "make all"}, "built", ["make all"]),
    ("run_shell_command", {"command": "make all"}, "built", ["make all"]),
    ("run_terminal_cmd", {"command": "make all"}, "built", ["make all"]),
    (
        "Grep",
        {"pattern": "login"},
        {"mode": "files_with_matches", "filenames": ["a/auth.py"], "numFiles": 1},
        ["login", "a/auth.py"],
    ),
    ("search_file_content", {"pattern": "login"}, "Found 1 match: a/auth.py:1: def login", ["login"]),
    ("Glob", {"pattern": "**/*.py"}, {"filenames": ["a.py"], "numFiles": 1}, ["**/*.py", "a.py"]),
    ("LS", {"path": "/w/src"}, "- /w/src/\n  - a.py", ["src"]),
    ("list", {"path": "/w/src"}, "a.py", ["src"]),
    ("list_dir", {"dir_path": "/w/src"}, "a.py", ["src"]),
    ("list_directory", {"path": "/w/src"}, "a.py", ["src"]),
    (
        "LSP",
        {"operation": "findReferences", "filePath": "/w/a.py", "line": 3, "character": 4},
        {"operation": "findReferences", "result": "Found 2 references", "resultCount": 2},
        ["a.py", "findReferences"],
    ),
    (
        "WebFetch",
        {"url": "https://example.com/x", "prompt": "what"},
        {"result": "It says tokens expire.", "code": 200},
        ["example.com/x"],
    ),
    ("web_fetch", {"url": "https://example.com/x"}, "It says tokens expire.", ["example.com/x"]),
    ("web_fetch", {"prompt": "Summarise https://example.com/x"}, "It says tokens expire.", ["example.com/x"]),
    (
        "WebSearch",
        {"query": "token expiry"},
        {"results": [{"content": [{"title": "Expiry", "url": "https://e.com"}]}]},
        ["token expiry"],
    ),
    ("web_search", {"query": "token expiry"}, "x", ["token expiry"]),
    ("google_web_search", {"query": "token expiry"}, "x", ["token expiry"]),
    ("ToolSearch", {"query": "select:Notebook"}, {"matches": ["NotebookEdit"]}, ["select:Notebook"]),
    (
        "Agent",
        {"description": "Find callers", "prompt": "p", "subagent_type": "Explore"},
        {"content": [{"type": "text", "text": "login is called in b.py"}]},
        ["Find callers", "b.py"],
    ),
    (
        "Task",
        {"description": "Find callers", "prompt": "p", "subagent_type": "Explore"},
        {"content": [{"type": "text", "text": "login is called in b.py"}]},
        ["Find callers", "b.py"],
    ),
    ("TaskCreate", {"subject": "Add a clock", "description": "d"}, {"task": {"id": "1"}}, ["Add a clock"]),
    ("TaskUpdate", {"taskId": "4", "status": "completed"}, {"success": True, "taskId": "4"}, ["4", "completed"]),
    ("TaskGet", {"taskId": "4"}, {"task": {"id": "4", "subject": "Add a clock"}}, ["4"]),
    ("TaskList", {}, {"tasks": [{"id": "4", "subject": "Add a clock", "status": "pending"}]}, ["Add a clock"]),
    ("TaskOutput", {"task_id": "b1"}, {"task": {"output": "42 passed"}}, ["b1"]),
    ("TaskStop", {"task_id": "b1"}, {"message": "stopped"}, ["b1"]),
    ("BashOutput", {"bash_id": "b1"}, {"stdout": "42 passed"}, ["b1"]),
    ("KillShell", {"shell_id": "b1"}, {"message": "killed"}, ["b1"]),
    ("TodoWrite", {"todos": [{"content": "Mend login", "status": "in_progress"}]}, {}, ["Mend login"]),
    ("update_plan", {"plan": [{"step": "Mend login", "status": "in_progress"}]}, "Plan updated", ["Mend login"]),
    ("Skill", {"skill": "release"}, {"success": True}, ["release"]),
    ("SlashCommand", {"command": "/release now"}, "ok", ["/release"]),
    (
        "AskUserQuestion",
        {"questions": [{"question": "Which database?"}]},
        {"answers": {"Which database?": "Postgres"}},
        ["Which database?", "Postgres"],
    ),
    ("find", {"pattern": "*.py"}, "auth.py", ["*.py", "auth.py"]),
    ("codesearch", {"query": "token expiry"}, "src/auth.py:1: def login", ["token expiry"]),
    ("question", {"questions": [{"question": "Which database?"}]}, "Postgres", ["Which database?"]),
    ("ExitPlanMode", {"plan": "# Move to Postgres"}, {}, ["Postgres"]),
    ("read_many_files", {"file_path": "/w/a/auth.py"}, "def login(): pass\n", ["a/auth.py"]),
    ("ReadMediaFile", {"file_path": "/w/a/login.png"}, "an image", ["a/login.png"]),
    ("grep_search", {"pattern": "login"}, "Found 1 match: a/auth.py:1: def login", ["login"]),
    ("FetchURL", {"url": "https://e.example/tokens"}, "Tokens expire.", ["e.example/tokens"]),
    ("invoke_agent", {"agent_name": "generalist", "prompt": "Say what README says"}, "It says demo.", ["README"]),
    ("AgentSwarm", {"description": "Read the README", "prompt": "Say it"}, "It says demo.", ["README"]),
    ("write_todos", {"todos": [{"description": "Mend login", "status": "pending"}]}, "ok", ["Mend login"]),
    ("todo_write", {"todos": [{"id": "1", "content": "Mend login", "status": "pending"}]}, "ok", ["Mend login"]),
    ("TodoList", {"todos": [{"title": "Mend login", "status": "pending"}]}, "ok", ["Mend login"]),
    ("ask_user", {"questions": [{"question": "Which database?"}]}, "Postgres", ["Which database?"]),
    ("ask_user_question", {"questions": [{"question": "Which database?"}]}, "Postgres", ["Which database?"]),
    ("exit_plan_mode", {"plan": "# Move to Postgres"}, "ok", ["Postgres"]),
    ("activate_skill", {"name": "memory"}, "ok", ["memory"]),
    ("tool_search", {"query": "memory tools"}, "search", ["memory tools"]),
    ("notebook_edit", {"notebook_path": "/w/n.ipynb", "new_source": "plot(x)", "cell_id": "c1"}, "ok", ["n.ipynb"]),
    ("Execute", {"command": "pytest -q"}, "2 passed in 0.1s\n", ["pytest -q", "2 passed"]),
    ("Create", {"file_path": "/w/new.md", "content": "# Tokens\n"}, {"success": True}, ["new.md"]),
    (
        "ApplyPatch",
        {"input": "*** Begin Patch\n*** Update File: src/x.py\n@@\n-a\n+b\n*** End Patch"},
        "ok",
        ["src/x.py"],
    ),
    ("AskUser", {"question": "Which database?"}, "Postgres", ["Which database?"]),
    ("ExitSpecMode", {"plan": "# Move to Postgres"}, "ok", ["Postgres"]),
    ("view_image", {"path": "/w/a/page.png"}, "attached local image path", ["a/page.png"]),
    ("request_user_input", {"questions": [{"question": "Which database?"}]}, "Postgres", ["Which database?"]),
    (
        "spawn_agent",
        {"task_name": "readme", "message": "Say what README says"},
        {"task_name": "/root/readme"},
        ["README"],
    ),
    (
        "collaborationspawn_agent",
        {"task_name": "readme", "message": "Say what README says"},
        {"task_name": "/root/readme"},
        ["README"],
    ),
    ("view_file", {"file_path": "/w/a/auth.py"}, "def login(): pass\n", ["a/auth.py"]),
    ("view_file_outline", {"file_path": "/w/a/auth.py"}, "def login", ["a/auth.py"]),
    ("view_code_item", {"file_path": "/w/a/auth.py"}, "def login", ["a/auth.py"]),
    (
        "replace_file_content",
        {"file_path": "/w/a/auth.py", "old_string": "return 1", "new_string": "return 2"},
        "ok",
        ["a/auth.py", "return 2"],
    ),
    (
        "multi_replace_file_content",
        {"file_path": "/w/a/auth.py", "edits": [{"old_string": "x = 1", "new_string": "x = 2"}]},
        "ok",
        ["a/auth.py"],
    ),
    ("write_to_file", {"file_path": "/w/new.md", "content": "# Tokens\n"}, "ok", ["new.md"]),
    ("run_command", {"command": "make test"}, "12 passed", ["make test", "12 passed"]),
    ("codebase_search", {"query": "login"}, "a/auth.py: def login", ["login"]),
    ("find_by_name", {"pattern": "*.py"}, "a/auth.py", ["*.py"]),
    ("read_url_content", {"url": "https://e.example/tokens"}, "Tokens expire.", ["e.example/tokens"]),
    ("search_web", {"query": "token expiry"}, "Tokens expire.", ["token expiry"]),
    ("browser_subagent", {"prompt": "Open the login page"}, "It opens.", ["login page"]),
    ("command_status", {"command_id": "b1"}, "done", []),
    ("list_background_processes", {}, "- [PID 7] RUNNING: `make`", []),
    ("read_background_output", {"pid": 7}, "done", []),
    ("WaitFor", {"task_id": "b1"}, "done", []),
]

_BY_OPERATION = {tool_named(case[0]).operation: case for case in reversed(CASES)}
_TOLD = {tool.lower() for tool, *_ in CASES}
CASES += [
    (tool, *_BY_OPERATION[known.operation][1:])
    for tool, known in KNOWN.items()
    if tool not in _TOLD and known.operation in _BY_OPERATION
]
"""Of each operation one case at least; whatever else a client calls such a tool is told alike."""


def item(tool: str, **payload: Any) -> Item:
    return item_of(event_id=1, tool=tool, payload=payload, outcome="failed" if "error" in payload else "ok", cwd="/w")


@pytest.mark.parametrize(("tool", "tool_input", "response", "wanted"), CASES)
def test_a_call_is_told_with_its_names_and_nothing_that_it_does_not_say(
    tool: str, tool_input: dict[str, Any], response: Any, wanted: list[str]
) -> None:
    call = item(tool, tool_input=tool_input, tool_response=response)
    text = render(call).text
    assert [each for each in wanted if each not in text] == [], text
    assert len(text) <= MAX_SUMMARY_CHARS
    assert "was called" not in text
    assert "{" not in text, "no dump of a payload"
    assert unsupported_claims(text, Source.of(call)) == []


@pytest.mark.parametrize(("tool", "tool_input", "response", "wanted"), CASES)
def test_a_call_that_failed_says_so_with_its_first_error(
    tool: str, tool_input: dict[str, Any], response: Any, wanted: list[str]
) -> None:
    call = item(tool, tool_input=tool_input, error="PermissionError: the door is shut\nTraceback follows")
    text = render(call).text
    assert "failed" in text
    assert "the door is shut" in text
    assert unsupported_claims(text, Source.of(call)) == []


def test_no_renderer_is_left_out() -> None:
    assert {tool.lower() for tool, *_ in CASES} == set(RENDERED)
