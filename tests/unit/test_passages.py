"""The passage that answers: found wherever it stands in an event, whatever the event holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.search.passages import LOOKED_AT, PASSAGE_CHARS, Wanted, passage

RETRIES = Wanted({"retry": 0.6, "seven": 0.8, "queue": 0.4})
CLOSING = (
    "I looked at the worker and at its log. The tests pass. "
    "We retry seven times, because the broker drops its connections for half a minute after a failover. "
    "Everything is pushed."
)


def said(text: str, summary: str = "I looked at the worker.", wanted: Wanted = RETRIES) -> str | None:
    return passage({"_source": "claude-code", "last_assistant_message": text}, summary, wanted)


def test_the_sentence_with_the_words_and_the_reason_is_told() -> None:
    told = said(CLOSING)
    assert told is not None
    assert told.startswith("We retry seven times, because the broker drops")
    assert len(told) <= PASSAGE_CHARS


def test_a_summary_that_answers_as_much_stays_alone() -> None:
    assert said(CLOSING, "We retry seven times since the queue's broker drops its connections.") is None
    assert said("Nothing of it here.") is None


def test_what_was_said_next_is_told_with_it_as_far_as_there_is_room() -> None:
    text = "We retry seven times in the queue. The broker needs half a minute to come back. " + "Then it goes on. " * 30
    told = said(text, "We retry seven times in the queue.")
    assert told is not None
    assert told.startswith("We retry seven times in the queue. The broker needs half a minute to come back. Then it")
    assert len(told) <= PASSAGE_CHARS


def test_a_question_and_an_announcement_answer_less_than_a_statement() -> None:
    text = "Do we retry seven times? Let me see the queue's seven retries. We retry seven times there."
    assert said(text) == "We retry seven times there."


def test_a_line_of_output_has_to_say_more_than_the_summary() -> None:
    payload = {"tool_input": {"command": "x"}, "tool_response": {"stdout": "queue: gave up"}}
    assert passage(payload, "`x`: done", RETRIES) is None


def test_words_are_found_in_their_other_forms() -> None:
    assert said("It is retried there.", "Done.", Wanted({"retries": 1.0})) == "It is retried there."


def test_lines_of_a_command_s_output_are_passages_too() -> None:
    payload = {
        "tool_input": {"command": "make check"},
        "tool_response": {"stdout": "building\nE: queue: gave up after seven tries\ndone"},
    }
    assert passage(payload, "`make check`: done", RETRIES) == "E: queue: gave up after seven tries"


def test_what_a_file_was_before_a_change_is_no_passage() -> None:
    payload = {"tool_input": {"new_string": "x = 1"}, "tool_response": {"originalFile": "retry seven queue"}}
    assert passage(payload, "Edited a.py", RETRIES) is None


def test_the_middle_of_a_long_message_is_looked_at_too() -> None:
    around = "Nothing else was changed. " * 110
    assert said(f"{around}We retry seven times. {around}", wanted=Wanted({"retry": 0.6, "seven": 0.8})) is not None


def test_only_so_much_of_an_event_is_looked_at() -> None:
    assert said("x. " * LOOKED_AT + "We retry seven times.") is None


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["prompt", "text", "tool_input", "x"]), inner),
        max_leaves=10,
    ),
    st.text(),
)
def test_any_payload_gives_a_short_passage_or_none(value: Any, summary: str) -> None:
    payload = value if isinstance(value, dict) else {"text": value}
    told = passage(payload, summary, Wanted({"a": 1.0, "x": 0.5}))
    assert told is None or 0 < len(told) <= PASSAGE_CHARS
