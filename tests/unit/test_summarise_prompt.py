"""What a model is asked, and how its answer is read."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_kinds import item_of

from siftd.summarise.answer import is_latin, read_answer
from siftd.summarise.contract import Item
from siftd.summarise.errors import ModelRefused, ModelUnavailable, for_status
from siftd.summarise.ollama import CONTEXTS, context_for
from siftd.summarise.prompt import MAX_ANSWER_TOKENS, prompt_for, prompt_hash

FENCE = re.compile(r"^<<[0-9a-f]{16}>>$", re.MULTILINE)


def bash(command: str, output: str, **others: str) -> Item:
    payload = {"tool_input": {"command": command}, "tool_response": {"stdout": output}}
    return item_of(event_id=1, tool="Bash", payload=payload, outcome="ok", **others)


def test_the_event_stands_between_two_equal_random_lines_and_after_its_circumstances() -> None:
    prompt = prompt_for(bash("make", "done", request="Build it", cwd="/w"))
    fences = FENCE.findall(prompt.message)
    before, inside, _ = FENCE.split(prompt.message)
    assert len(set(fences)) == 1
    assert fences != FENCE.findall(prompt_for(bash("make", "done")).message)
    assert all(part in before for part in ("Tool: Bash", "Outcome: ok", "Folder: /w", '"Build it"'))
    assert "command: make" in inside


def test_a_huge_payload_is_sent_by_its_ends_with_its_first_error_kept() -> None:
    middle = "line\n" * 2_000 + "E   KeyError: 'name'\n" + "line\n" * 300
    prompt = prompt_for(bash("x" * 100_000, "BEGIN\n" + "line\n" * 40_000 + middle + "END"))
    assert len(prompt.message) < 14_000
    assert "BEGIN" in prompt.message
    assert "END" in prompt.message
    assert "KeyError: 'name'" in prompt.message


def test_many_inputs_are_bounded_together() -> None:
    payload = {"tool_input": {f"key{n}": "v" * 3_000 for n in range(500)}}
    prompt = prompt_for(item_of(event_id=1, tool="mcp__a__b", payload=payload))
    assert len(prompt.message) < 40_000
    assert context_for(prompt) in CONTEXTS


@settings(max_examples=60)
@given(st.text(max_size=30_000))
def test_the_context_asked_for_holds_the_prompt_and_its_answer(text: str) -> None:
    prompt = prompt_for(bash("cat a", text))
    assert context_for(prompt) >= prompt.tokens_estimate + MAX_ANSWER_TOKENS


def test_a_repair_names_what_was_not_in_the_event() -> None:
    prompt = prompt_for(bash("make", "done"), unsupported=["1a2b3c4"])
    assert '"1a2b3c4"' in prompt.message.splitlines()[-1]


def test_the_hash_covers_circumstances_and_command_and_is_the_same_each_time() -> None:
    item = bash("make", "done")
    assert prompt_hash(item) == prompt_hash(item)
    others = [prompt_hash(bash("make", "done", request="r")), prompt_hash(bash("make", "done", cwd="/x"))]
    assert len({prompt_hash(item), prompt_hash(item, "llm -m x"), *others}) == 4


@pytest.mark.slow
@settings(max_examples=150)
@given(st.text(max_size=300), st.booleans())
def test_any_answer_gives_either_a_text_or_a_problem(answer: str, latin: bool) -> None:
    reading = read_answer(answer, source_is_latin=latin)
    assert bool(reading.text) != bool(reading.problem)


@given(st.text(alphabet='{}[]",: \\summary', max_size=200))
@settings(max_examples=150)
def test_a_summary_is_found_whatever_stands_before_it(noise: str) -> None:
    closed = noise.replace('"', "").replace("{", "(")
    assert read_answer(closed + json.dumps({"summary": "Fixed it."}), source_is_latin=True).text == "Fixed it."


def test_a_flood_of_braces_is_read_in_bounded_time_and_has_no_summary() -> None:
    assert read_answer("{" * 1_000_000, source_is_latin=True).problem == "the answer holds no JSON object"
    assert read_answer('{"a":' * 20_000, source_is_latin=True).problem == "the answer holds no JSON object"


def test_another_script_is_welcome_where_the_event_is_in_it() -> None:
    answer = json.dumps({"summary": "期限切れのトークンを拒否"})
    assert not is_latin("トークンの期限 in auth.py")
    assert read_answer(answer, source_is_latin=False).text
    assert read_answer(answer, source_is_latin=True).problem == "the answer is in another language"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(s, ModelUnavailable) for s in (401, 402, 403, 404, 408, 409, 425, 429, 500, 502, 503, 504, 529)]
    + [(s, ModelRefused) for s in (301, 400, 413, 422)],
)
def test_each_status_maps_to_waiting_or_refusing(status: int, kind: type[Exception]) -> None:
    assert type(for_status(status, {}, missing="m", key="k")) is kind


@pytest.mark.parametrize("value", ["-5", "nan", "1e9", "inf", "x"])
def test_a_foolish_retry_after_is_never_a_foolish_wait(value: str) -> None:
    error = for_status(429, {"retry-after": value}, missing="", key="")
    assert isinstance(error, ModelUnavailable)
    assert error.after_seconds is None or 0 <= error.after_seconds <= 86_400
