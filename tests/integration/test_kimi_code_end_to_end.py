"""A person wires siftd into a real Kimi Code, works, and is given the brief with another session's first prompt."""

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
NOWHERE = "http://127.0.0.1:9"
CONFIG = f"""default_model = "scripted"  # the person's own
telemetry = false
default_permission_mode = "auto"
[providers.mock]
type = "openai"
base_url = "{NOWHERE}/v1"
api_key = "x"
[models.scripted]
provider = "mock"
model = "scripted"
max_context_size = 200000
"""
CHECK = Call("Bash", {"command": "python3 check_auth.py"})
CALLS = [
    ("Agent", "ok"),
    ("Bash", "failed"),
    ("Bash", "ok"),
    ("Edit", "ok"),
    ("Read", "failed"),
    ("Read", "ok"),
    ("Read", "ok"),
    ("no_such_tool", "failed"),
]


@dataclass
class Kimi:
    """The program in a project."""

    where: AgentProject
    program: list[str]
    config: Path

    def work(self, prompt: str, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """Give it a prompt, and return the requests that its model got."""
        wired = self.config.read_text()
        with ScriptedLlm(turns) as model:
            self.config.write_text(wired.replace(NOWHERE, model.url))
            self.where.work([*self.program, "-p", prompt], {})
            assert model.left == 0
        self.config.write_text(wired)
        self.where.mem("drain")
        return [each for each in model.requests if each.get("tools")]


@pytest.fixture(scope="module")
def kimi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kimi]:
    program = require_program("kimi-code")
    where = AgentProject(tmp_path_factory.mktemp("kimi"), {"KIMI_CODE_NO_AUTO_UPDATE": "1"})
    config = where.home / ".kimi-code" / "config.toml"
    config.parent.mkdir()
    config.write_text(CONFIG)
    where.mem("install", "--client", "kimi-code")
    yield Kimi(where, program, config)
    where.end()


@pytest.fixture(scope="module")
def first(kimi: Kimi) -> list[dict[str, Any]]:
    auth, absent = str(kimi.where.project / "auth.py"), str(kimi.where.project / "absent.py")
    readme = str(kimi.where.project / "README.md")
    agent = {"description": "Read the README", "prompt": "SUBTASK: say what README.md says"}
    summary = "README.md says: demo. " + "It has one heading and nothing else, and was read in full. " * 5
    turns = [
        Turn([Say("I look first."), Call("Read", {"path": auth}), CHECK], "Expired", "SUBTASK"),
        Turn([Call("Edit", {"path": auth, "old_string": OLD, "new_string": NEW})], without="SUBTASK"),
        Turn([CHECK, Call("Read", {"path": absent}), Call("no_such_tool", {"a": 1})], without="SUBTASK"),
        Turn([Call("Agent", agent)], without="SUBTASK"),
        Turn([Call("Read", {"path": readme})], match="SUBTASK"),
        Turn([Say(summary)], match="SUBTASK"),
        Turn([Say("Fixed: validate_token compares the expiry with the clock; the check passes.")]),
    ]
    return kimi.work(PROMPT, turns)


def test_each_call_and_what_only_the_file_tells_is_kept_once(kimi: Kimi, first: Any) -> None:
    told = "SELECT tool, outcome FROM events WHERE kind = 'tool' ORDER BY 1, 2"
    kinds = "SELECT kind, count(*) FROM events WHERE kind != 'tool' GROUP BY 1 ORDER BY 1"
    # The file as it grew has told the session's own end already, and whichever of its calls a hook lost.
    assert kimi.where.rows(kinds) == [("assistant_text", 1), ("prompt", 1), ("turn_end", 1)]
    assert kimi.where.mem("backfill", "--client", "kimi-code")["errors"] == 0
    assert kimi.where.rows(told) == CALLS
    assert kimi.where.rows(kinds) == [("assistant_text", 1), ("prompt", 1), ("subagent_end", 1), ("turn_end", 1)]
    assert kimi.where.mem("backfill", "--client", "kimi-code")["captured"] == 0


def test_the_brief_comes_with_another_session_s_first_prompt_as_plain_text(kimi: Kimi, first: Any) -> None:
    requests = kimi.work("What did we do about expired tokens?", [Turn([Say("We mended it.")])])
    given = [each["content"] for each in requests[0]["messages"] if "hook_result" in json.dumps(each)]
    assert len(given) == 1
    assert "changed auth.py" in json.dumps(given)
    assert "additionalContext" not in json.dumps(given)
    kept = kimi.where.rows("SELECT count(*) FROM events WHERE payload_json LIKE '%siftd-memory%'")
    assert kept == [(0,)]


def test_every_byte_of_the_configuration_comes_back(kimi: Kimi, first: Any) -> None:
    assert "siftd_client=kimi-code" in kimi.config.read_text()
    kimi.where.mem("uninstall", "--client", "kimi-code")
    assert kimi.config.read_text() == CONFIG
    kimi.where.mem("install", "--client", "kimi-code")
