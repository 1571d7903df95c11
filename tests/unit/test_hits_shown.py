"""What a person sees of hits on a terminal, and of a payload."""

from __future__ import annotations

from typing import Any

import pytest

from siftd.cli import hits as shown
from siftd.clients.shown import as_text
from siftd.wire.requests import Hit, NoteHit

TURN: Hit = {
    "id": "s34",
    "kind": "summary",
    "eventKind": "turn_end",
    "tool": "Stop",
    "action": None,
    "scope": "turn",
    "sessionId": "d614c3b5-aaaa",
    "ts": 1_700_000_000_000,
    "eventId": 12,
    "saidBy": "agent",
    "branch": None,
    "client": None,
    "score": 1.0,
    "asked": None,
    "why": {},
    "text": "Asked: Why do we retry seven times? → The broker drops its connections. — changed queue.py",
    "passage": None,
}
SAID = TURN | {
    "id": "s35",
    "eventKind": "assistant_text",
    "tool": "AssistantText",
    "action": None,
    "scope": "event",
    "text": "I look at the queue.",
    "passage": "We retry seven times, because the broker drops its connections for half a minute after each failover.",
}
KEPT = TURN | {"id": "m3", "kind": "memory", "tool": None, "type": "decision", "text": "Retries are seven."}


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    printed: list[str] = []
    monkeypatch.setattr(shown, "say", lambda text="": printed.extend(text.split("\n")))
    monkeypatch.setattr(shown, "columns", lambda: 80)
    return printed


def test_the_answer_stands_before_the_question_and_each_line_fits(lines: list[str]) -> None:
    shown.say_hits([TURN, SAID, KEPT], "retry", is_full=False)
    assert lines[0].startswith("d614c3b5  ")
    assert lines[1] == "  s34  turn     The broker drops its connections. — changed queue.py"
    assert lines[2].strip() == "Asked: Why do we retry seven times?"
    assert lines[3].startswith("  s35  said     We retry seven times, because the broker drops")
    assert lines[5:8] == ["", "kept on purpose", "  m3   decision Retries are seven."]
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(
    ("is_mine", "told_by"), [(True, "you, on another device"), (False, '"you, on another device"')]
)
def test_nobody_of_the_team_passes_for_who_reads(lines: list[str], is_mine: bool, told_by: str) -> None:
    mark = {"author": "you, on another device", "isMine": is_mine, "source": "memory"}
    shown.say_hits([KEPT | {"id": "t3", "team": mark}], "retry", is_full=False)
    assert lines[0] == f"{told_by}  of the team"


def test_notes_stand_under_a_line_that_says_whose_they_are_and_below_their_headings(lines: list[str]) -> None:
    note: NoteHit = {
        "id": "n:archive/2026-10.md:4",
        "heading": "Decisions > Queue\x1b",
        "text": "- Retries are seven,\n  because the broker drops its connections for half a minute after a failover",
        "archived": True,
        "score": 1.0,
    }
    shown.say_notes([note, note | {"workspace": "/src/api"}], "retries", is_full=False)
    assert lines[:4] == [
        "notes, which people and siftd write",
        "  n:archive/2026-10.md:4  Decisions > Queue�  archived",
        "      - Retries are seven, because the broker drops its connections for half a",
        "      minute after a failover",
    ]
    assert lines[4] == "  n:archive/2026-10.md:4  /src/api  Decisions > Queue�  archived"


def test_a_long_hit_is_cut_to_four_lines_unless_all_is_wanted(lines: list[str]) -> None:
    long = SAID | {"passage": "word " * 300}
    shown.say_hits([long], "", is_full=False)
    assert len([line for line in lines if "word" in line]) == shown.LINES_MAX
    assert any(line.endswith("…") for line in lines)
    lines.clear()
    shown.say_hits([SAID | {"passage": "worded…  " * 300}], "", is_full=False)
    assert not any("……" in line for line in lines), "what was cut already is not cut twice"
    lines.clear()
    shown.say_hits([long], "", is_full=True)
    assert sum(line.count("word") for line in lines) == 300


def test_words_of_the_question_are_bright(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    monkeypatch.setattr(shown, "paint", lambda text, style: f"<{text}>" if style == "bold" else text)
    shown.say_hits([SAID], "retrying seven connection", is_full=False)
    text = "\n".join(lines)
    assert "<seven>" in text
    assert "<connections>" in text


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"prompt": "fix it\nplease", "_source": "x"}, "fix it\nplease"),
        ({"last_assistant_message": "Done."}, "Done."),
        ({"text": "I look."}, "I look."),
        (
            {"tool_input": {"command": "ls", "description": "List"}, "tool_response": {"stdout": "a\nb", "stderr": ""}},
            "$ ls\n# List\n\na\nb",
        ),
        ({"tool_input": {"command": "false"}, "error": "Exit code 1"}, "$ false\n\nExit code 1"),
        (
            {
                "tool_input": {"file_path": "/a.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc"},
                "tool_response": {"originalFile": "secret", "structuredPatch": []},
            },
            "/a.py\n  a\n- b\n+ B\n  c",
        ),
        (
            {"tool_input": {"file_path": "/a.py", "content": "x\ny"}, "tool_response": {"type": "create"}},
            "/a.py\n+ x\n+ y",
        ),
        ({"tool_input": {"query": "x"}, "tool_response": [{"type": "text", "text": "found"}]}, "query: x\n\nfound"),
        ({"tool_input": {"file_path": "/a"}, "tool_response": {"file": {"content": "1\n2"}}}, "file_path: /a\n\n1\n2"),
    ],
)
def test_a_payload_reads_as_text(payload: dict[str, Any], text: str) -> None:
    assert as_text(payload) == text


@pytest.mark.parametrize("payload", [None, 3, [], {}, {"tool_input": 3}, {"tool_input": {"edits": [1, {}]}}, "text"])
def test_any_payload_reads_as_something(payload: Any) -> None:
    assert isinstance(as_text(payload), str)
