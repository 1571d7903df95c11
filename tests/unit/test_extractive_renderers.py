"""What the extractive backend promises for any event: some text, the same text, soon, and nothing invented."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item, Purse, Summary
from siftd.summarise.extractive import RENDERERS, Extractive, render
from siftd.summarise.truth import Source, unsupported_claims

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
NAMES = """file_path command content stdout file todos questions answers results structuredPatch lines edits
old_string new_string pattern filenames plan task type statusChange x"""
KEYS = st.sampled_from(NAMES.split())
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=12
)
TOOLS = st.sampled_from([*RENDERERS, "UserPromptSubmit", "Stop", "SubagentStop", "mcp__a__b", "mcp__", "Unheard", ""])


def event(tool: str, given_input: Any, response: Any, **others: Any) -> Item:
    return Item(
        event_id=1, tool=tool, payload={"tool_input": given_input, "tool_response": response}, outcome="ok", **others
    )


def failure(tool: str, given_input: Any, error: Any) -> Item:
    return Item(event_id=1, tool=tool, payload={"tool_input": given_input, "error": error}, outcome="failed")


@settings(max_examples=150, deadline=None)
@given(TOOLS, ANYTHING, ANYTHING, st.sampled_from(["ok", "failed", "interrupted", None]))
def test_any_shape_of_payload_gives_one_short_line_and_never_raises(
    tool: str, left: Any, right: Any, outcome: Any
) -> None:
    shapes = (
        {"tool_input": left, "tool_response": right},
        {"tool_input": left, "error": right},
        {"prompt": left, "last_assistant_message": right},
    )
    for payload in shapes:
        line = render(Item(event_id=1, tool=tool, payload=payload, outcome=outcome, cwd="/w"))
        assert 0 < len(line.text) <= MAX_SUMMARY_CHARS
        assert "\n" not in line.text
        assert 0 < line.confidence <= 1


@settings(max_examples=60, deadline=None)
@given(TOOLS, ANYTHING, ANYTHING)
def test_the_same_event_gives_the_same_text_whenever_and_wherever_it_stands(tool: str, left: Any, right: Any) -> None:
    item = event(tool, left, right)
    assert render(item) == render(msgspec.structs.replace(item, event_id=99, ts=5))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "a" * 200_000,
        "word " * 40_000,
        "\n" * 200_000,
        "- x\n" * 50_000,
        "error: " * 30_000,
        "<" * 200_000,
        "[" * 100_000 + "]" * 100_000,
        "a." * 100_000,
        "1:" * 100_000,
        "def f" * 40_000,
        "cd a && " * 25_000,
        "<<EOF\n" * 30_000,
    ],
    ids=lambda text: text[:5].strip() or "lines",
)
def test_a_huge_hostile_text_costs_no_more_than_its_ends(text: str) -> None:
    told = {
        "file_path": text,
        "command": text,
        "content": text,
        "old_string": text,
        "new_string": text + "x",
        "plan": text,
    }
    payload = {
        "tool_input": told,
        "tool_response": {"stdout": text, "file": {"content": text}, "content": text},
        "prompt": text,
        "last_assistant_message": text,
    }
    one_tool_each = {renderer: tool for tool, renderer in RENDERERS.items()}.values()
    for tool in (*one_tool_each, "UserPromptSubmit", "Stop", "Unheard"):
        started = time.process_time()
        render(Item(event_id=1, tool=tool, payload=payload, outcome="ok"))
        # Bounded work is milliseconds even here; a pattern that backtracks over 200 KB takes minutes.
        assert time.process_time() - started < 0.2, tool


def test_deep_nesting_is_no_recursion() -> None:
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    assert render(event("Unheard", {"a": deep}, deep)).text.startswith("Unheard")


def test_a_path_inside_the_working_directory_is_told_relative_to_it_and_no_other() -> None:
    inside = render(event("Read", {"file_path": "/w/app/a.py"}, "x = 1", cwd="/w/app")).text
    sibling = render(event("Read", {"file_path": "/w/app-old/a.py"}, "x = 1", cwd="/w/app")).text
    assert inside.startswith("Read a.py")
    assert sibling.startswith("Read /w/app-old/a.py")


def test_symbols_that_capture_stamped_name_the_place_of_an_edit() -> None:
    payload = {
        "tool_input": {"file_path": "/w/a.py", "old_string": "    return 1", "new_string": "    return 2"},
        "tool_response": {},
        "symbols": ["Cart", "total"],
    }
    line = render(Item(event_id=1, tool="Edit", payload=payload, outcome="ok", cwd="/w"))
    assert line.text == "Edited a.py: Cart, total — return 1 → return 2"


def test_a_failure_hidden_by_a_pipe_is_still_told_as_one() -> None:
    line = render(event("Bash", {"command": "pytest -q | tail -1"}, {"stdout": "1 failed, 2 passed in 0.1s"}))
    assert line.text == "`pytest -q` reported failures: 1 failed, 2 passed"


def test_what_a_person_said_when_rejecting_an_edit_is_kept() -> None:
    error = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse sqlite"
    )
    line = render(failure("Write", {"file_path": "/w/db.py", "content": "x"}, error))
    assert line.text.endswith("They said: use sqlite")


def test_a_command_line_loses_its_plumbing_and_not_its_meaning() -> None:
    given_input = {"command": "cd /w && FOO=1 make -j2 check 2>&1 | tail -20 || true"}
    assert render(event("Bash", given_input, {"stdout": ""})).text == "`FOO=1 make -j2 check`: no output"


def test_a_commit_message_in_a_here_document_is_its_subject() -> None:
    command = "git add . && git commit -q -m \"$(cat <<'EOF'\nTeach the parser commas\n\nBody.\nEOF\n)\""
    assert render(event("Bash", {"command": command}, {"stdout": ""})).text == "Committed: Teach the parser commas"


def test_terminal_colours_and_control_characters_are_not_part_of_a_summary() -> None:
    line = render(event("Bash", {"command": "ls"}, {"stdout": "\x1b[31mred\x1b[0m\x00\x07 end"}))
    assert line.text == "`ls`: red end"


def test_lsp_answers_name_the_place_asked_about() -> None:
    given_input = {"operation": "findReferences", "filePath": "/w/a.go", "line": 64}
    line = render(event("LSP", given_input, {"result": "Found 2 references:\nb.go:\n  Line 6:1"}, cwd="/w"))
    assert line.text.startswith("LSP findReferences on a.go:64: Found 2 references")


def test_long_code_with_dunder_names_is_quoted_as_it_is() -> None:
    words = "Moved the check to `src/__tests__/login.test.ts` because __init__ ran twice."
    item = Item(event_id=1, tool="Stop", payload={"last_assistant_message": words})
    assert render(item).text == words
    assert unsupported_claims(render(item).text, Source.of(item)) == []


async def test_the_backend_gives_one_summary_per_item_in_order_and_costs_no_tokens() -> None:
    batch = [event("Read", {"file_path": f"{name}.py"}, "x = 1") for name in "abc"]
    verdicts = await Extractive().summarise(batch, Purse())
    assert [type(verdict) for verdict in verdicts] == [Summary] * 3
    texts = [verdict.text for verdict in verdicts if isinstance(verdict, Summary)]
    assert [text.split()[1] for text in texts] == ["a.py", "b.py", "c.py"]
    assert all(v.tokens_in == v.tokens_out == 0 for v in verdicts if isinstance(v, Summary))


def test_the_prompt_hash_changes_with_what_decides_the_text_and_with_nothing_else() -> None:
    backend, item = Extractive(), event("Read", {}, "x", cwd="/w", input_hash="h")
    same = msgspec.structs.replace(item, event_id=7, ts=9, request="why?")
    assert backend.prompt_hash(same) == backend.prompt_hash(item)
    for other in ({"tool": "Write"}, {"outcome": "failed"}, {"cwd": "/x"}):
        assert backend.prompt_hash(msgspec.structs.replace(item, **other)) != backend.prompt_hash(item)
    stop = Item(event_id=1, tool="Stop", payload={}, request="a")
    assert backend.prompt_hash(stop) != backend.prompt_hash(msgspec.structs.replace(stop, request="b"))
