"""A person installs siftd into a real pi, works with it, and finds yesterday's work.

Nothing is played but the model: pi, its extension, the hook, the couriers, the daemon and the commands are real.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from agent_project import NEW, OLD, AgentProject
from daemons import wait_until
from npm_programs import require_program
from scripted_llm import Call, Say, ScriptedLlm, Turn

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

PROMPT = "Expired tokens are accepted. Find out why and fix it."
BLOCK = "<siftd-memory id="
ENDS = "SELECT count(*) FROM events WHERE kind = 'turn_end'"


class Pi:
    """The program in a project."""

    def __init__(self, where: AgentProject, program: list[str]) -> None:
        self.where = where
        self._program = program
        self.folder = where.home / ".pi" / "agent"
        self.folder.mkdir(parents=True)

    def ask(self, *arguments: str, turns: list[Turn], ends: int) -> ScriptedLlm:
        """Give it a prompt, and return the model that it spoke to once so many turns' ends are kept."""
        with ScriptedLlm(turns) as llm:
            provider = {
                "baseUrl": f"{llm.url}/v1",
                "api": "openai-completions",
                "apiKey": "x",
                "models": [{"id": "scripted"}],
            }
            (self.folder / "models.json").write_text(json.dumps({"providers": {"mock": provider}}))
            command = [*self._program, "--offline", "--provider", "mock", "--model", "scripted", *arguments]
            self.where.work(command, {"PI_OFFLINE": "1"})
        assert llm.left == 0
        wait_until("the turn's end is kept", lambda: self.where.rows(ENDS) == [(ends,)])
        self.where.mem("drain")
        return llm


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pi]:
    program = require_program("pi")
    where = AgentProject(tmp_path_factory.mktemp("pi"))
    made = Pi(where, program)
    where.mem("install", "--client", "pi")
    source = f"{where.project}/auth.py"
    calls = [
        [
            Say("I will read the code."),
            Call("read", {"path": source}),
            Call("bash", {"command": "python3 check_auth.py"}),
        ],
        [Call("edit", {"path": source, "edits": [{"oldText": OLD, "newText": NEW}]})],
        [
            Call("edit", {"path": source, "edits": [{"oldText": "no such line", "newText": "y"}]}),
            Call("nothing", {"a": 1}),
        ],
        [Say("Fixed: validate_token compares exp with the clock.")],
    ]
    where.mem("start")
    made.ask("-p", PROMPT, turns=[Turn(blocks) for blocks in calls], ends=1)
    turns = [Turn([Call("bash", {"command": "python3 check_auth.py"})]), Turn([Say("It passes.")])]
    made.ask("--continue", "-p", "Does it pass now?", turns=turns, ends=2)
    yield made
    where.end()


def test_a_session_is_kept_with_its_failures(pi: Pi) -> None:
    calls = pi.where.rows("SELECT tool, outcome FROM events WHERE kind = 'tool'")
    assert Counter(calls) == {
        ("read", "ok"): 1,
        ("bash", "failed"): 1,
        ("bash", "ok"): 1,
        ("edit", "ok"): 1,
        ("edit", "failed"): 1,
        ("nothing", "failed"): 1,
    }
    assert pi.where.rows("SELECT count(DISTINCT session_id) FROM events") == [(1,)], "a resumed session is the same"
    assert pi.where.rows("SELECT count(*) FROM events WHERE kind = 'prompt'") == [(2,)]
    assert pi.where.rows("SELECT DISTINCT json_extract(payload_json, '$._source') FROM events") == [("pi",)]


def test_the_next_session_is_given_what_the_last_one_left_and_an_odd_prompt_nothing(pi: Pi) -> None:
    asked = "Why were expired tokens accepted by validate_token in auth.py?"
    llm = pi.ask("-p", asked, turns=[Turn([Say("Nothing compared them.")])], ends=3)
    [request] = llm.requests
    given = [str(each["content"]).partition(BLOCK)[2] for each in request["messages"] if each["role"] != "user"]
    assert any("check_auth.py" in text for text in given), given
    odd = pi.ask("-p", "Which instrument did Miles Davis play?", turns=[Turn([Say("The trumpet.")])], ends=4)
    [request] = odd.requests
    assert not [each for each in request["messages"] if each["role"] == "user" and BLOCK in str(each)]


def test_a_backfill_afterwards_adds_nothing_that_was_told(pi: Pi) -> None:
    before = pi.where.rows("SELECT count(*) FROM events WHERE kind <> 'assistant_text'")
    result = pi.where.mem("backfill", "--client", "pi")
    assert result["errors"] == 0
    assert pi.where.rows("SELECT count(*) FROM events WHERE kind <> 'assistant_text'") == before
    assert pi.where.rows("SELECT count(*) FROM events WHERE kind = 'assistant_text'") == [(1,)]
    assert not pi.where.rows("SELECT id FROM events WHERE payload_json LIKE '%siftd-memory id=%'")


def test_what_was_installed_goes_without_a_trace(pi: Pi) -> None:
    extension = pi.folder / "extensions" / "siftd.ts"
    assert extension.exists()
    pi.where.mem("uninstall", "--client", "pi")
    assert not extension.exists()
