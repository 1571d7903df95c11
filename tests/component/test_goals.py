"""A session of many prompts is told by its goals, each with what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from opened_memory import Memory, opened

from siftd.search.goals import LINES_MAX, TURNS_MIN, Goal, choose_goals

ANSWERS = {
    "Why does the queue lose messages at a failover?": "The broker drops its connections for half a minute.",
    "Raise the retries so that they outlast it": "RETRIES is 7 now, since the broker needs ninety seconds.",
    "yes": "Done, the branch is pushed.",
    "Add a test for the failover": "The test stops the broker and counts what arrives.",
    "What about the dead letters?": "They are written to a table and looked at by nobody.",
    "Write the release note": "The note is in docs. The alert for dead letters is not yet wired.",
}


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


async def session(memory: Memory, turns: dict[str, str], name: str = "long") -> dict[str, Any]:
    for number, (prompt, answer) in enumerate(turns.items()):
        for at, (tool, payload) in enumerate(
            (("UserPromptSubmit", {"prompt": prompt}), ("Stop", {"last_assistant_message": answer}))
        ):
            await memory.capture(10 * number + at, tool=tool, payload=payload, sessionId=name, source="claude-code")
    await memory.ask("drain")
    (listed,) = [each for each in (await memory.ask("sessions"))["sessions"] if each["sessionId"] == name]
    return listed


async def test_each_goal_stands_with_what_came_of_it_in_their_order(memory: Memory) -> None:
    goals = (await session(memory, ANSWERS))["goals"]
    assert 0 < len(goals) <= LINES_MAX
    asked = [goal["asked"] for goal in goals if goal["asked"]]
    assert asked == [prompt for prompt in ANSWERS if prompt in asked], "as they were asked"
    (raised,) = [goal for goal in goals if goal["asked"].startswith("Raise")]
    assert "RETRIES is 7 now" in raised["outcome"]
    assert (await memory.ask("show", id=raised["id"]))["item"]["kind"] == "event"


def test_what_tells_most_is_not_cut_for_standing_first() -> None:
    """A session began with the work that it committed, and talked on."""
    began = Goal(1, "Make the queue wait", "It waits now. — committed: Wait for the leader")
    talked = [Goal(number, "", f"Words {number}, {'x' * number}.") for number in range(2, 12)]
    chosen = choose_goals([began, *talked])
    assert (chosen[0], chosen[-1], len(chosen)) == (began, talked[-1], LINES_MAX)


async def test_a_word_of_agreement_is_no_goal(memory: Memory) -> None:
    goals = (await session(memory, ANSWERS))["goals"]
    assert "yes" not in [goal["asked"] for goal in goals]


async def test_what_is_left_open_is_told(memory: Memory) -> None:
    assert (await session(memory, ANSWERS))["open"] == "The alert for dead letters is not yet wired."


async def test_a_short_session_is_told_by_its_story_alone(memory: Memory) -> None:
    short = dict(list(ANSWERS.items())[: TURNS_MIN - 1])
    listed = await session(memory, short, "short")
    assert listed["goals"] == []
    assert listed["open"] == ""


async def test_one_session_whole_begins_with_its_goals(memory: Memory) -> None:
    await session(memory, ANSWERS)
    whole = await memory.ask("timeline", session="long", before=500, after=0)
    assert len(whole["events"]) == 2 * len(ANSWERS)
    assert whole["goals"] == (await memory.ask("sessions"))["sessions"][0]["goals"]
