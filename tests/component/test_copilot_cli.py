"""A recorded session of Copilot CLI, told by its hooks in either naming and by its files, in every order."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by, read_files
from opened_store import OpenedStore
from recordings import DATA, Recording, recording_of

from siftd.clients.copilot_cli.hooks import decode_envelope
from siftd.clients.copilot_cli.session import SessionReader
from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

COPILOT = CLIENTS["copilot-cli"]
MAIN = "bfef2ee3-a30d-4a5e-a388-47ac2d861898"
WITHOUT_FILE = "cf11a434-0f81-4423-9c96-6cbd6e641cc6"
LABELS = [json.loads(line)["label"] for line in (DATA / "copilot-cli" / "hooks.jsonl").read_bytes().splitlines()]
CALLS, FAILED = 14, 5
"""Of the sessions that have files. A command that ends with 1, an edit that does not apply, a server's tool, a file
that is not there, a tool that does not exist."""


def told_by(recording: Recording, naming: str) -> list[bytes]:
    """Return the inputs of the hooks that are named so, or of all."""
    return [raw for label, raw in zip(LABELS, recording.inputs, strict=True) if label.startswith(naming)]


@pytest.mark.slow
@pytest.mark.parametrize("naming", ["pascal:", "camel:", ""])
async def test_each_fact_is_kept_once_whoever_tells_it_first(naming: str, tmp_path: Path) -> None:
    told = {}
    for number, way in enumerate(WAYS):
        place = tmp_path / str(number)
        place.mkdir()
        recording = recording_of("copilot-cli", place)
        inputs = told_by(recording, naming)
        facts = await facts_by(way, place / "store", COPILOT, inputs, recording.home, recording.root)
        assert not [row for row in facts if "INJECTED" in row[6]], way
        with_files = [row for row in facts if row[0] != WITHOUT_FILE]
        told[way] = Counter((*row[:4], row[4]) for row in with_files)
        calls = [row for row in with_files if row[1] == "tool"]
        assert (len(calls), sum(row[3] == "failed" for row in calls)) == (CALLS, FAILED), way
        kinds = Counter(row[1] for row in with_files)
        assert (kinds["prompt"], kinds["turn_end"], kinds["subagent_end"]) == (3, 3, 1), way
        assert {row[0] for row in facts if row[4]} == {MAIN}, "a subagent belongs to its parent's session"
    live, file, *others = told.values()
    assert all(other == others[0] for other in others)
    assert file == others[0]
    assert {kind for _, kind, *_ in live} | {"assistant_text", "compaction"} == {kind for _, kind, *_ in file}


def told_of(inputs: list[bytes]) -> list[Event | SessionChange]:
    told = []
    for raw in inputs:
        try:
            told.append(decode_envelope(raw, ts=1))
        except EnvelopeRejected:
            continue
    return told


def test_either_naming_tells_the_same(tmp_path: Path) -> None:
    recording = recording_of("copilot-cli", tmp_path)
    pascal, camel = told_of(told_by(recording, "pascal:")), told_of(told_by(recording, "camel:"))
    assert sorted(map(repr, pascal)) == sorted(map(repr, camel))


def test_hook_and_file_tell_one_payload(tmp_path: Path) -> None:
    recording = recording_of("copilot-cli", tmp_path)
    live = [each for each in told_of(told_by(recording, "pascal:")) if isinstance(each, Event)]
    reader, read = SessionReader(None), []
    for line in (recording.home / "session-state" / MAIN / "events.jsonl").read_bytes().splitlines():
        read += [each for each in reader.read(line) if isinstance(each, Event)]
    by_id = {each.native_id: each.payload for each in read if each.kind == "tool"}
    calls = [each for each in live if each.kind == "tool" and each.session_id == MAIN]
    assert len(calls) == CALLS - 1
    assert [by_id[each.native_id] for each in calls] == [each.payload for each in calls]


class Reading:
    """A session's file as a test writes it."""

    def __init__(self) -> None:
        self.reader = SessionReader(None)
        self.told: list[Any] = []
        self.tell("session.start", sessionId="s1", context={"cwd": "/w", "branch": "main"})

    def tell(self, kind: str, *, agent: str | None = None, **data: Any) -> None:
        line = {"type": kind, "data": data, "timestamp": "2026-11-22T19:10:26.040Z", "id": f"i{len(self.told)}"}
        self.told += self.reader.read(json.dumps(line | ({"agentId": agent} if agent else {})).encode())

    def kept(self) -> list[tuple[str, str | None, dict[str, Any]]]:
        return [(each.kind, each.native_id, each.payload) for each in self.told if isinstance(each, Event)]


@pytest.fixture
def reading() -> Reading:
    return Reading()


def test_a_session_without_hooks_has_the_files_own_ids_and_ends_its_turns(reading: Reading) -> None:
    reading.tell("user.message", content="Mend it", messageId="m1")
    reading.tell("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "make"})
    done = "ok\n<shellId: 0 completed with exit code 0>"
    reading.tell("tool.execution_complete", toolCallId="c1", success=True, result={"content": done})
    reading.tell("assistant.message", messageId="m2", content="Mended.", toolRequests=[])
    reading.tell("user.message", content="And now?", messageId="m3")
    assert reading.kept() == [
        ("prompt", "m1", {"prompt": "Mend it"}),
        ("tool", "c1", {"tool_input": {"command": "make"}, "tool_response": "ok"}),
        ("assistant_text", "m2", {"text": "Mended."}),
        ("turn_end", "m2", {"last_assistant_message": ""}),
        ("prompt", "m3", {"prompt": "And now?"}),
    ]


def test_what_nobody_typed_is_no_prompt(reading: Reading) -> None:
    reading.tell("user.message", content="Skill text", messageId="m1", source="skill-pdf")
    reading.tell("user.message", content="SUBTASK", messageId="m2", agent="a1", source="agent-s1")
    reading.tell("system.message", content="You are Copilot")
    reading.tell("system.notification", content="done")
    assert reading.kept() == []


def test_a_prompt_that_another_hook_changed_is_the_one_that_was_typed(reading: Reading) -> None:
    given = {"timestamp": 1795374626040, "prompt": "Mend it", "sessionId": "s1"}
    reading.tell("hook.start", hookType="userPromptSubmitted", input=given)
    reading.tell("user.message", content="Mend it, in French", messageId="m1")
    assert reading.kept() == [("prompt", "at 1795374626040", {"prompt": "Mend it"})]


def test_what_is_guidance_for_the_model_is_cut_and_what_only_looks_like_it_stays(reading: Reading) -> None:
    guidance = 'Tool "view" succeeded. Additional guidance from postToolUse hooks:\n'
    for number, text in enumerate((f"a = 1\n\n{guidance}INJECTED", "it says: " + guidance.strip())):
        reading.tell("tool.execution_start", toolCallId=f"c{number}", toolName="view", arguments={"path": "/w/a"})
        reading.tell("tool.execution_complete", toolCallId=f"c{number}", success=True, result={"content": text})
    assert [payload["tool_response"] for _, _, payload in reading.kept()] == ["a = 1", "it says: " + guidance.strip()]


def test_calls_that_end_in_another_order_have_each_its_own_time(reading: Reading) -> None:
    for key, command in (("c1", "sleep 1"), ("c2", "true"), ("c3", "true")):
        reading.tell("tool.execution_start", toolCallId=key, toolName="bash", arguments={"command": command})
    for key, command, at in (("c3", "true", 3), ("c1", "sleep 1", 1), ("c2", "true", 2)):
        given = {"timestamp": at, "toolName": "bash", "toolArgs": {"command": command}}
        reading.tell("hook.start", hookType="postToolUse", input=given)
        reading.tell("tool.execution_complete", toolCallId=key, success=True, result={"content": ""})
    assert sorted(native for _, native, _ in reading.kept() if native) == ["at 1", "at 2", "at 3"]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"null",
        b'{"type":["user.message"],"data":{}}',
        b'{"type":"user.message","data":[]}',
        b'{"type":"hook.start","data":{"hookType":"postToolUse","input":"x"}}',
        b'{"type":"hook.start","data":{"hookType":"postToolUse","input":{"timestamp":1e999}}}',
        b'{"type":"tool.execution_complete","data":{"toolCallId":{},"success":1,"result":7}}',
        b'{"type":"subagent.started","data":{"toolCallId":[1]},"agentId":"a"}',
        b'{"type":"session.compaction_complete","data":{"success":true,"summaryContent":4}}',
        b'{"type":"assistant.message","data":{"content":{},"messageId":1},"id":2,"timestamp":"later"}',
        b'{"type":"user.message","data":{"content":"\\ud800 x"}}',
    ],
)
def test_no_line_ends_the_reading_of_a_file(reading: Reading, line: bytes) -> None:
    list(reading.reader.read(line))
    list(reading.reader.finish(True))


async def test_a_file_that_grows_is_told_as_it_grows_and_nothing_twice(tmp_path: Path) -> None:
    recording = recording_of("copilot-cli", tmp_path)
    path = recording.home / "session-state" / MAIN / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    async with OpenedStore(tmp_path / "store") as store:
        for part in range(1, 6):
            path.write_bytes(b"".join(lines[: len(lines) * part // 5])[: None if part == 5 else -20])
            assert (await read_files(store, COPILOT, recording.home, recording.root)).errors == 0
        kept = store.rows("SELECT count(*) FROM events WHERE session_id = '" + MAIN + "' AND kind = 'tool'")
        assert kept == [(CALLS - 1,)]
