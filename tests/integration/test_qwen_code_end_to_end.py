"""A person wires siftd into a real Qwen Code, works, and is given what was known in another session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agent_project import NEW, OLD, AgentProject
from npm_programs import require_program
from scripted_llm import Call, Say, ScriptedLlm, Turn

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

PROMPT = "Expired tokens are accepted. Find out why and fix it."
SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
    "model": {"name": "scripted"},
}
CHECK = Call("run_shell_command", {"command": "python3 check_auth.py", "description": "Check", "is_background": False})
CALLS = [
    ("agent", "ok"),
    ("edit", "ok"),
    ("no_such_tool", "failed"),
    ("read_file", "failed"),
    ("read_file", "ok"),
    ("read_file", "ok"),
    ("run_shell_command", "failed"),
    ("run_shell_command", "ok"),
]


@dataclass
class Qwen:
    """The program in a project."""

    where: AgentProject
    program: list[str]
    settings: Path
    before: bytes

    def work(self, prompt: str, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """Give it a prompt, and return the requests that its model got."""
        with ScriptedLlm(turns) as model:
            self.where.work([*self.program, "--yolo", "-p", prompt], {"OPENAI_BASE_URL": f"{model.url}/v1"})
            assert model.left == 0
        self.where.mem("drain")
        return [each for each in model.requests if each.get("tools")]


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Qwen]:
    program = require_program("qwen-code")
    key = {"OPENAI_API_KEY": "x", "OPENAI_MODEL": "scripted", "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"}
    where = AgentProject(tmp_path_factory.mktemp("qwen"), key)
    settings = where.home / ".qwen" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(SETTINGS))
    made = Qwen(where, program, settings, settings.read_bytes())
    where.mem("install", "--client", "qwen-code")
    yield made
    where.end()


@pytest.fixture(scope="module")
def first(qwen: Qwen) -> list[dict[str, Any]]:
    auth, absent = str(qwen.where.project / "auth.py"), str(qwen.where.project / "absent.py")
    readme = str(qwen.where.project / "README.md")
    agent = {
        "description": "Read the README",
        "prompt": "SUBTASK: say what README.md says",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    turns = [
        Turn([Say("I look first."), Call("read_file", {"file_path": auth}), CHECK], "Expired", "SUBTASK"),
        Turn([Call("edit", {"file_path": auth, "old_string": OLD, "new_string": NEW})], without="SUBTASK"),
        Turn([CHECK, Call("read_file", {"file_path": absent}), Call("no_such_tool", {"a": 1})], without="SUBTASK"),
        Turn([Call("agent", agent)], without="SUBTASK"),
        Turn([Call("read_file", {"file_path": readme})], match="SUBTASK"),
        Turn([Say("README.md says: demo")], match="SUBTASK"),
        Turn([Say("Fixed: validate_token compares the expiry with the clock; the check passes.")]),
    ]
    return qwen.work(PROMPT, turns)


def test_each_call_the_prompt_and_the_ends_are_captured_and_told_once_by_the_file(qwen: Qwen, first: Any) -> None:
    told = "SELECT tool, outcome FROM events WHERE kind = 'tool' ORDER BY 1, 2"
    assert qwen.where.rows(told) == CALLS
    kinds = "SELECT kind, count(*) FROM events WHERE kind != 'tool' GROUP BY 1 ORDER BY 1"
    once = [("assistant_text", 1), ("prompt", 1), ("subagent_end", 1), ("turn_end", 1)]
    assert qwen.where.rows(kinds) == once
    read = qwen.where.mem("backfill", "--client", "qwen-code")
    assert (read["errors"], read["captured"]) == (0, 0), read
    assert (qwen.where.rows(told), qwen.where.rows(kinds)) == (CALLS, once)


def test_another_session_is_given_the_brief_and_a_prompt_about_something_else_nothing(qwen: Qwen, first: Any) -> None:
    given = json.dumps(qwen.work("What did we do about expired tokens?", [Turn([Say("We mended it.")])])[0]["messages"])
    assert "changed auth.py" in given
    other = qwen.work("Name a river in Peru.", [Turn([Say("Ucayali.")])])[0]["messages"]
    assert "user-prompt-submit-context" not in json.dumps(other[-1])
    kept = qwen.where.rows("SELECT count(*) FROM events WHERE payload_json LIKE '%siftd-memory%'")
    assert kept == [(0,)]


def test_every_byte_of_the_settings_comes_back(qwen: Qwen, first: Any) -> None:
    before = json.loads(qwen.before)
    qwen.where.mem("uninstall", "--client", "qwen-code")
    left = json.loads(qwen.settings.read_bytes())
    assert {key: left[key] for key in before} == before
    assert b"siftd" not in qwen.settings.read_bytes()
    qwen.where.mem("install", "--client", "qwen-code")
