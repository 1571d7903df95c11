"""What pi tells, by our extension and by its sessions' files: recorded from pi 0.74."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by

from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event

CLIENT = CLIENTS["pi"]
DATA = Path(__file__).resolve().parents[1] / "data" / "pi"
REPORTS = (DATA / "reports.jsonl").read_bytes().splitlines()
"""What the extension made of `events.jsonl`, each life of pi's by itself."""
EVENTS = [json.loads(line) for line in (DATA / "events.jsonl").read_bytes().splitlines()]
TIMES = [round(each["at"] * 1000) for each in EVENTS if each["event"] != "tool_execution_start"]


@pytest.mark.parametrize("way", WAYS)
async def test_live_and_files_tell_the_same_in_any_order(tmp_path: Path, way: str) -> None:
    folder, root = tmp_path / "sessions", tmp_path / "work"
    root.mkdir()
    folder.mkdir()
    for file in DATA.glob("session-*.jsonl"):
        text = file.read_text(encoding="utf-8").replace("/home/dev/project", str(root))
        (folder / file.name).write_text(text, encoding="utf-8")
    inputs = [line.replace(b"/home/dev/project", str(root).encode()) for line in REPORTS]
    facts = await facts_by(way, tmp_path / "home", CLIENT, inputs, folder, str(root), TIMES)
    kinds = Counter(kind for _, kind, *_ in facts)
    files_alone = {"assistant_text": 1, "compaction": 1} if way != "live" else {}
    assert kinds == {"prompt": 4, "tool": 10, "turn_end": 4, **files_alone}
    outcomes = Counter(outcome for _, _, _, outcome, *_ in facts if outcome)
    assert outcomes == {"ok": 6, "failed": 4}, "an exit code, an edit, a file and a tool that is none"
    assert len(set(facts)) == len(facts)
    assert "INJECTED-AT-PROMPT" not in str(facts)


def told(name: str, **fields: Any) -> Event:
    report = {"hook_event_name": name, "session_id": "s1", "cwd": "/w", "session_file": "/h/s.jsonl", **fields}
    event = CLIENT.decode(json.dumps(report).encode(), ts=1)
    assert isinstance(event, Event)
    return event


def call(tool: str, given: Any, text: str, *, is_error: bool = False) -> Event:
    content = [{"type": "text", "text": text}]
    return told("PostToolUse", tool=tool, id="call_1", input=given, content=content, is_error=is_error)


def test_a_command_that_failed_is_told_with_its_exit_code() -> None:
    event = call("bash", {"command": "make"}, "no rule\n\n\nCommand exited with code 2", is_error=True)
    assert (event.outcome, event.payload["error"]) == ("failed", "Exit code 2\nno rule\n")
    assert call("bash", {"command": "make"}, "x\n\nCommand aborted", is_error=True).outcome == "interrupted"


def test_a_single_edit_is_told_as_one_and_several_as_several() -> None:
    one = {"oldText": "a", "newText": "b"}
    event = call("edit", {"path": "/w/a.py", "edits": [one]}, "ok")
    assert event.payload["tool_input"] == {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}
    event = call("edit", {"path": "/w/a.py", "edits": [one, one]}, "ok")
    assert event.payload["tool_input"]["edits"] == [{"old_string": "a", "new_string": "b"}] * 2


def test_an_event_names_the_session_s_file() -> None:
    assert told("Stop", content=[{"type": "text", "text": "Done."}]).transcript == "/h/s.jsonl"


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (b"{", "not_json"),
        (b"[]", "bad_type"),
        (b"{}", "no_session"),
        (b'{"session_id":"s"}', "unhandled_event"),
        (b'{"session_id":"s","hook_event_name":"PostToolUse"}', "no_tool"),
        (b'{"session_id":"s","hook_event_name":"UserPromptSubmit","content":[1]}', "not_a_prompt"),
    ],
)
def test_what_is_no_report_is_refused_with_a_name_for_it(report: bytes, reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as rejected:
        CLIENT.decode(report, ts=1)
    assert rejected.value.reason == reason


@pytest.mark.parametrize(
    "line", [b"{", b"[1]", b'{"type":"message","message":[]}', b'{"type":"dream","id":1}', b"\xff\xfe"]
)
def test_a_broken_line_costs_itself_alone(line: bytes) -> None:
    lines = (DATA / "session-1.jsonl").read_bytes().splitlines()
    reader, other = CLIENT.files.reader(None), CLIENT.files.reader(None)
    whole = [each for raw in lines for each in reader.read(raw)]
    broken = [each for raw in [*lines[:8], line, *lines[8:]] for each in other.read(raw) if isinstance(each, Event)]
    assert broken == whole
