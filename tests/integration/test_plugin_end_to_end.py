"""A person installs the plugin by the client's own commands; a second session is given, and asks for, the first's work.

Nothing is played but the model. What the agent was given is read from the requests that the API receives.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_code import TOOLS, ClaudeRun, require_claude, run_claude
from daemons import wait_until
from scripted_api import Script, call, say

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

MEM = Path(sys.executable).with_name("mem")
CHECKOUT = Path(__file__).resolve().parents[2]
SEARCH = "mcp__plugin_siftd_siftd__search"
REMEMBER = "mcp__plugin_siftd_siftd__remember"
SKILLS = ("init", "save", "usage", "hygiene", "index-codebase")
FIRST = "Stale session tokens still open the door of the frobnicator. Fix it."
CLOSING = "The frobnicator refuses stale session tokens now: validate_token compares the expiry with the clock."
RELATED = "Which clock does the frobnicator use when validate_token refuses stale session tokens?"
UNRELATED = "Write a haiku about the sea."


@dataclass
class Desk:
    """One person's home and project, with the plugin installed into their Claude Code."""

    home: Path
    project: Path

    def environment(self) -> dict[str, str]:
        return {"PATH": f"{MEM.parent}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def mem(self, *arguments: str) -> Any:
        command = [str(MEM), *arguments, "--json"]
        done = subprocess.run(
            command, cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def claude(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the client's own commands."""
        closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        return subprocess.run(
            [str(require_claude()), *arguments],
            cwd=self.project, env=self.environment() | closed, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def work(self, prompt: str, script: Script) -> ClaudeRun:
        tools = f"{TOOLS},{SEARCH},{REMEMBER}"
        run = run_claude(
            prompt, script=script, home=self.home, project=self.project, env=self.environment(), tools=tools
        )
        assert run.returncode == 0, run.stderr
        return run

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        database = self.mem("info")["database"]
        done = subprocess.run(["sqlite3", "-json", database, sql], capture_output=True, text=True, check=True)
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]


def given(run: ClaudeRun, event: str) -> str:
    """Return what the main conversation's first request holds that a hook of ours added at an event."""
    request = next(each for each in run.requests if each.get("tools"))
    texts = [block.get("text", "") for message in request["messages"] for block in _blocks(message["content"])]
    marked = [text for text in texts if "<siftd-memory" in text and f"{event} hook additional context" in text]
    return "\n".join(marked)


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"text": content}] if isinstance(content, str) else content


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    require_claude()
    base = tmp_path_factory.mktemp("plugin")
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    made.project.mkdir()
    (made.project / "auth.py").write_text("def validate_token(token):\n    return token\n")
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    for command in made.mem("install", "--plugin")["commands"]:
        done = made.claude(*shlex.split(command)[1:])
        assert done.returncode == 0, done.stdout + done.stderr
    yield made
    with contextlib.suppress(AssertionError, json.JSONDecodeError):
        made.mem("stop")
    seek = ["pgrep", "-f", str(base)]
    wait_until(
        "no process of ours is left", lambda: subprocess.run(seek, stdout=subprocess.DEVNULL, check=False).returncode
    )


def skill(name: str) -> str:
    return (CHECKOUT / "hooks" / "skills" / name / "SKILL.md").read_text()


@pytest.fixture(scope="module")
def first(desk: Desk) -> ClaudeRun:
    auth = str(desk.project / "auth.py")
    script = Script(
        [
            [call("Read", file_path=auth)],
            [
                call(
                    "Edit",
                    file_path=auth,
                    old_string="return token",
                    new_string="return token if fresh(token) else None",
                )
            ],
            [say(CLOSING)],
        ]
    )
    run = desk.work(FIRST, script)
    assert desk.mem("drain")["errors"] == 0
    return run


@pytest.fixture(scope="module")
def second(desk: Desk, first: ClaudeRun) -> ClaudeRun:
    """A session that was given its brief: on a machine that is busy for longer than a hook waits, the third at last."""
    asked = [call(SEARCH, query="stale session tokens frobnicator")]
    for _ in range(3):
        run = desk.work(RELATED, Script([asked, [say("It compares the expiry with the clock, says #s1.")]]))
        if given(run, "SessionStart"):
            break
    return run


def test_the_client_finds_nothing_wrong_with_plugin_and_marketplace(desk: Desk) -> None:
    for path in (CHECKOUT / "hooks", CHECKOUT):
        done = desk.claude("plugin", "validate", str(path), "--strict", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        told = json.loads(done.stdout)
        assert (told["manifest"]["errors"], told["manifest"]["warnings"]) == ([], [])
        if path != CHECKOUT:
            assert sorted(told["provides"]["skills"]) == sorted(f"siftd:{name}" for name in SKILLS)


def test_the_first_session_is_captured_once_and_given_nothing(desk: Desk, first: ClaudeRun) -> None:
    assert given(first, "SessionStart") + given(first, "UserPromptSubmit") == ""
    assert desk.rows("SELECT count(*) FROM events WHERE tool IN ('Read', 'Edit', 'Stop', 'UserPromptSubmit')") == [(4,)]


def test_the_second_session_is_given_the_firsts_work_and_asks_for_it(desk: Desk, second: ClaudeRun) -> None:
    brief, recall = given(second, "SessionStart"), given(second, "UserPromptSubmit")
    assert "changed auth.py" in brief, "what the last session did stands at the start, in words of ours"
    assert FIRST not in brief + recall, "the turn that the start was told of comes not again"
    assert CLOSING not in brief + recall, "how it closed stands on a file that was read: only its id is given"
    given_pieces = desk.mem("injections")["injections"]
    pieces = [each["piece"] for each in given_pieces if each["sessionId"] == given_pieces[0]["sessionId"]]
    assert len(pieces) == len(set(pieces)), "no piece twice"
    assert "validate_token compares the expiry" in json.dumps(second.requests[-1]["messages"]), "its search found it"


def test_an_off_topic_prompt_adds_not_a_byte(desk: Desk, second: ClaudeRun) -> None:
    run = desk.work(UNRELATED, Script([[say("Waves.")]]))
    assert given(run, "UserPromptSubmit") == ""


def test_nothing_that_was_given_is_captured_again(desk: Desk, second: ClaudeRun) -> None:
    desk.mem("backfill")
    assert desk.rows("SELECT count(*) FROM events WHERE payload_json LIKE '%siftd-memory%'") == [(0,)]
    (payload,) = desk.rows(f"SELECT payload_json FROM events WHERE tool = '{SEARCH}' LIMIT 1")
    kept = json.loads(payload[0])
    assert kept["tool_input"] == {"query": "stale session tokens frobnicator"}
    assert set(kept["tool_response"]) == {"ids"}


def test_doctor_tells_how_agent_and_memory_meet(desk: Desk, second: ClaudeRun) -> None:
    checks = {each["link"]: each for each in desk.mem("doctor")["checks"] if each["link"] in ("tools", "memory")}
    assert (checks["tools"]["state"], "the plugin" in checks["tools"]["message"]) == ("ok", True)
    assert "MEMORY.md" in checks["memory"]["message"]


# ---- skills, in sessions of their own -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SKILLS)
def test_each_skill_is_asked_for_by_the_plugins_name(desk: Desk, name: str) -> None:
    heading = next(line for line in skill(name).splitlines() if line.startswith("# "))
    run = desk.work(f"/siftd:{name}", Script([[say("As you say.")]]))
    assert heading in json.dumps(run.requests[0]["messages"], ensure_ascii=False)


def test_the_clients_own_commands_of_these_names_stay_its_own(desk: Desk) -> None:
    """It has an `/init` and a `/usage`, which is why ours are known by the plugin's name alone."""
    run = desk.work("/init", Script([[say("As you say.")]]))
    asked = json.dumps(run.requests[0]["messages"], ensure_ascii=False)
    assert "CLAUDE.md" in asked
    assert "# Begin with the memory" not in asked
    done = desk.work("/usage", Script([[say("As you say.")]]))
    assert "# Use the memory" not in json.dumps(done.requests, ensure_ascii=False)


def test_the_agent_finds_the_skills_by_itself_and_saves_as_one_says(desk: Desk) -> None:
    statement = "The frobnicator reads its clock from NTP, because the board has no battery."
    turns = [[call("Skill", skill="siftd:save")], [call(REMEMBER, text=statement, type="fact")], [say("Kept.")]]
    run = desk.work("Save that the board has no battery.", Script(turns))
    listed = json.dumps(run.requests[0]["messages"], ensure_ascii=False)
    for name in SKILLS:
        assert f"- siftd:{name}: " in listed
    assert "# Save to the memory" in json.dumps(run.requests[-1]["messages"], ensure_ascii=False)
    assert statement in json.dumps(desk.mem("memories"))
