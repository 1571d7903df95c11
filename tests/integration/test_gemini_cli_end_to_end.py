"""A person wires siftd into a real Gemini CLI, works, resumes, and finds yesterday's work in another session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agent_project import NEW, OLD, AgentProject
from daemons import wait_until
from npm_programs import require_program
from scripted_llm import Call, Say, ScriptedLlm, Turn

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

PROMPT = "Expired tokens are accepted. Find out why and fix it."
SETTINGS = """{
  // the person's own
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
"""
CHECK = Call("run_shell_command", {"command": "python3 check_auth.py", "description": "Run the check"})
EDIT = {"file_path": "auth.py", "instruction": "compare", "old_string": OLD, "new_string": NEW}
FIRST = [
    Turn(
        [Say("I look first."), Call("read_file", {"file_path": "auth.py"}), CHECK], match="Expired", without="SUBTASK"
    ),
    Turn([Call("replace", EDIT)], without="SUBTASK"),
    Turn([CHECK, Call("read_file", {"file_path": "absent.py"}), Call("no_such_tool", {"a": 1})], without="SUBTASK"),
    Turn(
        [Call("invoke_agent", {"agent_name": "generalist", "prompt": "SUBTASK: say what README.md says"})],
        without="SUBTASK",
    ),
    Turn([Call("read_file", {"file_path": "README.md"})], match="SUBTASK"),
    Turn([Call("complete_task", {"result": {"response": "README.md says: demo"}})], match="SUBTASK"),
    Turn([Say("Fixed: validate_token compares the expiry with the clock; the check passes.")]),
]
CALLS = [
    ("complete_task", "ok"),
    ("invoke_agent", "ok"),
    ("no_such_tool", "failed"),
    ("read_file", "failed"),
    ("read_file", "ok"),
    ("read_file", "ok"),
    ("replace", "ok"),
    ("run_shell_command", "failed"),
    ("run_shell_command", "ok"),
]


@dataclass
class Gemini:
    """The program in a project."""

    where: AgentProject
    program: list[str]
    settings: Path
    before: bytes

    def work(self, prompt: str, turns: Sequence[Turn], *arguments: str) -> list[dict[str, Any]]:
        """Give it a prompt, and return the requests that its model got."""
        with ScriptedLlm(turns) as model:
            command = [*self.program, "-m", "gemini-2.5-pro", "--yolo", *arguments, "-p", prompt]
            self.where.work(command, {"GOOGLE_GEMINI_BASE_URL": model.url})
            assert model.left == 0
        self.where.mem("drain")
        return model.requests


@pytest.fixture(scope="module")
def gemini(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gemini]:
    program = require_program("gemini-cli")
    trusted = {"GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true", "SANDBOX": "", "NO_COLOR": "1"}
    where = AgentProject(tmp_path_factory.mktemp("gemini"), trusted)
    settings = where.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(SETTINGS)
    made = Gemini(where, program, settings, settings.read_bytes())
    where.mem("install", "--client", "gemini-cli")
    yield made
    where.end()


@pytest.fixture(scope="module")
def first(gemini: Gemini) -> list[dict[str, Any]]:
    return gemini.work(PROMPT, FIRST)


def test_each_call_the_prompt_and_the_end_are_captured_and_told_once_by_the_file(gemini: Gemini, first: Any) -> None:
    told = "SELECT tool, outcome FROM events WHERE kind = 'tool' ORDER BY 1, 2"
    assert gemini.where.rows(told) == CALLS
    assert gemini.where.rows("SELECT DISTINCT json_extract(payload_json, '$._source') FROM events") == [("gemini-cli",)]
    kinds = "SELECT kind, count(*) FROM events WHERE kind != 'tool' GROUP BY 1 ORDER BY 1"

    def has_ended() -> bool:
        gemini.where.mem("drain")  # takes in what a courier has spooled on a busy machine
        return bool(gemini.where.rows(kinds) == [("prompt", 1), ("turn_end", 1)])

    wait_until("the prompt and the turn's end have come", has_ended)
    read = gemini.where.mem("backfill", "--client", "gemini-cli")
    assert read["errors"] == 0, read
    assert gemini.where.rows(told) == CALLS
    assert gemini.where.rows(kinds) == [("prompt", 1), ("subagent_end", 1), ("turn_end", 1)]
    assert gemini.where.mem("backfill", "--client", "gemini-cli")["captured"] == 0


def test_a_resumed_session_goes_on_as_the_same(gemini: Gemini, first: Any) -> None:
    turns = [Turn([Call("run_shell_command", {"command": "git diff --stat"})]), Turn([Say("Yes, it passes.")])]
    gemini.work("Does the check of expired tokens pass now?", turns, "--resume", "latest")
    assert gemini.where.rows("SELECT count(DISTINCT session_id) FROM events") == [(1,)]
    assert gemini.where.rows("SELECT count(*) FROM events WHERE kind = 'prompt'") == [(2,)]


def test_another_session_is_given_the_brief_of_the_first_and_searches_by_itself(gemini: Gemini, first: Any) -> None:
    search = Call("mcp_siftd_search", {"query": "expired tokens"})
    requests = gemini.work("What did we do about expired tokens?", [Turn([search]), Turn([Say("We mended it.")])])
    session, brief, *_ = (part["text"] for part in requests[0]["contents"][-1]["parts"])
    assert "changed auth.py" in brief, brief
    assert "siftd is the memory of this project" in session, "the server of our tools was started"
    asked = "SELECT outcome FROM events WHERE tool = 'mcp_siftd_search'"
    assert gemini.where.rows(asked) == [("ok",)]
    kept = gemini.where.rows("SELECT count(*) FROM events WHERE payload_json LIKE '%siftd-memory%'")
    assert kept == [(0,)]


def test_a_prompt_about_something_else_carries_nothing(gemini: Gemini, first: Any) -> None:
    requests = gemini.work("Name a river in Peru.", [Turn([Say("Ucayali.")])])
    (given,) = requests[0]["contents"]
    brief_and_prompt = given["parts"][1:]
    assert len(brief_and_prompt) == 1
    assert brief_and_prompt[0]["text"].endswith("Name a river in Peru.")


def test_every_byte_of_the_settings_comes_back(gemini: Gemini, first: Any) -> None:
    assert b"siftd" in gemini.settings.read_bytes()
    gemini.where.mem("uninstall", "--client", "gemini-cli")
    assert gemini.settings.read_bytes() == gemini.before
    gemini.where.mem("install", "--client", "gemini-cli")
