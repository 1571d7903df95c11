"""Gemini CLI's session files as they may be: written again, rewound, compacted, broken, of a version to come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Decoded, Skipped
from siftd.clients.gemini_cli.facts import typed_prompt, without_hook_context
from siftd.clients.gemini_cli.sessions import SessionReader, head_of, session_lines
from siftd.clients.gemini_parts import command_answer
from siftd.model import Event

AT = "2026-11-22T19:01:4{}.000Z"


def header(kind: str = "main", session: str = "s1") -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "p", "startTime": AT.format(0), "kind": kind}


def user(name: str, text: str, second: int = 1) -> dict[str, Any]:
    return {"id": name, "timestamp": AT.format(second), "type": "user", "content": [{"text": text}]}


def said(name: str, text: str, *calls: dict[str, Any], second: int = 2) -> dict[str, Any]:
    told = {"id": name, "timestamp": AT.format(second), "type": "gemini", "content": text}
    return told | ({"toolCalls": list(calls)} if calls else {})


def called(name: str, status: str = "success", **more: Any) -> dict[str, Any]:
    answer = {"output": "# demo"} if status == "success" else {"error": "no such file"}
    response = {"functionResponse": {"id": name, "name": "read_file", "response": answer}}
    given = {"id": name, "name": "read_file", "args": {"file_path": "a"}, "status": status, "result": [response]}
    return given | {"timestamp": AT.format(3)} | more


def read(*lines: dict[str, Any] | bytes, complete: bool = True) -> list[Decoded]:
    reader = SessionReader(None)
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return [told for line in raw for told in reader.read(line)] + list(reader.finish(complete))


def facts(*lines: dict[str, Any] | bytes, complete: bool = True) -> list[tuple[str, Any]]:
    told = (each for each in read(*lines, complete=complete) if isinstance(each, Event))
    return [(each.kind, each.payload.get("prompt") or each.payload.get("last_assistant_message")) for each in told]


def test_a_message_that_is_written_again_is_told_once_with_its_last_words() -> None:
    lines = [header(), user("u1", "Read it"), said("g1", "I"), said("g1", "I read", called("c1")), said("g2", "Done")]
    assert facts(*lines, *lines[3:]) == [("prompt", "Read it"), ("tool", None), ("turn_end", "I read\nDone")]


def test_a_call_is_told_when_it_has_ended_and_equal_ones_are_counted() -> None:
    running = said("g1", "", called("c1", "executing"))
    told = read(header(), user("u1", "Read it"), running, said("g1", "", called("c1"), called("c2")))
    assert [each.occurrence for each in told if isinstance(each, Event) and each.kind == "tool"] == [1, 2]


def test_a_turn_is_over_at_the_next_prompt_or_when_the_file_grows_no_more() -> None:
    lines = [header(), user("u1", "One"), said("g1", "First"), user("u2", "Two"), said("g2", "Second")]
    ends = [("prompt", "One"), ("turn_end", "First"), ("prompt", "Two")]
    assert facts(*lines, complete=False) == ends
    assert facts(*lines) == [*ends, ("turn_end", "Second")]


def test_a_history_that_is_repeated_tells_nothing_again_but_a_compaction_s_summary() -> None:
    snapshot = user("x1", "<state_snapshot>the goal</state_snapshot>")
    again = {"$set": {"messages": [snapshot, user("u1", "One"), said("g9", "First")]}}
    told = read(header(), user("u1", "One"), again, again, header(), {"$rewindTo": "u1"}, user("u1", "One"))
    assert [each.kind for each in told if isinstance(each, Event)] == ["prompt", "compaction"]


@pytest.mark.parametrize("text", ["<session_context>\nhi", "<hook_context>hi</hook_context>", " "])
def test_what_the_client_puts_in_a_person_s_place_is_no_prompt(text: str) -> None:
    assert facts(header(), user("u1", text)) == []


def test_a_broken_line_and_fields_of_a_version_to_come_cost_nothing_else() -> None:
    strange = {"id": 7, "type": ["new"], "toolCalls": {"a": 1}}
    lines = [header(), b'{"id": "u0", ', strange, {"$set": [1]}, {"new": 1}, user("u1", "One") | {"mood": {"x": 1}}]
    told = read(*lines, said("g1", "", {"id": 3}, called("c1", "error")))
    assert [each for each in told if isinstance(each, Skipped)] == [Skipped("malformed_line")]
    assert [(each.kind, each.outcome) for each in told if isinstance(each, Event)] == [
        ("prompt", None),
        ("tool", "failed"),
    ]


def test_a_subagent_s_calls_are_counted_with_its_session_s(tmp_path: Path) -> None:
    (tmp_path / "project" / "chats" / "s1").mkdir(parents=True)
    main = tmp_path / "project" / "chats" / "session-1.jsonl"
    agent = tmp_path / "project" / "chats" / "s1" / "a1.jsonl"
    (tmp_path / "project" / ".project_root").write_text("/w\n")
    within = [
        header("subagent", "a1"),
        user("t", "the task"),
        said("g5", "", called("a1#0")),
        said("g6", "It says demo"),
    ]
    agent.write_text("".join(json.dumps(each) + "\n" for each in within) + '{"id": "half')
    calls = said("g1", "", called("c1"), called("c2", agentId="a1") | {"name": "invoke_agent"})
    lines = [json.dumps(each).encode() + b"\n" for each in (header(), user("u1", "One"), calls)]
    reader = SessionReader("s1")
    told = [each for line in session_lines(str(main), lines) for each in reader.read(line)] + list(reader.finish(True))
    found = [(e.kind, e.tool, e.agent_id, e.occurrence) for e in told if isinstance(e, Event) and e.kind != "prompt"]
    assert found == [
        ("tool", "read_file", "a1", 1),
        ("tool", "read_file", None, 2),
        ("tool", "invoke_agent", None, 1),
        ("subagent_end", "SubagentStop", "a1", None),
    ]
    assert head_of(str(main), lines) == ("s1", "/w", None)
    assert head_of(str(agent), agent.read_bytes().splitlines()) == (None, None, "a1")


def test_the_folder_is_looked_up_in_the_client_s_list_where_nothing_is_noted_beside(tmp_path: Path) -> None:
    chats = tmp_path / "tmp" / "project" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "projects.json").write_text('{"projects": {"/other": "project-1", "/w": "project"}}')
    assert head_of(f"{chats}/session-1.jsonl", [json.dumps(header()).encode()]) == ("s1", "/w", None)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<hook_context>a</hook_context>\n\nMend it", "Mend it"),
        ("Mend it\n<hook_context>a</hook_context><hook_context>b</hook_context>", "Mend it"),
        ("what is <hook_context>a</hook_context> for?", "what is <hook_context>a</hook_context> for?"),
        ("Mend @a.py\n--- Content from referenced files ---\nContent of a.py", "Mend @a.py"),
    ],
)
def test_a_prompt_is_what_was_typed(text: str, kept: str) -> None:
    assert typed_prompt(text) == kept


def test_cutting_what_hooks_gave_takes_no_longer_than_the_text_is_long() -> None:
    text = "<hook_context>" * 50_000 + "</hook_context>"
    assert len(without_hook_context(text)) <= len(text)


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        ("Output: 1 passed\nProcess Group PGID: 7", {"tool_response": "1 passed"}),
        ("Output: (empty)", {"tool_response": ""}),
        ("<untrusted_context>\nOutput: a\nExit Code: 2\n</untrusted_context>", {"error": "Exit code 2\na"}),
        ("Output: a\nExit Code: 0\nb", {"tool_response": "a\nExit Code: 0\nb"}),
        ("Output: a\nSignal: SIGKILL", {"error": "Signal SIGKILL\na"}),
        ("Command: make\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 1", {"error": "Exit code 1\na"}),
    ],
)
def test_a_command_s_status_is_in_the_text_that_the_client_makes_of_it(text: str, payload: dict[str, str]) -> None:
    answer = command_answer(text, "make")
    assert answer.payload == payload
    assert answer.outcome == ("failed" if "error" in payload else "ok")
