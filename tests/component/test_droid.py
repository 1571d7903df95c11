"""droid: what its hooks do not tell is taken from the session's file as it grows; odd lines harm nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from both_ways import take_hooks
from opened_store import OpenedStore
from recordings import recording_of

from siftd.clients.client import Skipped
from siftd.clients.droid.client import Droid
from siftd.clients.droid.hooks import decode_envelope
from siftd.clients.droid.sessions import SessionReader
from siftd.clock import SystemClock
from siftd.daemon.ingest.transcripts import Transcripts
from siftd.errors import EnvelopeRejected
from siftd.model import Event
from siftd.workspace.secret import ensure_secret

TOLD = "SELECT kind, tool, outcome FROM events WHERE session_id = ? ORDER BY ts, id"


async def test_failures_the_prompt_and_the_ends_are_read_as_the_file_grows(tmp_path: Path) -> None:
    recording = recording_of("droid", tmp_path)
    async with OpenedStore(tmp_path / "store") as store:
        await take_hooks(store, Droid(), list(enumerate(recording.inputs)))
        transcripts = Transcripts(store.intake, store.committer.keep, store, SystemClock(), ensure_secret(store.paths))
        for path in recording.home.rglob("*.jsonl"):
            store.intake.named[str(path)] = Droid(), path.stem
        assert await transcripts.read() == 9
        assert await transcripts.read() == 0
        failed = store.rows("SELECT tool, json_extract(payload_json, '$.error') FROM events WHERE outcome = 'failed'")
        assert sorted(tool for tool, _ in failed) == ["Edit", "Execute", "Read", "mcp__mem__broken", "no_such_tool"]
        assert [error[:21] for tool, error in failed if tool == "Execute"] == ["Exit code 1\nTraceback"]
        said = store.rows("SELECT kind FROM events WHERE kind NOT IN ('tool', 'prompt') ORDER BY kind")
        assert [kind for (kind,) in said] == ["assistant_text", "turn_end", "turn_end"]


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreToolUse", "Notification"])
def test_events_that_are_not_asked_for_are_refused(event: str) -> None:
    with pytest.raises(EnvelopeRejected, match="unhandled_event"):
        decode_envelope(json.dumps({"session_id": "s", "hook_event_name": event}).encode(), ts=1)


def test_what_a_parent_agent_asks_is_no_prompt() -> None:
    told = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "# Task Tool Invocation\n\nDo it"}
    with pytest.raises(EnvelopeRejected, match="not_a_prompt"):
        decode_envelope(json.dumps(told).encode(), ts=1)


def message(role: Any, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m", "timestamp": "2026-11-22T19:21:59.073Z",
            "message": {"role": role, "content": list(blocks)}} | more  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        message("user", {"type": "tool_result", "tool_use_id": [], "content": {}}),
        message("assistant", {"type": "tool_use", "id": 1, "name": {}}, {"type": "text", "text": 3}, 7),
        message({}, "x"),
        message("user", {"type": "text", "text": "<system-reminder>INJECTED</system-reminder>"}),
        message("user", {"type": "text", "text": "INJECTED"}, id="context-1"),
        {"type": "todo_state", "id": "x"},
        {"type": []},
    ],
)
def test_a_line_of_an_odd_shape_tells_nothing(line: dict[str, Any]) -> None:
    reader = SessionReader("s1")
    found = [*reader.read(json.dumps(line).encode()), *reader.finish(True)]
    assert not [each for each in found if isinstance(each, Event)]


def test_a_broken_line_in_the_middle_costs_itself_alone() -> None:
    reader = SessionReader("s1")
    assert list(reader.read(b'{"type": "mess')) == [Skipped("malformed_line")]
    asked = json.dumps(message("user", {"type": "text", "text": "Go on"})).encode()
    assert [each.payload for each in reader.read(asked) if isinstance(each, Event)] == [{"prompt": "Go on"}]
