"""A person installs siftd into a real Codex, works with it, and the next session begins with what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from agent_project import LOOPBACK_ONLY, PACKAGE, AgentProject
from codex_cli import CODE_MODE, CONFIGURATION, CodexRun, list_hooks, run_codex
from npm_programs import require_program
from scripted_llm import Call, Say, Turn

from siftd.clients.codex.trust import hash_of

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

PROMPT = "Expired tokens are accepted. Find out why and fix it."
CLOSING = "Fixed: validate_token compares the expiry with the clock."
FOREIGN_HOOKS = '{"hooks": {"Stop": [\n  {"hooks": [{"type": "command", "command": "true"}]}]}}'
FIX = (
    "*** Begin Patch\n*** Update File: src/auth.py\n@@\n"
    '-    return claims["exp"] is not None\n'
    '+    return claims["exp"] > (time.time() if now is None else now)\n*** End Patch\n'
)
REFUSED = "*** Begin Patch\n*** Update File: src/auth.py\n@@\n-    no such line\n+    x\n*** End Patch\n"
CHECK = "python3 -m tests.test_auth"
SUBTASK = "NEW_TASK"
"""Stands in the requests of a subagent alone."""


def command(line: str) -> Call:
    return Call("exec_command", {"cmd": line})


def script(text: str) -> Call:
    return Call("exec", text)


@dataclass
class Worked:
    """What one person did, in this order."""

    where: AgentProject
    before: dict[str, tuple[int, bytes]]
    """Codex's files, before siftd was installed."""
    runs: list[CodexRun] = field(default_factory=list)

    def kept(self, session: int) -> list[tuple[Any, ...]]:
        """Return what is kept of a session: the how-manieth, from 0."""
        (found,) = self.where.rows(f"SELECT session_id FROM sessions ORDER BY started_ts LIMIT 1 OFFSET {session}")
        return self.where.rows(
            "SELECT tool, outcome, agent_id IS NOT NULL AS of_agent FROM events"
            f" WHERE session_id = '{found[0]}' ORDER BY ts, id"
        )


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    """A session with a failing check, a refused patch and a fix; its resumption; one in code mode with a subagent."""
    require_program("codex")
    made = AgentProject(tmp_path_factory.mktemp("codex"), LOOPBACK_ONLY, files=PACKAGE, is_committed=True)
    home = made.home / ".codex"
    home.mkdir()
    (home / "config.toml").write_text(CONFIGURATION)
    (home / "hooks.json").write_text(FOREIGN_HOOKS)
    did = Worked(made, made.tree(".codex"))
    made.mem("install", "--client", "codex")
    did.runs.append(
        run_codex(
            made,
            [
                Turn([Say("I will run the check."), command(CHECK)]),
                Turn([Call("apply_patch", REFUSED)]),
                Turn([Call("apply_patch", FIX)]),
                Turn([command(CHECK)]),
                Turn([Say(CLOSING)]),
            ],
            PROMPT,
        )
    )
    made.mem("drain")
    resumed = [Turn([command("git diff --stat")]), Turn([Say("Yes, it passes.")])]
    did.runs.append(run_codex(made, resumed, "resume", "--last", "Does it pass now?"))
    made.mem("drain")
    did.runs.append(run_codex(made, code_mode(), "Which callers has validate_token?", model=CODE_MODE))
    made.mem("drain")
    yield did
    made.end()


def code_mode() -> list[Turn]:
    asked = {"task_name": "callers", "message": "SUBTASK: who calls it", "fork_turns": "none"}
    return [
        Turn([script(f'text(await tools.exec_command({{cmd:"{CHECK}; exit 3"}}))')], without=SUBTASK),
        Turn([Call("spawn_agent", asked, "collaboration")], without=SUBTASK),
        Turn([script('text(await tools.exec_command({cmd:"grep -rn validate_token src"}))')], match=SUBTASK),
        Turn([Say("Only the test calls it.")], match=SUBTASK),
        Turn([Call("wait_agent", {"timeout_ms": 20_000}, "collaboration")], without=SUBTASK),
        Turn([Say("Only the test calls validate_token.")], without=SUBTASK),
    ]


def test_each_call_is_kept_once_and_what_failed_is_told_as_failed(worked: Worked) -> None:
    assert sorted(worked.kept(0), key=str) == sorted(
        [
            ("UserPromptSubmit", None, 0),
            ("AssistantText", None, 0),
            ("Bash", "failed", 0),
            ("apply_patch", "failed", 0),
            ("apply_patch", "ok", 0),
            ("Bash", "ok", 0),
            ("Stop", None, 0),
            ("UserPromptSubmit", None, 0),
            ("Bash", "ok", 0),
            ("Stop", None, 0),
        ],
        key=str,
    )
    told = (
        "SELECT text FROM summaries s JOIN events e ON e.id = s.event_id"
        " WHERE e.outcome = 'failed' AND s.scope = 'event'"
    )
    texts = [row[0] for row in worked.where.rows(told)]
    assert f"`{CHECK}` failed (exit 1): AssertionError: expired token accepted" in texts
    assert any(text.startswith("Patch (Edited src/auth.py") and "failed" in text for text in texts)


def test_code_mode_and_its_subagent_are_kept_as_one_session(worked: Worked) -> None:
    assert sorted(worked.kept(1), key=str) == sorted(
        [
            ("UserPromptSubmit", None, 0),
            ("Bash", "failed", 0),
            ("collaborationspawn_agent", "ok", 0),
            ("Bash", "ok", 1),
            ("SubagentStop", None, 1),
            ("collaborationwait_agent", "ok", 0),
            ("Stop", None, 0),
        ],
        key=str,
    )
    failed = worked.where.rows(
        "SELECT json_extract(payload_json, '$.error') AS e FROM events"
        " WHERE outcome = 'failed' AND tool = 'Bash' ORDER BY ts DESC LIMIT 1"
    )
    assert failed[0][0].startswith("Exit code 3\n")


def test_a_backfill_adds_nothing(worked: Worked) -> None:
    before = worked.where.mem("info")["counts"]["events"]
    filled = worked.where.mem("backfill", "--client", "codex")
    assert (filled["captured"], filled["skippedDuplicate"], filled["errors"]) == (0, before, 0)


def test_the_next_session_begins_with_what_came_of_the_last_one(worked: Worked) -> None:
    assert "<siftd-memory id" not in json.dumps(worked.runs[0].requests), "there is nothing yet"
    opening = json.dumps(worked.runs[2].requests[0], ensure_ascii=False)
    assert "<siftd-memory id" in opening
    assert "validate_token compares the expiry with the clock" in opening


def test_a_prompt_off_topic_carries_nothing_but_the_brief(worked: Worked) -> None:
    run = run_codex(worked.where, [Turn([Say("Waves come and go.")])], "Write a haiku about the sea")
    assert run.asked.count("<siftd-memory id") == 1


def test_the_agent_can_search_by_itself(worked: Worked) -> None:
    turns = [
        Turn([Call("search", {"query": "why were expired tokens accepted"}, "mcp__siftd")]),
        Turn([Say("It is known.")]),
    ]
    run = run_codex(worked.where, turns, "What do you know?", "-c", "mcp_servers.siftd.required=true")
    answered = run.requests[-1]["input"][-1]
    assert answered["type"] == "function_call_output"
    assert "validate_token" in answered["output"]


def test_codex_finds_our_entries_behind_the_others_and_keeps_of_them_what_we_compare(worked: Worked) -> None:
    ours = [hook for hook in list_hooks(worked.where) if "siftd_client=codex" in hook["command"]]
    assert len(ours) == 7
    assert [hook["key"].rpartition("hooks.json:")[2] for hook in ours if hook["eventName"] == "stop"] == ["stop:1:0"]
    for hook in ours:
        event = hook["eventName"][0].upper() + hook["eventName"][1:]
        handler = {"type": "command", "command": hook["command"], "timeout": hook["timeoutSec"]}
        assert hook["currentHash"] == hash_of(event, {}, handler)


def test_uninstall_gives_codex_its_files_back_byte_for_byte(worked: Worked) -> None:
    worked.where.mem("uninstall", "--client", "codex")
    after = worked.where.tree(".codex")
    assert {name: after[name] for name in worked.before} == worked.before
    worked.where.mem("install", "--client", "codex")
