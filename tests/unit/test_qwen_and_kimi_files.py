"""Qwen Code's and Kimi Code's session files as they may be: growing, cancelled, compacted, broken, of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Decoded, Reader, Skipped
from siftd.clients.kimi_code import files
from siftd.clients.kimi_code.files import find_session_file, folder_of, whose
from siftd.clients.kimi_code.wire import WireReader, head_of
from siftd.clients.qwen_code.chats import ChatReader
from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event

SESSION = "session_3b2017a1"


def read(reader: Reader, *lines: dict[str, Any] | bytes, complete: bool = True) -> list[Decoded]:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return [told for line in raw for told in reader.read(line)] + list(reader.finish(complete))


def kinds(told: list[Decoded]) -> list[tuple[str, str | None]]:
    return [(each.kind, each.outcome) for each in told if isinstance(each, Event)]


def record(kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    told = {"uuid": f"u-{len(parts)}{kind}", "sessionId": "s1", "timestamp": "2026-11-22T19:05:02Z", "type": kind}
    return told | {"cwd": "/w", "message": {"parts": list(parts)}} | more


CALL = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}


def answer(**response: str) -> dict[str, Any]:
    return {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": response}}


def test_qwen_code_s_thoughts_are_not_its_words_and_its_last_words_end_the_turn() -> None:
    lines = [
        record("user", {"text": "Mend it"}),
        record("assistant", {"text": "hm", "thought": True}, {"text": "Done"}),
    ]
    assert kinds(read(ChatReader(None), *lines, complete=False)) == [("prompt", None)]
    assert kinds(read(ChatReader(None), *lines)) == [("prompt", None), ("turn_end", None)]


@pytest.mark.parametrize(
    ("told", "response", "outcome"),
    [
        ({"status": "success"}, {"output": "Command: make\nDirectory: (root)\nOutput: ok\nExit Code: 0"}, "ok"),
        ({"status": "cancelled"}, {"error": "stopped"}, "interrupted"),
        ({"status": "error"}, {"error": "Command: make\nDirectory: (root)\nOutput: no\nExit Code: 2"}, "failed"),
        ({}, {"error": "no such tool"}, "failed"),
    ],
)
def test_qwen_code_s_calls_end_as_its_file_says(told: dict[str, str], response: dict[str, str], outcome: str) -> None:
    lines = [record("assistant", CALL), record("tool_result", answer(**response), toolCallResult=told)]
    assert kinds(read(ChatReader(None), *lines)) == [("tool", outcome)]


def test_qwen_code_s_compaction_leaves_its_summary() -> None:
    shorter = {"compressedHistory": [{"parts": [{"text": "The goal is to mend it."}]}, {"parts": [{"text": "Yes"}]}]}
    told = read(ChatReader(None), record("system", subtype="chat_compression", systemPayload=shorter))
    assert [each.payload for each in told if isinstance(each, Event)] == [{"summary": "The goal is to mend it."}]


@pytest.mark.parametrize("client", ["qwen-code", "kimi-code", "gemini-cli"])
def test_a_prompt_s_hook_without_a_prompt_tells_nothing(client: str) -> None:
    told = {"session_id": "s1", "cwd": "/w", "hook_event_name": "UserPromptSubmit", "prompt": ""}
    if client == "gemini-cli":
        told["hook_event_name"] = "BeforeAgent"
    with pytest.raises(EnvelopeRejected, match="not_a_prompt"):
        CLIENTS[client].decode(json.dumps(told).encode(), ts=1)


def wire(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "agentId": "main", "time": 1_795_375_853_812} | more


def loop(**event: Any) -> dict[str, Any]:
    return wire("context.append_loop_event", event=event)


PROMPT = wire("turn.prompt", input=[{"type": "text", "text": "Mend it"}], promptId="m1", origin={"kind": "user"})
WORDS = {"type": "content.part", "uuid": "w1", "part": {"type": "text", "text": "Done"}}


def test_kimi_code_s_turn_ends_where_its_file_says() -> None:
    assert kinds(read(WireReader(SESSION), PROMPT, loop(**WORDS))) == [("prompt", None), ("assistant_text", None)]
    told = read(WireReader(SESSION), PROMPT, loop(**WORDS), wire("turn.ended"))
    assert kinds(told) == [("prompt", None), ("turn_end", None)]


def test_kimi_code_s_triggers_and_injections_are_no_prompts() -> None:
    trigger = PROMPT | {"origin": {"kind": "system_trigger"}}
    injected = wire("context.append_message", message={"role": "user", "content": [{"type": "text", "text": "hi"}]})
    assert kinds(read(WireReader(SESSION), trigger, injected)) == []


def test_kimi_code_s_broken_lines_and_results_of_nothing_are_counted() -> None:
    result = loop(type="tool.result", toolCallId="c9", result={"output": "x"})
    told = read(WireReader(SESSION), b'{"type"', result, PROMPT)
    assert [each for each in told if isinstance(each, Skipped)] == [Skipped("malformed_line"), Skipped("orphan_result")]
    assert kinds(told) == [("prompt", None)]


def test_kimi_code_s_session_is_known_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sessions" / "wd_w" / SESSION / "agents" / "main" / "wire.jsonl"
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / "session_index.jsonl").write_text(json.dumps({"sessionId": SESSION, "workDir": "/w"}) + "\n{\n")
    monkeypatch.setenv("KIMI_CODE_HOME", str(tmp_path))
    monkeypatch.setattr(files, "_found", {})
    assert whose(str(file)) == (SESSION, None)
    assert whose(str(file).replace("main", "agent-0")) == (SESSION, "agent-0")
    assert whose("/elsewhere/wire.jsonl") == (None, None)
    assert folder_of(str(file), SESSION) == "/w"
    assert head_of(str(file), []) == (SESSION, "/w", None)
    assert find_session_file(SESSION) == str(file)
    assert find_session_file("session_../../x") is None
