"""A person installs siftd into a real OpenCode, works with it, and finds yesterday's work.

Nothing is played but the model: OpenCode, its plugin, the hook, the couriers, the daemon and the commands are real.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from daemons import wait_until
from npm_programs import require_program
from opencode import configuration, environment, run_opencode
from scripted_llm import Call, Say, ScriptedLlm, Turn

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

MEM = Path(sys.executable).with_name("mem")
PROMPT = "Expired tokens are accepted. Find out why and fix it."
BLOCK = "<siftd-memory id="


@dataclass
class Desk:
    """One person's home and project, with siftd installed into their OpenCode."""

    home: Path
    project: Path

    @property
    def env(self) -> dict[str, str]:
        return environment(self.home, f"{MEM.parent}:{os.environ['PATH']}")

    @property
    def config(self) -> Path:
        return self.home / ".config" / "opencode" / "opencode.json"

    def mem(self, *arguments: str) -> Any:
        command = [str(MEM), *arguments, "--json"]
        done = subprocess.run(
            command, cwd=self.project, env=self.env, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def work(self, *arguments: str, turns: list[Turn]) -> ScriptedLlm:
        """Give OpenCode a prompt, and return the model that it spoke to once the turn's end is kept."""
        ends = len(self.rows("SELECT id FROM events WHERE kind = 'turn_end'"))
        llm = run_opencode(*arguments, turns=turns, config=self.config, project=self.project, env=self.env)
        assert llm.left == 0
        wait_until(
            "the turn's end is kept", lambda: len(self.rows("SELECT id FROM events WHERE kind = 'turn_end'")) > ends
        )
        self.mem("drain")
        return llm

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database with the stock sqlite3 program."""
        database = self.mem("info")["database"]
        if not Path(database).exists():
            return []
        done = subprocess.run(["sqlite3", "-json", database, sql], capture_output=True, text=True, check=True)
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    require_program("opencode")
    base = tmp_path_factory.mktemp("opencode")
    made = Desk(base / "home", base / "project")
    made.config.parent.mkdir(parents=True)
    made.project.mkdir()
    (made.project / "auth.py").write_text("def validate(claims):\n    return True\n")
    (made.project / "README.md").write_text("# demo\n")
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.config.write_text(configuration("http://127.0.0.1:1"))
    made.mem("install", "--client", "opencode")
    yield made
    with contextlib.suppress(AssertionError):
        made.mem("stop")


@pytest.fixture(scope="module")
def session(desk: Desk) -> ScriptedLlm:
    """A session with a command and an edit that fail, our tool, a tool that is none, a subagent, and a resumption."""
    source = f"{desk.project}/auth.py"
    edit = {"filePath": source, "oldString": "return True", "newString": 'return claims["exp"] > 0'}
    task = {"description": "Read it", "prompt": "SUBTASK: say what README.md says", "subagent_type": "general"}
    calls = [
        [
            Say("I will read the code."),
            Call("read", {"filePath": source}),
            Call("bash", {"command": "echo boom; exit 3"}),
        ],
        [Call("edit", edit), Call("edit", edit | {"oldString": "no such line"})],
        [Call("siftd_search", {"query": "expired tokens"}), Call("no_such_tool", {"a": 1})],
        [Call("task", task)],
    ]
    first = desk.work(
        PROMPT,
        turns=[
            *(Turn(blocks, without='"SUBTASK') for blocks in calls),
            Turn([Call("read", {"filePath": f"{desk.project}/README.md"})], match="SUBTASK"),
            Turn([Say("README.md says: demo")], match="SUBTASK"),
            Turn([Say("Fixed: validate now compares the expiry with the clock.")]),
        ],
    )
    desk.work(
        "--continue",
        "Does it pass now?",
        turns=[Turn([Call("bash", {"command": "echo passed"})], match="Does it pass"), Turn([Say("It passes.")])],
    )
    return first


def test_a_session_is_kept_with_its_failures_and_its_subagent(desk: Desk, session: ScriptedLlm) -> None:
    sessions = desk.rows("SELECT DISTINCT session_id FROM events")
    assert len(sessions) == 1, "a resumed session is the same, and a subagent is of it"
    calls = desk.rows("SELECT tool, outcome, agent_id IS NOT NULL FROM events WHERE kind = 'tool'")
    assert Counter(calls) == {
        ("read", "ok", 0): 1,
        ("read", "ok", 1): 1,
        ("bash", "failed", 0): 1,
        ("bash", "ok", 0): 1,
        ("edit", "ok", 0): 1,
        ("edit", "failed", 0): 1,
        ("mcp__siftd__search", "ok", 0): 1,
        ("no_such_tool", "failed", 0): 1,
        ("task", "ok", 0): 1,
    }
    kinds = Counter(kind for (kind,) in desk.rows("SELECT kind FROM events WHERE kind <> 'tool'"))
    assert kinds == {"prompt": 2, "assistant_text": 1, "subagent_end": 1, "turn_end": 2}
    [spawned] = desk.rows("SELECT spawned_agent_id FROM events WHERE tool = 'task'")
    assert [spawned] == desk.rows("SELECT DISTINCT agent_id FROM events WHERE agent_id IS NOT NULL")
    assert desk.rows("SELECT DISTINCT json_extract(payload_json, '$._source') FROM events") == [("opencode",)]


def test_the_next_session_is_given_what_the_last_one_left(desk: Desk, session: ScriptedLlm) -> None:
    """In its second request at the latest: on a slow machine the first one does not wait for it."""
    look = Turn([Call("bash", {"command": "git log --oneline -1", "description": "Look at the last commit"})])
    llm = desk.work("Why were expired tokens accepted?", turns=[look, Turn([Say("No check.")])])
    request = [each for each in llm.requests if each.get("tools")][-1]
    system = [str(each) for each in request["messages"] if each["role"] == "system"]
    brief = "".join(each[each.index(BLOCK) :] for each in system if BLOCK in each)
    assert "auth.py" in brief


def test_a_prompt_about_something_else_carries_nothing(desk: Desk, session: ScriptedLlm) -> None:
    llm = desk.work("Which instrument did Miles Davis play?", turns=[Turn([Say("The trumpet.")])])
    [request] = [each for each in llm.requests if each.get("tools")]
    assert not [each for each in request["messages"] if each["role"] == "user" and BLOCK in str(each)]


def test_a_backfill_afterwards_adds_nothing(desk: Desk, session: ScriptedLlm) -> None:
    result = desk.mem("backfill", "--client", "opencode")
    assert (result["captured"], result["errors"]) == (0, 0)
    assert result["skippedDuplicate"] >= len(desk.rows("SELECT id FROM events")) > 0
    assert not desk.rows("SELECT id FROM events WHERE payload_json LIKE '%siftd-memory id=%'")


def test_what_was_installed_goes_without_a_trace(desk: Desk, session: ScriptedLlm) -> None:
    with_ours = desk.config.read_text()
    desk.mem("uninstall", "--client", "opencode")
    assert '"siftd"' in with_ours
    url = desk.config.read_text().partition('"baseURL": "')[2].partition("/v1")[0]
    assert desk.config.read_text() == configuration(url)
    assert not (desk.config.parent / "plugins" / "siftd.js").exists()
