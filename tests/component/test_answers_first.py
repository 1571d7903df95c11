"""Answers stand above questions: what a search shows, and to whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import NOW, Memory, opened

from siftd.model import SessionChange
from siftd.search.answers_first import REASON
from siftd.search.engine import WORDS_OF_STORIES
from siftd.search.query import Question

QUESTION = "Why do we retry seven times in the queue?"
ANSWER = "We retry seven times, because the broker drops its connections for half a minute after a failover."


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


async def turn(memory: Memory, number: int, prompt: str, answer: str | None, session: str = "first") -> None:
    """Capture a prompt and the end of its turn."""
    await memory.capture(
        10 * number, tool="UserPromptSubmit", sessionId=session, payload={"prompt": prompt}, source="claude-code"
    )
    if answer is not None:
        told = {"last_assistant_message": answer}
        await memory.capture(10 * number + 1, tool="Stop", sessionId=session, payload=told, source="claude-code")


async def search(memory: Memory, query: str, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await memory.ask("search", query=query, **fields))["hits"]
    return found


async def change(memory: Memory, session: str, what: Any, ts: int) -> None:
    told = SessionChange(client="claude-code", session_id=session, change=what, ts=ts)
    await memory.services.committer.keep(memory.services.intake.admission.admit_change(told))


async def test_a_prompt_whose_turn_has_ended_is_shown_as_that_turn_and_once(memory: Memory) -> None:
    await turn(memory, 1, QUESTION, ANSWER)
    await turn(memory, 2, f"{QUESTION} I asked before.", None, "second")
    await memory.ask("drain")
    hits = await search(memory, "why do we retry seven times")
    (folded,) = [hit for hit in hits if hit["sessionId"] == "first"]
    assert (folded["tool"], folded["asked"]) == ("Stop", {"id": "e10", "text": QUESTION} | folded["asked"])
    assert folded["asked"]["text"] == QUESTION
    assert [hit["tool"] for hit in hits if hit["sessionId"] == "second"] == ["UserPromptSubmit"], "nobody has answered"
    asked = await search(memory, "retry seven times", filters={"kind": "prompt"})
    assert {hit["tool"] for hit in asked} == {"UserPromptSubmit"}, "who wants prompts is given them"


async def test_a_prompt_that_was_broken_off_for_the_next_is_answered_by_the_end_that_comes_then(memory: Memory) -> None:
    await turn(memory, 1, QUESTION, None)
    await turn(memory, 2, "And tell me where it is set.", ANSWER)
    await memory.ask("drain")
    hits = await search(memory, "why do we retry seven times")
    assert [hit["tool"] for hit in hits if hit["tool"] in ("Stop", "UserPromptSubmit")] == ["Stop"]


@pytest.mark.parametrize(
    ("query", "is_question"),
    [
        ("why do we retry seven times", True),
        ("where is the retry limit set?", True),
        ("when did we raise the retries", True),
        ("retries of the queue?", True),
        ("warum sieben Versuche", True),
        ("为什么重试七次", True),
        ("retry seven times", False),
        ("when rebasing, resolve conflicts first", False),
        ("do not retry more often", False),
        ("fix the retry limit", False),
    ],
)
def test_what_is_a_question_is_told_by_its_form(query: str, is_question: bool) -> None:
    assert Question.of(query).is_question is is_question


async def test_who_asks_a_question_is_told_what_came_of_it_before_what_was_read_for_it(memory: Memory) -> None:
    looked = {"tool_input": {"pattern": "retry seven times broker"}, "tool_response": {"content": "queue.py: retry"}}
    await memory.capture(1, sessionId="first", tool="Grep", payload=looked)
    await turn(memory, 1, "Look into the queue.", "We retry seven times since the broker needs ninety seconds.")
    await memory.ask("drain")
    assert (await search(memory, "why do we retry seven times"))[0]["tool"] == "Stop"


async def test_a_summary_that_repeats_the_question_counts_less_where_one_is_asked(memory: Memory) -> None:
    await turn(memory, 1, QUESTION, ANSWER)
    await memory.ask("drain")
    only_words = {"raw": 0.0, "vector": 0.0, "trigram": 0.0}
    for query, counts in (("retry seven times?", WORDS_OF_STORIES), ("retry seven times", 1.0)):
        why = (await search(memory, query, weights=only_words))[0]["why"]
        assert why["own"] == pytest.approx(counts * why["words"]["score"], abs=1e-3)


async def test_a_reason_lifts_what_was_said_where_one_is_asked_for(memory: Memory) -> None:
    said = (
        "The parser loses the last line of the file.",
        "The parser loses the last line because it stops at a byte that is none.",
    )
    for number, text in enumerate(said):
        await memory.capture(number, tool="AssistantText", sessionId=f"s{number}", payload={"text": text})
    await memory.ask("drain")
    of_why = {
        hit["text"]: hit["why"]["answer"] for hit in await search(memory, "why does the parser lose the last line")
    }
    of_which = {hit["text"]: hit["why"]["answer"] for hit in await search(memory, "which parser loses the last line")}
    assert of_why[said[1]] == pytest.approx(of_why[said[0]] + REASON)
    assert of_which[said[1]] == pytest.approx(of_which[said[0]])


async def test_how_a_turn_ended_stands_before_what_was_announced_with_the_same_words(memory: Memory) -> None:
    announced = {"text": "Now the limit of pending approval requests for each user is added to the service."}
    await memory.capture(1, tool="AssistantText", sessionId="first", payload=announced)
    ended = "All six findings are fixed. The limit is five pending approval requests for a user."
    await turn(memory, 2, "Fix what the review found.", ended, "second")
    await memory.ask("drain")
    for query, tool in (
        ("what is the limit of pending approval requests", "Stop"),
        ("limit of pending approval requests", "AssistantText"),
    ):
        assert (await search(memory, query))[0]["tool"] == tool, query


async def test_a_memory_stands_before_the_end_of_a_turn_that_says_the_same_to_a_question_too(memory: Memory) -> None:
    text = "HTTP timeouts are five seconds, because the balancer cuts at six."
    await turn(memory, 1, "What did you find?", text)
    kept = await memory.ask("remember", text=text, type="decision")
    await memory.ask("drain")
    assert (await search(memory, "why are the timeouts of the balancer five seconds"))[0]["id"] == kept["id"]


@pytest.mark.parametrize(
    ("query", "comes_of_it", "why"),
    [
        ("why does the merge stop", True, True),
        ("what caused the leak?", True, True),
        ("how did we fix the leak", True, False),
        ("how many tests are there?", False, False),
        ("when does the sprint end?", False, False),
        ("what did I say about the sprint?", False, False),
        ("leak in the parser", False, False),
    ],
)
def test_what_the_end_of_the_work_answers_is_told_by_the_question(query: str, comes_of_it: bool, why: bool) -> None:
    asked = Question.of(query)
    assert (asked.asks_what_came_of_it, asked.asks_why) == (comes_of_it, why)


async def test_the_passage_that_answers_is_told_where_the_summary_holds_less(memory: Memory) -> None:
    reasons = " ".join(f"I changed `module_{number}` because its log was wrong." for number in range(12))
    await turn(memory, 1, "Look at the worker.", f"{reasons} The broker listens on port 5672 there.")
    await memory.ask("drain")
    (hit, *_) = await search(memory, "on which port does the broker listen")
    assert hit["passage"] == "The broker listens on port 5672 there."


async def test_where_the_same_was_asked_yes_or_no_is_told_as_the_turns_end_began(memory: Memory) -> None:
    answer = "No. A repository of go-git has no Close method, so there is nothing to be closed. It wraps a folder."
    await turn(memory, 1, "Do we need to close the repository of go-git again?", answer)
    await turn(memory, 2, "Look at the parser.", "It is slow. The repository of go-git is closed by nobody.", "second")
    await memory.ask("drain")
    (open_, _) = await search(memory, "when do we close the repository of go-git again")
    assert open_["passage"] == answer.removeprefix("No. ")
    (same, other) = await search(memory, "does a go-git repository need to be closed")
    assert same["passage"] == answer
    assert other["passage"] == "The repository of go-git is closed by nobody."


async def test_announcements_find_their_session_and_are_no_answer(memory: Memory) -> None:
    for number, text in enumerate(("Let me look at the broker first.", "The broker listens on port 5672 there.")):
        await memory.capture(number, tool="AssistantText", sessionId=f"s{number}", payload={"text": text})
    await memory.ask("drain")
    assert [hit["sessionId"] for hit in await search(memory, "where is the broker")] == ["s1"]
    assert {hit["sessionId"] for hit in await search(memory, "where is the broker", group="session")} == {"s0", "s1"}
    assert len(await search(memory, "where is the broker", filters={"kind": "text"})) == 2


async def test_what_is_not_summarised_yet_is_told_at_once_and_not_as_json(memory: Memory) -> None:
    await memory.capture(1, payload={"tool_input": {"command": "make frobnicate"}, "tool_response": {"stdout": "ok"}})
    await memory.services.consolidator.embed()
    (event,) = (await memory.ask("timeline"))["events"]
    assert event["text"] == "`make frobnicate`: ok"


async def test_the_session_that_asks_is_left_out_while_it_knows_what_it_did(memory: Memory) -> None:
    await turn(memory, 1, QUESTION, ANSWER)
    await change(memory, "first", "start", NOW - 5)
    await memory.ask("drain")
    assert await search(memory, QUESTION, asking="first") == []
    assert (await memory.ask("timeline", asking="first"))["events"] == []
    assert len((await memory.ask("timeline", asking="first", session="first"))["events"]) == 2
    assert await search(memory, QUESTION, asking="first", filters={"session": "first"})
    assert await search(memory, QUESTION, asking="another")
    await change(memory, "first", "compact", NOW + 1_000_000)
    assert await search(memory, QUESTION, asking="first"), "what it did before is lost to its context"


async def test_a_session_that_is_over_asks_nothing_whatever_its_client_says(memory: Memory) -> None:
    await turn(memory, 1, QUESTION, ANSWER)
    await change(memory, "first", "end", NOW + 1_000_000)
    await memory.ask("drain")
    assert await search(memory, QUESTION, asking="first")


async def test_what_was_kept_on_purpose_stands_before_what_merely_happened(memory: Memory) -> None:
    text = "HTTP timeouts are five seconds, because the balancer cuts at six."
    await turn(memory, 1, "What did you find?", text)
    kept = await memory.ask("remember", text=text, type="decision")
    await memory.ask("drain")
    assert (await search(memory, "timeouts of the balancer"))[0]["id"] == kept["id"]


def test_only_a_question_for_what_was_said_lifts_prompts() -> None:
    for asks in (
        "what did I ask about the queue", "when I said no mocks", "my question on retries", "did we want it",
        "what is my budget",
    ):  # fmt: skip
        assert Question.of(asks).asks_what_was_said, asks
    for asks in (
        "why do we retry",
        "which service do we use on staging",
        "how is my cache cleared",
        "our limits",
        "how do I run it",
    ):
        assert not Question.of(asks).asks_what_was_said, asks
