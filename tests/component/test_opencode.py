"""What OpenCode tells, by our plugin and by its database: recorded from OpenCode 1.18 with the plugin in it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by
from opencode_database import DATA, make_database

from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event

CLIENT = CLIENTS["opencode"]
REPORTS = (DATA / "reports.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("way", WAYS)
async def test_live_and_database_tell_the_same_in_any_order(tmp_path: Path, way: str) -> None:
    folder, root = tmp_path / "opencode", tmp_path / "work"
    root.mkdir()
    make_database(folder / "opencode.db", root)
    inputs = [line.replace(b"/home/dev/project", str(root).encode()) for line in REPORTS]
    facts = await facts_by(way, tmp_path / "home", CLIENT, inputs, folder, str(root))
    kinds = Counter(kind for _, kind, *_ in facts)
    assert kinds == {"prompt": 2, "tool": 13, "assistant_text": 2, "turn_end": 2, "subagent_end": 1, "compaction": 1}
    outcomes = Counter(outcome for _, _, _, outcome, *_ in facts if outcome)
    assert outcomes == {"ok": 7, "failed": 6}, "an exit code, an edit, two searches, a server's error, no such tool"
    assert len(set(facts)) == len(facts)
    assert "INJECTED" not in str(facts)


def told(name: str, **fields: Any) -> Event:
    report = {"hook_event_name": name, "session_id": "ses_1", "cwd": "/w", **fields}
    event = CLIENT.decode(json.dumps(report).encode(), ts=1)
    assert isinstance(event, Event)
    return event


def call(tool: str, **state: Any) -> Event:
    part = {"type": "tool", "id": "prt_1", "callID": "call_1", "tool": tool}
    return told("PostToolUse", part=part | {"state": {"status": "completed", "time": {"start": 1, "end": 2}} | state})


def test_a_command_that_failed_is_told_with_its_exit_code() -> None:
    event = call("bash", input={"command": "make"}, output="x", metadata={"output": "no rule\n", "exit": 2})
    assert (event.outcome, event.payload["error"]) == ("failed", "Exit code 2\nno rule\n")


def test_a_call_that_was_stopped_is_no_failure() -> None:
    assert call("bash", status="error", error="Tool execution aborted", input={}).outcome == "interrupted"


def test_inputs_have_the_names_that_summaries_read() -> None:
    edits = [{"oldString": "a", "newString": "b"}]
    event = call("multiedit", input={"filePath": "/w/a.py", "edits": edits}, output="ok")
    assert event.payload["tool_input"] == {"file_path": "/w/a.py", "edits": [{"old_string": "a", "new_string": "b"}]}


def test_a_result_of_our_own_tools_is_kept_as_ids_alone() -> None:
    event = call("siftd_search", input={"query": "x"}, output="s12 said something secret, e3 too")
    assert event.tool == "mcp__siftd__search"
    assert event.payload["tool_response"] == {"ids": ["s12", "e3"]}


def test_the_same_call_in_a_fork_is_known_again() -> None:
    first = call("bash", input={"command": "ls"}, output="a")
    part = {"type": "tool", "id": "prt_9", "callID": "call_1", "tool": "bash"}
    state = {"status": "completed", "input": {"command": "ls"}, "output": "a", "time": {"start": 1, "end": 2}}
    copy = told("PostToolUse", part=part | {"state": state})
    later = told("PostToolUse", part=part | {"state": state | {"time": {"start": 5, "end": 6}}})
    assert copy.native_id == first.native_id != later.native_id
    assert copy.identity != first.identity


@pytest.mark.parametrize(
    ("text", "typed"),
    [('"say it"', "say it"), ('"a" and "b"', '"a" and "b"'), (" go \n", "go"), ('"', '"')],
)
def test_quotation_marks_of_the_command_line_are_taken_off(text: str, typed: str) -> None:
    parts = [{"type": "text", "text": text}, {"type": "text", "text": "injected", "synthetic": True}]
    assert told("UserPromptSubmit", message_id="m", parts=parts).payload == {"prompt": typed}


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (b"{", "not_json"),
        (b"[]", "bad_type"),
        (b'{"session_id":1}', "bad_type"),
        (b"{}", "no_session"),
        (b'{"session_id":"s"}', "unhandled_event"),
        (b'{"session_id":"s","hook_event_name":"PostToolUse"}', "no_tool"),
        (b'{"session_id":"s","hook_event_name":"PostToolUse","part":{"type":"tool","state":[]}}', "no_tool"),
        (b'{"session_id":"s","hook_event_name":"UserPromptSubmit","parts":{"a":1}}', "not_a_prompt"),
        (b'{"session_id":"s","hook_event_name":"AssistantText","text":" "}', "unhandled_event"),
        (b'{"session_id":"s","parts":' + b"[" * 300 + b"]" * 300 + b"}", "too_deep"),
    ],
)
def test_what_is_no_report_is_refused_with_a_name_for_it(report: bytes, reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as rejected:
        CLIENT.decode(report, ts=1)
    assert rejected.value.reason == reason
