"""Lines of JSON by which any agent tells what it does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.clients.client import Skipped
from siftd.clients.generic.lines import PENDING_MAX, LineReader, decode_line, encode_line, head_of
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

CALL = {"kind": "tool", "session": "s1", "id": "c1", "tool": "shell", "input": {"command": "make test"}}
RESULT = {"kind": "result", "session": "s1", "id": "c1", "output": {"stdout": "12 passed"}}


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def decode(**fields: Any) -> Event:
    told = decode_line(line(**fields), ts=7)
    assert isinstance(told, Event)
    return told


def read(lines: Iterable[dict[str, Any]]) -> list[Any]:
    reader = LineReader("stem")
    return [told for each in lines for told in reader.read(line(**each))]


def test_a_prompt_is_an_agents_word_since_nobody_vouches_for_the_line() -> None:
    told = decode(kind="prompt", session="s1", text="Mend it", ts="1970-01-01T00:00:01Z", cwd="/src", branch="main")
    assert (told.kind, told.payload, told.said_by, told.ts) == ("prompt", {"prompt": "Mend it"}, "agent", 1000)
    assert (told.cwd, told.branch, told.client, told.action) == ("/src", "main", "generic", None)


def test_a_call_with_its_output_is_whole() -> None:
    told = decode(**CALL, output={"stdout": "12 passed"})
    assert (told.kind, told.tool, told.action, told.outcome) == ("tool", "shell", "run", "ok")
    assert told.payload == {"tool_input": {"command": "make test"}, "tool_response": {"stdout": "12 passed"}}


def test_an_output_of_null_is_one() -> None:
    assert decode(**CALL, output=None).payload["tool_response"] is None


@pytest.mark.parametrize(
    ("told", "outcome"), [({"error": "2 failed"}, "failed"), ({"error": "stopped", "interrupted": True}, "interrupted")]
)
def test_a_call_that_failed_keeps_its_error(told: dict[str, Any], outcome: str) -> None:
    event = decode(**CALL, **told)
    assert (event.outcome, event.payload["error"]) == (outcome, told["error"])


def test_what_a_call_does_is_what_the_line_says_else_what_its_name_says() -> None:
    assert decode(**CALL | {"tool": "deploy", "action": "run"}, output="").action == "run"
    assert decode(**CALL | {"tool": "Read_File"}, output="").action == "read"
    assert decode(**CALL | {"tool": "deploy", "action": "dance"}, output="").action == "other"


def test_what_comes_from_the_web_is_from_outside() -> None:
    assert decode(**CALL | {"tool": "crawl", "action": "web"}, output="").said_by == "outside"
    assert decode(**CALL | {"tool": "mcp__a__b"}, output="").said_by == "outside"


def test_the_last_words_of_a_subagent_come_as_a_result_does() -> None:
    told = decode(kind="turn_end", session="s1", text=" Found it. ", agent="a1")
    assert (told.kind, told.said_by, told.agent_id) == ("subagent_end", "output", "a1")
    assert told.payload == {"last_assistant_message": "Found it."}
    assert decode(kind="turn_end", session="s1", text="Done").kind == "turn_end"


@pytest.mark.parametrize("change", ["start", "end", "compact"])
def test_a_sessions_changes_are_told(change: str) -> None:
    told = decode_line(line(kind=change, session="s1", cwd="/src"), ts=7)
    assert isinstance(told, SessionChange)
    assert (told.change, told.cwd, told.ts) == (change, "/src", 7)


def test_one_id_in_two_sessions_or_of_two_kinds_is_of_different_things() -> None:
    """Scripts count from 1."""
    ids = {decode(**CALL | {"session": session}, output="").native_id for session in ("s1", "s2")} | {
        decode(kind="prompt", session="s1", id="c1", text="x").native_id
    }
    assert len(ids) == 3


def test_a_line_without_an_id_is_known_by_all_it_says_with_its_time_and_by_nothing_without() -> None:
    moment = "2026-11-24T09:00:00+01:00"
    once, again, other = (
        decode(kind="prompt", session="s1", text=text, ts=moment) for text in ("Mend it", "Mend it", "Mend that")
    )
    assert once.native_id == again.native_id != other.native_id
    assert decode(kind="prompt", session="s1", text="Mend it").identity == ()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "prompt"}, "no_session"),
        ({"kind": "dance", "session": "s"}, "unhandled_event"),
        ({"session": "s"}, "unhandled_event"),
        ({"kind": "tool", "session": "s", "output": ""}, "no_tool"),
        ({"kind": "tool", "session": "s", "tool": "x"}, "unhandled_event"),
        ({"kind": "result", "session": "s", "id": "1", "output": ""}, "unhandled_event"),
        ({"kind": "prompt", "session": "s", "text": 3}, "bad_type"),
        ({"kind": "prompt", "session": "s", "ts": "yesterday"}, "bad_time"),
        ({"kind": "prompt", "session": "s", "ts": "2026-11-24T09:00:00"}, "bad_time"),
        ({"kind": "prompt", "session": "s", "ts": [1]}, "bad_time"),
    ],
)
def test_what_is_no_fact_is_refused_with_a_reason(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        decode_line(line(**fields), ts=7)
    assert refused.value.reason == reason


def test_a_result_makes_its_call_whole_and_has_its_time() -> None:
    told = read([CALL | {"ts": 5}, {"kind": "assistant_text", "session": "s1", "text": "Running."}, RESULT | {"ts": 9}])
    assert [each.kind for each in told] == ["assistant_text", "tool"]
    assert [each.ts for each in told] == [5, 9]
    assert told[1].payload["tool_response"] == {"stdout": "12 passed"}


def test_calls_of_other_sessions_are_not_mixed_up() -> None:
    told = read([CALL | {"ts": 5}, CALL | {"session": "s2", "tool": "edit"}, RESULT, RESULT | {"session": "s2"}])
    assert [(each.session_id, each.tool) for each in told] == [("s1", "shell"), ("s2", "edit")]


def test_a_file_in_which_a_call_is_open_is_not_between() -> None:
    reader = LineReader("stem")
    assert list(reader.read(line(**CALL, ts=5))) == []
    assert (reader.is_between, reader.waiting) == (False, 1)
    list(reader.read(line(**RESULT)))
    assert reader.is_between


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([RESULT | {"ts": 1}], "orphan_result"),
        ([{"kind": "prompt", "session": "s", "text": "x"}], "no_session_or_time"),
        ([{"kind": "tool", "session": "s", "tool": "x", "ts": 1}], "unhandled_event"),
    ],
)
def test_what_a_file_cannot_tell_is_skipped_with_a_reason(lines: list[dict[str, Any]], reason: str) -> None:
    assert read(lines) == [Skipped(reason)]


def test_what_is_no_json_is_skipped_and_an_empty_line_is_nothing() -> None:
    reader = LineReader("stem")
    assert list(reader.read(b"nonsense\n")) == [Skipped("malformed_line")]
    assert list(reader.read(b"  \n")) == []


def test_a_line_without_a_session_is_of_the_one_that_is_given() -> None:
    assert [each.session_id for each in read([{"kind": "prompt", "text": "x", "ts": 1}])] == ["stem"]


def test_open_calls_are_bounded() -> None:
    reader = LineReader("stem")
    for number in range(PENDING_MAX + 5):
        list(reader.read(line(**CALL | {"id": f"c{number}"}, ts=1)))
    assert reader.waiting == PENDING_MAX


def test_whose_a_file_is_is_told_by_its_first_lines() -> None:
    lines = [b"nonsense", line(kind="start", session="s1"), line(kind="prompt", session="s2", cwd="/src")]
    assert head_of(lines) == ("s1", "/src", None)
    assert head_of([]) == (None, None, None)


def test_a_joined_line_says_the_same_when_it_is_sent() -> None:
    reader = LineReader()
    reader.join(line(**CALL, ts=5))
    joined = reader.join(line(**RESULT, ts=9))
    assert joined is not None
    sent = decode_line(encode_line(joined), ts=99)
    (from_file,) = (each for each in read([CALL | {"ts": 5}, RESULT | {"ts": 9}]))
    assert isinstance(sent, Event)
    assert (sent.identity, sent.payload, sent.ts) == (from_file.identity, from_file.payload, from_file.ts)


@given(st.binary(max_size=300) | st.dictionaries(st.text(max_size=8), st.text(max_size=8)).map(lambda d: line(**d)))
def test_no_line_makes_a_reader_raise(raw: bytes) -> None:
    assert all(isinstance(each, Event | SessionChange | Skipped) for each in LineReader("s").read(raw))
