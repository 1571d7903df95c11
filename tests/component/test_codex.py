"""Codex: recorded hooks and rollouts, each alone and together, in every order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by, take_hooks
from opened_store import OpenedStore

from siftd.clients.client import Skipped
from siftd.clients.codex.client import Codex
from siftd.clients.codex.rollout import RolloutReader
from siftd.clock import SystemClock
from siftd.daemon.ingest.transcripts import Transcripts
from siftd.model import Event
from siftd.workspace.secret import ensure_secret

DATA = Path(__file__).resolve().parents[1] / "data" / "codex"
SESSIONS = DATA / "sessions"
INPUTS = (DATA / "hooks.jsonl").read_bytes().splitlines()
ROOT = "/home/dev/project"
DIRECT, CODE_MODE, SUBAGENT, COMPACTED = (path.stem[-36:] for path in sorted(SESSIONS.rglob("*.jsonl")))
FAILED = [
    (DIRECT, "Bash", "Exit code 1\nTraceback"),
    (DIRECT, "Bash", "Exit code 3\nslow done\n"),
    (DIRECT, "apply_patch", "apply_patch verification failed: "),
    (DIRECT, "mcp__mem__broken", "the index is locked"),
    (DIRECT, "no_such_tool", "unsupported call: no_such_tool"),
    (CODE_MODE, "Bash", "Exit code 1\nTraceback"),
    (CODE_MODE, "mcp__mem__broken", "the index is locked"),
]
"""All that the rollouts say has failed: session, tool, and how the error begins."""


def path_of(thread: str) -> Path:
    return next(SESSIONS.rglob(f"*{thread}.jsonl"))


def failed(facts: list[tuple[Any, ...]]) -> list[tuple[str, str, str]]:
    """Return what failed, each error cut as FAILED has it."""
    told = [(row[0], row[2], json.loads(row[6])["error"]) for row in facts if row[3] == "failed"]
    return sorted((s, t, next((e for *_, e in FAILED if error.startswith(e)), error)) for s, t, error in told)


def kinds(facts: list[tuple[Any, ...]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, kind, *_ in facts:
        found[kind] = found.get(kind, 0) + 1
    return found


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("live", {"tool": 17, "prompt": 5, "turn_end": 5, "subagent_end": 1}),
        ("file", {"tool": 20, "prompt": 4, "turn_end": 4, "subagent_end": 1, "assistant_text": 2, "compaction": 1}),
        *(
            (
                way,
                {"tool": 21, "prompt": 5, "turn_end": 5, "subagent_end": 1, "assistant_text": 2, "compaction": 1},
            )
            for way in WAYS[2:]
        ),
    ],
)
async def test_hooks_and_rollouts_tell_each_fact_once(tmp_path: Path, way: str, expected: dict[str, int]) -> None:
    facts = await facts_by(way, tmp_path, Codex(), INPUTS, SESSIONS, ROOT)
    assert kinds(facts) == expected
    assert "INJECTED" not in str(facts)
    assert failed(facts) == ([] if way == "live" else sorted(FAILED))


async def test_hook_and_rollout_tell_the_same_payload(tmp_path: Path) -> None:
    """Save a patch that a script made, of which a rollout has the changes alone, and the branch."""

    def payloads(facts: list[tuple[Any, ...]]) -> set[str]:
        return {row[6].replace('"_branch":"main",', "") for row in facts if row[2] != "apply_patch"}

    live = await facts_by("live, file", tmp_path / "a", Codex(), INPUTS, SESSIONS, ROOT)
    files = await facts_by("file, live", tmp_path / "b", Codex(), INPUTS, SESSIONS, ROOT)
    assert payloads(live) == payloads(files)


async def test_a_rollout_that_hooks_name_tells_what_failed_and_what_was_said(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path) as store:
        await take_hooks(store, Codex(), list(enumerate(INPUTS)))
        secret = ensure_secret(store.paths)
        transcripts = Transcripts(store.intake, store.committer.keep, store, SystemClock(), secret)
        for thread in (DIRECT, CODE_MODE, SUBAGENT, COMPACTED):
            session = CODE_MODE if thread == SUBAGENT else thread
            store.intake.named[str(path_of(thread))] = Codex(), session
        new = await transcripts.read()
        facts = store.rows("SELECT session_id, kind, tool, outcome, 0, 0, payload_json FROM events")
        assert failed(facts) == sorted(FAILED)
        assert new == 7, "two texts, an account, and four calls of which no hook tells"
        assert await transcripts.read() == 0


def told(*lines: dict[str, Any], session: str | None = "t1", complete: bool = True) -> list[Any]:
    reader = RolloutReader(session)
    found = [each for line in lines for each in reader.read(json.dumps(line).encode() + b"\n")]
    return [*found, *reader.finish(complete)]


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-01T10:00:00.000Z", "type": kind, "payload": payload}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **payload)


def response(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def facts_of(events: list[Any]) -> list[tuple[str, str, Any]]:
    assert all(isinstance(each, Event) for each in events), events
    return [(each.kind, each.outcome or "", next(iter(each.payload.values()))) for each in events]


def test_versions_before_items_tell_calls_by_events() -> None:
    lines = (
        line("session_meta", id="t1", cwd="/w", cli_version="0.146.0"),
        event("task_started", turn_id="u1"),
        event("user_message", message="List the files"),
        response("message", role="user", content=[{"type": "input_text", "text": "<environment_context>x"}]),
        event("agent_message", message="I look."),
        response("function_call", name="shell", call_id="c1", arguments='{"command":["bash","-lc","ls; exit 2"]}'),
        event("exec_command_end", call_id="c1", command=["bash", "-lc", "ls; exit 2"], stdout="a\n", exit_code=2),
        response("function_call_output", call_id="c1", output="Exit code: 2\nWall time: 0 seconds\nOutput:\na\n"),
        response("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch\n*** End Patch\n"),
        event("patch_apply_end", call_id="c2", success=True, stdout="Success.\n", changes={}),
        response("custom_tool_call_output", call_id="c2", output="Exit code: 0\nOutput:\nSuccess.\n"),
        event(
            "mcp_tool_call_end",
            call_id="c3",
            invocation={"server": "mem", "tool": "search", "arguments": {"query": "x"}},
            result={"Err": "no connection"},
        ),
        event("agent_message", message="One file."),
        event("task_complete", turn_id="u1", last_agent_message="One file."),
    )
    assert facts_of(told(*lines)) == [
        ("prompt", "", "List the files"),
        ("assistant_text", "", "I look."),
        ("tool", "failed", {"command": "ls; exit 2"}),
        ("tool", "ok", {"command": "*** Begin Patch\n*** End Patch\n"}),
        ("tool", "failed", {"query": "x"}),
        ("turn_end", "", "One file."),
    ]


def test_versions_that_kept_no_events_tell_calls_by_their_answers() -> None:
    old = json.dumps({"output": "boom\n", "metadata": {"exit_code": 1}})
    lines = (
        line("session_meta", id="t1", cwd="/w", cli_version="0.40.0"),
        event("user_message", message="Run it"),
        response("function_call", name="shell", call_id="c1", arguments='{"command":["bash","-lc","make"]}'),
        response("function_call_output", call_id="c1", output=old),
        response("function_call", name="exec_command", call_id="c2", arguments='{"cmd":"sleep 9; exit 4"}'),
        response("function_call_output", call_id="c2", output="Process running with session ID 7\nOutput:\n"),
        response("function_call", name="write_stdin", call_id="c3", arguments='{"session_id":7,"chars":""}'),
        response("function_call_output", call_id="c3", output="Process exited with code 4\nOutput:\nslow\n"),
        response("function_call", name="shell", call_id="c4", arguments='{"command":["rm","-r","x"]}'),
        response("function_call_output", call_id="c4", output="rejected by user"),
        event("agent_message", message="It failed."),
    )
    found = told(*lines)
    assert [(each.kind, each.native_id, each.payload.get("error")) for each in found] == [
        ("prompt", None, None),
        ("tool", "c1", "Exit code 1\nboom\n"),
        ("tool", "c2", "Exit code 4\nslow\n"),
        ("tool", "c4", "rejected by user"),
        ("turn_end", None, None),
    ]
    assert found[3].payload["_unhooked"] == "rejected"


def test_a_turn_that_was_broken_off_has_no_end() -> None:
    lines = (
        event("task_started", turn_id="u1"),
        event("user_message", message="Go"),
        event("agent_message", message="I begin."),
        event("turn_aborted", turn_id="u1", reason="interrupted"),
    )
    assert [each.kind for each in told(*lines)] == ["prompt", "assistant_text"]


def test_a_copy_of_its_parent_in_a_subagents_file_is_passed_over() -> None:
    def item(thread: str, text: str) -> dict[str, Any]:
        message = {"type": "AgentMessage", "id": f"m-{text}", "content": [{"type": "Text", "text": text}]}
        return event("item_completed", thread_id=thread, turn_id=f"u-{thread}", item=message)

    meta = line("session_meta", id="t2", session_id="t1", parent_thread_id="t1", cwd="/w")
    found = told(meta, item("t1", "the parent's"), item("t2", "its own"), session=None)
    assert [(each.session_id, each.agent_id, each.kind) for each in found] == [("t1", "t2", "subagent_end")]


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "item_completed", "item": {"type": "CommandExecution", "id": "x", "command": {"a": 1}}},
        {"type": "item_completed", "item": {"type": "FileChange", "id": "x", "changes": [1]}},
        {"type": "item_completed", "item": {"type": "FileChange", "id": "x", "changes": {"a": "b"}}},
        {"type": "item_completed", "item": {"type": "McpToolCall", "id": "x", "result": 3}},
        {"type": "item_completed", "item": {"type": "AgentMessage", "content": {"text": {"text": 1}}}},
        {"type": "item_completed", "item": 1, "thread_id": 4, "turn_id": []},
        {"type": "mcp_tool_call_end", "call_id": "x", "invocation": [], "result": {}},
        {"type": "exec_command_end", "call_id": "x", "command": ["a", 1], "exit_code": "1"},
        {"type": "task_complete", "last_agent_message": {}},
        {"type": {}},
    ],
)
def test_a_line_of_an_odd_shape_harms_nothing(payload: dict[str, Any]) -> None:
    assert all(isinstance(each, Event) for each in told(line("event_msg", **payload)))


def test_what_is_no_line_of_a_rollout_is_counted_or_passed_over() -> None:
    reader = RolloutReader("t1")
    assert list(reader.read(b"{broken\n")) == [Skipped("malformed_line")]
    assert list(reader.read(b'{"type":"a_future_kind","payload":{"x":1}}\n')) == []
    assert list(reader.read(b'{"type":"event_msg","timestamp":"soon","payload":{"type":"user_message"}}\n')) == [
        Skipped("no_session_or_time")
    ]
    assert reader.is_between


def test_what_is_printed_has_no_field_that_codex_refuses() -> None:
    shown = Codex().printed("start", "the brief", "a notice")
    assert shown == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the brief"},
        "systemMessage": "a notice",
    }
    assert Codex().printed("prompt", "", "") == {}
