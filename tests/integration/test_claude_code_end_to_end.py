"""A person installs siftd, works with a real Claude Code, and finds yesterday's work.

Nothing is played but the model: the client, its hooks, the couriers, the daemon, git and the commands are real.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_code import ClaudeRun, require_claude, run_claude
from scripted_api import Script, call, say

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

MEM = Path(sys.executable).with_name("mem")
PROMPT = "Stale session tokens still open the door. Find out why and fix it."
SOURCE = '''import time


def validate_token(token, now=None):
    """Return the claims of a session token."""
    claims = decode(token)
    return claims


def decode(token):
    name, _, expiry = token.partition(":")
    return {"sub": name, "exp": int(expiry or 0)}
'''
TEST = """import auth

try:
    auth.validate_token("ann:1", now=2)
except ValueError:
    print("1 passed")
else:
    raise SystemExit("expired token accepted")
"""
FIX = """    claims = decode(token)
    if claims["exp"] < (time.time() if now is None else now):
        raise ValueError("token expired")
    return claims"""


@dataclass
class Desk:
    """One person's home and project, with siftd installed into their Claude Code."""

    home: Path
    project: Path

    def environment(self) -> dict[str, str]:
        return {"PATH": f"{MEM.parent}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def mem(self, *arguments: str) -> Any:
        """Run `mem ... --json` in the project and return what it prints."""
        done = self._run_mem(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def examined(self) -> list[dict[str, Any]]:
        """Return what `mem doctor` finds; on a busy machine it may find that a hook had to wait, and fails."""
        checks: list[dict[str, Any]] = json.loads(self._run_mem("doctor").stdout)["checks"]
        return checks

    def _run_mem(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(MEM), *arguments, "--json"]
        return subprocess.run(
            command, cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=60, check=False
        )

    def work(self, prompt: str, script: Script) -> ClaudeRun:
        run = run_claude(prompt, script=script, home=self.home, project=self.project, env=self.environment())
        assert run.returncode == 0, run.stderr
        return run

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database with the stock sqlite3 program."""
        database = self.mem("info")["database"]
        done = subprocess.run(["sqlite3", "-json", database, sql], capture_output=True, text=True, check=True)
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]


def processes_of(base: Path) -> str:
    return subprocess.run(["pgrep", "-af", str(base)], capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    require_claude()
    base = tmp_path_factory.mktemp("desk")
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    made.project.mkdir()
    (made.project / "auth.py").write_text(SOURCE)
    (made.project / "check_auth.py").write_text(TEST)
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.mem("install")
    yield made
    with contextlib.suppress(AssertionError):
        made.mem("stop")
    deadline = time.monotonic() + 5
    while left := processes_of(base):
        assert time.monotonic() < deadline, f"processes of ours are left: {left}"


@pytest.fixture(scope="module")
def session(desk: Desk) -> ClaudeRun:
    """One working session: reads, a failing command, an edit, a passing command, a subagent, a call that is invalid."""
    auth = str(desk.project / "auth.py")
    script = Script(
        [
            [say("I look first."), call("Read", file_path=auth)],
            [call("Bash", command="python3 check_auth.py", description="Run the check")],
            [call("Edit", file_path=auth, old_string="    claims = decode(token)\n    return claims", new_string=FIX)],
            [call("Bash", command="python3 check_auth.py", description="Run the check again")],
            [call("Read", file_path=str(desk.project / "absent.py")), call("NoSuchTool", a=1)],
            [call("Agent", description="callers", prompt="WHO CALLS it?", subagent_type="Explore",
                  run_in_background=False)],
            [say("Outdated tokens are refused now: validate_token compares the expiry with the clock.")],
        ],
        {"WHO CALLS": [[call("Bash", command="grep -rn validate_token ."), say("Looking.")], [say("Only the check.")]]},
    )  # fmt: skip
    return desk.work(PROMPT, script)


def test_every_tool_call_the_prompt_and_the_outcome_are_in_the_store(desk: Desk, session: ClaudeRun) -> None:
    desk.mem("drain")  # takes in what couriers have spooled on a busy machine
    found = desk.rows("SELECT tool, outcome FROM events ORDER BY id")
    assert sorted(found, key=str) == sorted(
        [
            ("UserPromptSubmit", None),
            ("Read", "ok"),
            ("Bash", "failed"),
            ("Edit", "ok"),
            ("Bash", "ok"),
            ("Read", "failed"),
            ("Bash", "ok"),
            ("SubagentStop", None),
            ("Agent", "ok"),
            ("Stop", None),
            ("AssistantText", None),
            ("AssistantText", None),
            ("NoSuchTool", "failed"),
        ],
        key=str,
    )
    assert desk.rows("SELECT count(*), count(ended_ts), min(source) FROM sessions") == [(1, 1, "claude-code")]


def test_the_hooks_say_nothing_to_the_agent(session: ClaudeRun) -> None:
    assert "<siftd-memory id" not in json.dumps(session.requests)


def test_a_question_in_other_words_finds_the_fix(desk: Desk, session: ClaudeRun) -> None:
    assert desk.mem("drain")["errors"] == 0
    hits = desk.mem("search", "why were outdated tokens accepted")["hits"]
    assert any("validate_token compares the expiry" in hit["text"] for hit in hits[:3])
    assert any(hit["tool"] == "Edit" and "token expired" in hit["text"] for hit in hits)
    by_symbol = desk.mem("search", "--symbol", "validate_token", "--tool", "Edit")["hits"]
    assert [hit["tool"] for hit in by_symbol] == ["Edit"]


def test_what_no_hook_reports_is_read_from_the_transcripts_and_a_backfill_adds_nothing(
    desk: Desk, session: ClaudeRun
) -> None:
    desk.mem("drain")
    texts = "SELECT json_extract(payload_json, '$.text'), agent_id IS NOT NULL FROM events WHERE tool = 'AssistantText'"
    assert sorted(desk.rows(texts)) == [("I look first.", 0), ("Looking.", 1)]
    marked = desk.rows("SELECT json_extract(payload_json, '$._unhooked') FROM events WHERE tool = 'NoSuchTool'")
    assert marked == [("validation",)]
    before = desk.mem("info")["counts"]["events"]
    filled = desk.mem("backfill")
    assert (filled["captured"], filled["skippedDuplicate"], filled["errors"]) == (0, before, 0)


def test_a_subagents_call_is_linked_to_the_call_that_started_it(desk: Desk, session: ClaudeRun) -> None:
    desk.mem("drain")
    linked = desk.rows(
        "SELECT child.tool AS child, starter.tool AS starter FROM provenance_edges p"
        " JOIN events child ON child.id = p.src_id JOIN events starter ON starter.id = p.dst_id"
        " WHERE p.edge = 'caused_by' AND child.agent_id IS NOT NULL AND starter.tool = 'Agent' ORDER BY child.id"
    )
    calls = [(child, starter) for child, starter in linked if child != "AssistantText"]
    assert calls == [("Bash", "Agent"), ("SubagentStop", "Agent")]


def test_the_slash_command_answers_in_the_session(desk: Desk, session: ClaudeRun) -> None:
    run = desk.work("/mem info", Script([[say("Shown.")]]))
    asked = json.dumps(run.requests)
    assert "not found" not in asked.lower() or "workspace" in asked
    assert desk.mem("info")["workspace"]["key"] in asked


def test_the_agent_has_the_tools_after_an_installation(desk: Desk, session: ClaudeRun) -> None:
    run = desk.work("Which tools do you have?", Script([[say("These.")]]))
    offered = {tool["name"] for request in run.requests for tool in request.get("tools", ())}
    assert {"mcp__siftd__search", "mcp__siftd__show", "mcp__siftd__remember"} <= offered | deferred(run)


def deferred(run: ClaudeRun) -> set[str]:
    """Return the tools that the client names only, to be looked up: many servers' tools would fill a request."""
    return set(re.findall(r"mcp__siftd__\w+", json.dumps(run.requests)))


def test_uninstall_gives_the_settings_back_byte_for_byte(desk: Desk, session: ClaudeRun) -> None:
    settings = desk.home / ".claude" / "settings.json"
    desk.mem("uninstall")
    assert not settings.exists() or "hooks/hook.py" not in settings.read_text()
    assert "siftd" not in json.loads((desk.home / ".claude.json").read_text()).get("mcpServers", {})
    desk.mem("install")
