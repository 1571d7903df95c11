"""Programs that run the hooks of Claude Code's settings files: each is known by its input, and kept as what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opened_store import OpenedStore

from siftd.clients.marks import other_program
from siftd.clients.registry import client_of_frame
from siftd.errors import EnvelopeRejected
from siftd.wire.frames import encode_hook

DATA = Path(__file__).resolve().parents[1] / "data"
TS = 1_795_374_700_000
CLAUDE = {"session_id": "s1", "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl", "cwd": "/home/dev/project"}


def recorded(name: str) -> list[dict[str, Any]]:
    return [json.loads(line)["stdin"] for line in (DATA / name).read_bytes().splitlines()]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[OpenedStore]:
    async with OpenedStore(tmp_path / "home") as each:
        yield each


def frame(envelope: dict[str, Any], number: int = 0, client: str = "claude-code") -> bytes:
    header = {"client": client, "frameUid": f"{number:032x}", "root": "/nowhere/project", "ts": TS + number}
    raw = json.dumps(envelope).encode()
    return encode_hook(json.dumps(header | {"bytes": len(raw)}).encode(), raw)[4:]


async def take(store: OpenedStore, *messages: bytes) -> None:
    await asyncio.gather(*(store.committer.keep(store.intake.from_hook(each)) for each in messages))


async def test_a_copilot_session_is_copilots_with_its_result_and_once_for_two_files(store: OpenedStore) -> None:
    inputs = recorded("copilot-cli/envelopes-from-claude-settings.jsonl")
    asked_for = [each for each in inputs if each["hook_event_name"] != "PreToolUse"]
    await take(store, *(frame(each, number) for number, each in enumerate(asked_for)))
    rows = store.rows("SELECT kind, tool, json_extract(payload_json, '$.tool_response') FROM events ORDER BY kind")
    prompt, end = ("prompt", "userPromptSubmitted", None), ("turn_end", "agentStop", None)
    assert rows == [prompt, ("tool", "bash", "# demo"), end]
    assert store.rows("SELECT DISTINCT json_extract(payload_json, '$._source') FROM events") == [("copilot-cli",)]


async def test_cursors_draft_is_refused_and_its_email_address_is_kept_nowhere(store: OpenedStore) -> None:
    inputs = recorded("cursor/envelopes.jsonl")
    [draft] = [each for each in inputs if each.get("conversation_id") == "empty-state-draft"]
    with pytest.raises(EnvelopeRejected) as refused:
        store.intake.from_hook(frame(draft))
    assert refused.value.reason == "no_workspace"
    [prompt] = [each for each in inputs if each["hook_event_name"] == "beforeSubmitPrompt"]
    assert prompt["user_email"] == "dev@example.com"
    await take(store, frame(prompt))
    assert store.rows("SELECT session_id, kind FROM events") == [("5778024b-0000-4000-8000-000000000001", "prompt")]
    assert store.rows("SELECT cwd FROM sessions") == [("/home/dev/project",)], "the first of its workspace's folders"
    for file in Path(store.paths.folder).rglob("*"):
        assert not file.is_file() or b"dev@example.com" not in file.read_bytes(), file


async def test_a_call_of_cursors_told_by_two_files_is_one_and_an_equal_one_is_another(store: OpenedStore) -> None:
    call = {
        "conversation_id": "c1",
        "generation_id": "g1",
        "cursor_version": "3.24.9",
        "workspace_roots": ["/home/dev/project"],
        "tool_name": "Shell",
        "tool_input": {"command": "make"},
        "tool_output": json.dumps({"output": "built", "exitCode": 0}),
        "cwd": "",
    }
    own = call | {"hook_event_name": "postToolUse", "tool_use_id": "t1"}
    from_claude = own | {"hook_event_name": "PostToolUse"}
    await take(store, frame(own, 1, "cursor"), frame(from_claude, 2), frame(own | {"tool_use_id": "t2"}, 3, "cursor"))
    answers = "SELECT json_extract(payload_json, '$.tool_response.output'), outcome FROM events"
    assert store.rows(answers) == [("built", "ok"), ("built", "ok")]
    failed = own | {"tool_use_id": "t3", "tool_output": json.dumps({"output": "no rule", "exitCode": 2})}
    await take(store, frame(failed, 4, "cursor"))
    [(error, outcome)] = store.rows("SELECT json_extract(payload_json, '$.error'), outcome FROM events WHERE id = 3")
    assert (error, outcome) == ("Exit code 2\nno rule", "failed")


async def test_vs_code_is_told_from_copilot_in_the_folder_that_serves_both(store: OpenedStore) -> None:
    told = {
        "hookEventName": "PostToolUse",
        "sessionId": "v1",
        "timestamp": "2026-11-22T19:10:26.479Z",
        "cwd": "/home/dev/project",
        "transcript_path": "/home/dev/x.json",
        "tool_name": "replace_string_in_file",
        "tool_input": {"filePath": "/home/dev/project/a.py", "oldString": "a = 1", "newString": "a = 2"},
        "tool_use_id": "tool-1",
        "tool_response": "done",
    }
    await take(store, frame(told, 1, "copilot-cli"), frame(told, 2, "claude-code"))
    [(tool, payload)] = store.rows("SELECT tool, payload_json FROM events")
    kept = json.loads(payload)
    assert (tool, kept["_source"], kept["tool_response"]) == ("replace_string_in_file", "vscode", "done")
    assert kept["tool_input"] == {"file_path": "/home/dev/project/a.py", "old_string": "a = 1", "new_string": "a = 2"}


MARKED = {
    "cursor": {"cursor_version": "3.24.9", "conversation_id": "c"},
    "vscode": {"hookEventName": "Stop", "sessionId": "v"},
    "codex": {"session_id": "s", "turn_id": "t", "model": "m", "hook_event_name": "Stop"},
    "antigravity": {"conversationId": "c", "workspacePaths": ["/p"]},
    "kimi-code": {"session_id": "s", "client_type": "kimi_code_cli", "hook_event_name": "Stop"},
    "qwen-code": CLAUDE | {"timestamp": "2026-11-22T19:10:26Z", "prompt_id": "s########0", "hook_event_name": "Stop"},
}


@pytest.mark.parametrize("name", MARKED)
def test_each_programs_mark_says_whose_an_input_is(name: str) -> None:
    assert other_program(json.dumps(MARKED[name]).encode()) == name


def test_what_claude_code_gives_stays_claude_codes() -> None:
    for line in (DATA / "claude-code" / "envelopes.jsonl").read_bytes().splitlines():
        assert other_program(line) is None
    # A field of this name at the top alone makes nobody of it, where a transcript is named as Claude Code does.
    assert other_program(json.dumps(CLAUDE | {"timestamp": "2026-11-22T19:10:26Z"}).encode()) is None


@pytest.mark.parametrize("name", MARKED)
def test_what_a_tool_printed_says_nothing_about_who_ran_it(name: str) -> None:
    text = json.dumps(MARKED[name])
    ours = CLAUDE | {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": f"echo '{text}'"}}
    for answer in (text, {"stdout": text}, MARKED[name], {"content": [MARKED[name]]}):
        assert other_program(json.dumps(ours | {"tool_response": answer}).encode()) is None


@pytest.mark.parametrize("raw", [b"", b"[]", b'"timestamp"', b'{"timestamp":', b'{"cursor_version"' + b"[" * 9_000])
def test_what_cannot_be_read_is_left_to_the_default_client(raw: bytes) -> None:
    assert client_of_frame("claude-code", raw) is client_of_frame("claude-code", b"{}")


def test_an_entry_that_names_its_client_is_believed() -> None:
    raw = json.dumps(MARKED["cursor"]).encode()
    assert client_of_frame("copilot-cli", raw) is client_of_frame("copilot-cli", b"{}")
    assert client_of_frame("nobody", raw) is None


def test_nothing_of_a_large_input_is_built_to_know_whose_it_is() -> None:
    raw = json.dumps({"timestamp": 1, "tool_response": ["x" * 100] * 1_000, **CLAUDE}).encode()
    assert msgspec.json.decode(raw)["session_id"] == "s1"
    assert other_program(raw) is None
