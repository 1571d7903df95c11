"""What a person said that sounds like a standing rule is offered to them; what is none is not."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from opened_memory import Memory, opened
from test_telling import capture, message, prompt, start

from siftd.search.standing import PROMPT_CHARS_MAX, list_said
from siftd.store.connection import open_reader
from siftd.wire.frames import CONTEXT_MARK

FAR = 2**60

RULES = [
    "Never push to main without a review.",
    "please always run the linter before you commit",
    "From now on write commit messages in English.",
    "Don't add dependencies without asking me first.",
    "We removed the retry loop on purpose, leave it out.",
    "I prefer small functions over comments.",
    "Use pnpm instead of npm in this repository.",
    "The code should only use errors.As().",
    "The archived schema must never be changed.",
    "stop adding emojis to the log lines",
    "Keep in mind that users stash their changes.",
    "We no longer use the old client.",
    "Bitte nie direkt auf main pushen.",
    "以后提交之前先运行测试。",
]
NONE = [
    "Why does it never finish?",
    "It always fails on my machine with the same error.",
    "never mind, we look at it later",
    "The tests never pass on Windows here.",
    "Don't commit yet, I want to look.",
    "Run the tests and fix what fails.",
    "This should not take long I think.",
    "> never push to main without a review",
    "- [ ] always run the linter before you commit",
    "/mem remember never push to main without a review",
]


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


def connection_of(memory: Memory) -> sqlite3.Connection:
    return open_reader(memory.services.paths.database)


async def said(memory: Memory, *prompts: str) -> list[str]:
    """Return what is offered of prompts."""
    for number, text in enumerate(prompts):
        memory.clock.at += 1000
        await capture(memory, prompt(text, session=f"earlier-{number}"))
    connection = connection_of(memory)
    try:
        return [each.text for each in list_said(connection, FAR)]
    finally:
        connection.close()


@pytest.mark.parametrize("text", RULES)
async def test_what_is_said_as_a_rule_is_offered(memory: Memory, text: str) -> None:
    assert await said(memory, f"Look at the parser.\n{text}\nThanks!") == [text]


@pytest.mark.parametrize("text", NONE)
async def test_a_question_a_report_a_paste_and_a_command_are_no_rules(memory: Memory, text: str) -> None:
    assert await said(memory, text) == []


async def test_what_was_said_often_comes_first_and_is_told_once(memory: Memory) -> None:
    again = "Never push to main without a review."
    assert await said(memory, again, "Always run the linter first.", again.lower()) == [
        again.lower(), "Always run the linter first.",
    ]  # fmt: skip


async def test_a_long_paste_is_not_looked_through(memory: Memory) -> None:
    assert await said(memory, "Never push to main without a review. " * (PROMPT_CHARS_MAX // 30)) == []


async def test_a_payload_that_a_person_changed_by_hand_is_passed_over(memory: Memory) -> None:
    await said(memory, "Never push to main without a review.", "Always run the linter first.")
    await memory.services.store.write(
        lambda c: c.execute("UPDATE events SET payload_json = '[1]' WHERE id = (SELECT min(id) FROM events)")
    )
    assert await said(memory) == ["Always run the linter first."]


async def test_what_is_remembered_already_is_not_offered(memory: Memory) -> None:
    await memory.ask("remember", text="Never push to main without a review")
    assert await said(memory, "never push to main without a review!") == []


async def test_the_reason_of_a_refusal_counts_as_typed(memory: Memory) -> None:
    refused = {
        "session_id": "earlier", "hook_event_name": "PostToolUseFailure", "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": "/src/demo/a.py", "old_string": "a", "new_string": "b"}, "is_interrupt": True,
        "error": "The user doesn't want to proceed. To tell you how to proceed, the user said:\nNever edit that file.",
    }  # fmt: skip
    await capture(memory, refused)
    assert await said(memory) == ["Never edit that file."]


async def test_a_start_offers_each_rule_once_and_to_the_person_only(memory: Memory) -> None:
    async def noticed() -> str:
        frame = bytes([CONTEXT_MARK]) + message(memory, start(), ts=memory.clock.at)[1:]
        output = (await memory.services.injector.answer_hook(frame)).get("output", {})
        assert "hookSpecificOutput" not in output, "nothing is pinned by itself"
        return str(output.get("systemMessage", ""))

    assert await noticed() == ""
    await said(memory, "Never push to main without a review.")
    assert "one thing you said sounds like a standing rule" in await noticed()
    assert await noticed() == ""
    await said(memory, "Always run the linter first.", "Use pnpm instead of npm here.")
    assert "2 things you said" in await noticed()
