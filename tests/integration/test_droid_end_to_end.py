"""A person installs siftd into a real droid: calls and failures are kept, and the next session begins with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agent_project import LOOPBACK_ONLY, PACKAGE, AgentProject
from npm_programs import require_program
from scripted_llm import Call, Say, ScriptedLlm, Turn

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

CHECK = {"command": "python3 -m tests.test_auth", "summary": "run it", "riskLevel": "low", "riskLevelReason": "reads"}
CLOSING = "Fixed: validate_token compares the expiry with the clock."


def run_droid(where: AgentProject, turns: Sequence[Turn], prompt: str) -> list[dict[str, Any]]:
    """Run `droid exec` without a login, and return what its model was asked."""
    with ScriptedLlm(turns) as llm:
        model = {"model": "scripted", "displayName": "scripted", "baseUrl": f"{llm.url}/v1", "apiKey": "x"}
        model |= {"provider": "generic-chat-completion-api", "maxOutputTokens": 4000}
        settings = {"customModels": [model], "cloudSessionSync": False}
        (where.home / ".factory" / "settings.json").write_text(json.dumps(settings))
        addresses = ("FACTORY_API_BASE_URL", "FACTORY_APP_BASE_URL", "FACTORY_TELEMETRY_INGEST_BASE_URL")
        env = {"FACTORY_AIRGAP_ENABLED": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}
        env |= {"FACTORY_DISABLE_KEYRING": "1", **dict.fromkeys(addresses, llm.url)}
        command = [*require_program("droid"), "exec", "--model", "custom:scripted-0", "--skip-permissions-unsafe"]
        done = where.run([*command, prompt], env)
        assert done.returncode == 0, done.stderr + done.stdout
        assert llm.left == 0, f"{llm.left} turns were not asked for: {done.stdout}"
        return llm.requests


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProject]:
    """A project in which a check failed and a mistake was mended."""
    require_program("droid")
    made = AgentProject(tmp_path_factory.mktemp("droid"), LOOPBACK_ONLY, files=PACKAGE, is_committed=True)
    (made.home / ".factory").mkdir()
    made.mem("install", "--client", "droid")
    change = {
        "file_path": str(made.project / "src" / "auth.py"),
        "old_str": '    return claims["exp"] is not None',
        "new_str": '    return claims["exp"] > (time.time() if now is None else now)',
    }
    turns = [
        Turn([Say("I will run the check."), Call("Execute", CHECK)]),
        Turn([Call("Edit", change)]),
        Turn([Say(CLOSING)]),
    ]
    run_droid(made, turns, "Expired tokens are accepted. Find out why and fix it.")
    made.mem("drain")
    yield made
    made.end()


def test_each_call_is_kept_once_and_what_failed_is_told_as_failed(worked: AgentProject) -> None:
    assert sorted(worked.rows("SELECT tool, outcome FROM events"), key=str) == sorted(
        [
            ("UserPromptSubmit", None),
            ("AssistantText", None),
            ("Execute", "failed"),
            ("Edit", "ok"),
            ("Stop", None),
        ],
        key=str,
    )
    told = (
        "SELECT text FROM summaries s JOIN events e ON e.id = s.event_id WHERE e.tool = 'Execute' AND s.scope = 'event'"
    )
    ((text,),) = worked.rows(told)
    assert text.startswith("`python3 -m tests.test_auth` failed (exit 1): AssertionError: expired token accepted")


def test_a_backfill_adds_nothing(worked: AgentProject) -> None:
    filled = worked.mem("backfill", "--client", "droid")
    assert (filled["captured"], filled["skippedDuplicate"], filled["errors"]) == (0, 5, 0)


def test_the_next_session_begins_with_what_came_of_the_last_one(worked: AgentProject) -> None:
    requests = run_droid(worked, [Turn([Say("Only the test.")])], "Who calls validate_token?")
    opening = json.dumps(requests[0], ensure_ascii=False)
    assert opening.count("<siftd-memory id") == 1
    assert "changed src/auth.py" in opening


def test_uninstall_leaves_nothing_of_ours(worked: AgentProject) -> None:
    worked.mem("uninstall", "--client", "droid")
    left = worked.tree(".factory")
    assert ".factory/hooks.json" not in left
    assert ".factory/mcp.json" not in left
    worked.mem("install", "--client", "droid")
