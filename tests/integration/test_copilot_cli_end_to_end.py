"""A person wires siftd into a real Copilot CLI, works, resumes, and finds yesterday's work in another session."""

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
SERVERS = """{
    "mcpServers": {}
}
"""
CHECK = Call("bash", {"command": "python3 check_auth.py", "description": "Run the check", "mode": "sync"})


def turns(root: str) -> list[Turn]:
    edit = {"path": f"{root}/auth.py", "old_str": OLD, "new_str": NEW}
    agent = {"description": "Read", "prompt": "SUBTASK: read it", "agent_type": "general-purpose", "name": "r"}
    return [
        Turn(
            [Say("I look first."), Call("view", {"path": f"{root}/auth.py"}), CHECK], match="Expired", without="SUBTASK"
        ),
        Turn([Call("edit", edit)], without="SUBTASK"),
        Turn([CHECK, Call("view", {"path": f"{root}/absent.py"}), Call("no_such_tool", {"a": 1})], without="SUBTASK"),
        Turn([Call("task", agent | {"mode": "sync"})], without="SUBTASK"),
        Turn([Call("view", {"path": f"{root}/README.md"})], match="SUBTASK"),
        Turn([Say("README.md says: demo")], match="SUBTASK"),
        Turn([Say("Fixed: validate_token compares the expiry with the clock; the check passes.")]),
    ]


CALLS = [
    ("bash", "failed", 0),
    ("bash", "ok", 0),
    ("edit", "ok", 0),
    ("no_such_tool", "failed", 0),
    ("task", "ok", 0),
    ("view", "failed", 0),
    ("view", "ok", 0),
    ("view", "ok", 1),
]


@dataclass
class Copilot:
    """The program in a project."""

    where: AgentProject
    program: list[str]
    servers: Path

    def work(self, prompt: str, turns: Sequence[Turn], *arguments: str) -> list[dict[str, Any]]:
        """Give it a prompt, and return the requests that its model got."""
        with ScriptedLlm(turns) as model:
            command = [*self.program, "--allow-all", *arguments, "-p", prompt]
            self.where.work(command, {"COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1"})
            assert model.left == 0
        self.where.mem("drain")
        return model.requests


@pytest.fixture(scope="module")
def copilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copilot]:
    program = require_program("copilot-cli")
    offline = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "scripted"}
    where = AgentProject(tmp_path_factory.mktemp("copilot"), offline | {"COPILOT_PROVIDER_API_KEY": "x"})
    servers = where.home / ".copilot" / "mcp-config.json"
    servers.parent.mkdir()
    servers.write_text(SERVERS)
    made = Copilot(where, program, servers)
    where.mem("install", "--client", "copilot-cli")
    where.mem("start")
    yield made
    where.end()


@pytest.fixture(scope="module")
def first(copilot: Copilot) -> list[dict[str, Any]]:
    return copilot.work(PROMPT, turns(str(copilot.where.project)))


def test_each_call_is_captured_as_it_ended_and_known_again_in_the_file(copilot: Copilot, first: Any) -> None:
    told = "SELECT tool, outcome, agent_id IS NOT NULL FROM events WHERE kind = 'tool' ORDER BY 1, 2, 3"
    assert copilot.where.rows(told) == CALLS
    assert copilot.where.rows("SELECT count(DISTINCT session_id) FROM events") == [(1,)], (
        "the subagent's is its parent's"
    )
    kinds = (
        "SELECT kind, count(*) FROM events WHERE kind IN ('prompt', 'turn_end', 'subagent_end') GROUP BY 1 ORDER BY 1"
    )
    assert copilot.where.rows(kinds) == [("prompt", 1), ("subagent_end", 1), ("turn_end", 1)]
    read = copilot.where.mem("backfill", "--client", "copilot-cli")
    assert read["errors"] == 0, read
    assert copilot.where.rows(told) == CALLS
    assert copilot.where.rows(kinds) == [("prompt", 1), ("subagent_end", 1), ("turn_end", 1)]
    assert copilot.where.mem("backfill", "--client", "copilot-cli")["captured"] == 0


def test_a_resumed_session_goes_on_as_the_same(copilot: Copilot, first: Any) -> None:
    again = [Turn([Call("bash", {"command": "git diff --stat", "description": "d"})]), Turn([Say("Yes, it passes.")])]
    copilot.work("Does the check of expired tokens pass now?", again, "--continue")
    assert copilot.where.rows("SELECT count(DISTINCT session_id) FROM events") == [(1,)]
    assert copilot.where.rows("SELECT count(*) FROM events WHERE kind = 'prompt'") == [(2,)]


def test_another_session_is_given_the_brief_of_the_first_and_searches_by_itself(copilot: Copilot, first: Any) -> None:
    search = Call("siftd-search", {"query": "expired tokens"})
    requests = copilot.work("What did we do about expired tokens?", [Turn([search]), Turn([Say("We mended it.")])])
    given = json.dumps(requests[0]["messages"])
    assert "<siftd-memory" in given
    assert "changed auth.py" in given
    assert copilot.where.rows("SELECT outcome FROM events WHERE tool = 'siftd-search'") == [("ok",)]
    assert copilot.where.rows("SELECT count(*) FROM events WHERE payload_json LIKE '%siftd-memory%'") == [(0,)]


def test_a_prompt_about_something_else_carries_nothing(copilot: Copilot, first: Any) -> None:
    requests = copilot.work("Name a river in Peru.", [Turn([Say("Ucayali.")])])
    [asked] = [each for each in requests[0]["messages"] if "river in Peru" in json.dumps(each)]
    assert "siftd-memory" not in json.dumps(asked)


def test_every_byte_comes_back_and_no_file_of_ours_stays(copilot: Copilot, first: Any) -> None:
    hooks = copilot.where.home / ".copilot" / "hooks"
    assert (hooks / "siftd.json").exists()
    assert b"siftd" in copilot.servers.read_bytes()
    copilot.where.mem("uninstall", "--client", "copilot-cli")
    assert not (hooks / "siftd.json").exists()
    assert copilot.servers.read_text() == SERVERS
    copilot.where.mem("install", "--client", "copilot-cli")
