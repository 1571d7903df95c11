"""What a person muted is given to no agent unasked; it is found as before, and may be given again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import NOW, Memory, opened, rebuilt

from siftd.errors import NothingFound, RequestInvalid

SAID = "We frobnicate the flux, because it is stale."
GIVEN = """
INSERT INTO injections (ts, session_id, hook, piece, event_id, after_id, why) VALUES (?, 's', 'p', 'e1', 1, 1, '{}')
"""
PROMPT = "why do we frobnicate the flux?"


async def fill(memory: Memory) -> str:
    """Have a session that said something; return the id of its summary."""
    await memory.capture(1, tool="AssistantText", sessionId="earlier", payload={"text": SAID})
    await memory.ask("drain")
    await memory.by_hand("UPDATE summaries SET said_by = 'agent'")
    return (await recalled(memory))[0]


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


async def recalled(memory: Memory) -> list[str]:
    return [item["id"] for item in (await memory.ask("recall", prompt=PROMPT))["items"]]


async def briefed(memory: Memory) -> str:
    answer: dict[str, Any] = await memory.ask("brief", sessionId="now")
    return str(answer["text"])


async def test_a_prompt_does_not_bring_it_and_a_search_does(memory: Memory) -> None:
    summary = await fill(memory)
    assert (await memory.ask("mute", id=summary)) == {"event": "e1", "mutedSince": NOW}
    assert await recalled(memory) == []
    assert [hit["eventId"] for hit in (await memory.ask("search", query=PROMPT))["hits"]] == [1]


async def test_a_summary_that_is_made_again_stays_muted(memory: Memory) -> None:
    await memory.ask("mute", id=await fill(memory))
    await memory.ask("resummarise", since=0)
    await memory.ask("drain")
    await memory.by_hand("UPDATE summaries SET said_by = 'agent'")
    assert await recalled(memory) == []


async def test_no_brief_tells_of_a_session_whose_story_is_muted(memory: Memory) -> None:
    for number, (tool, payload) in enumerate(
        [
            ("UserPromptSubmit", {"prompt": "Frobnicate the flux"}),
            ("Edit", {"tool_input": {"file_path": "/src/flux.py"}, "tool_response": {}}),
            ("Stop", {"last_assistant_message": "The flux is frobnicated."}),
        ]
    ):
        await memory.capture(number, tool=tool, sessionId="earlier", payload=payload)
    await memory.capture(9, sessionChange="end", sessionId="earlier")
    await memory.ask("drain")
    told = await briefed(memory)
    assert "flux.py" in told
    piece = told.split("- #")[1].split()[0]
    await memory.ask("mute", id=piece)
    assert "flux.py" not in await briefed(memory)
    await memory.ask("mute", id=piece, muted=False)
    assert await briefed(memory) == told


async def test_it_may_be_given_again(memory: Memory) -> None:
    summary = await fill(memory)
    await memory.ask("mute", id=summary)
    assert (await memory.ask("mute", id="e1", muted=False))["mutedSince"] is None
    assert await recalled(memory) == [summary]


async def test_whoever_looks_at_it_is_told(memory: Memory) -> None:
    summary = await fill(memory)
    await memory.ask("mute", id=summary)
    for cited in (summary, "e1"):
        assert (await memory.ask("show", id=cited))["item"]["mutedSince"] == NOW


async def test_it_holds_through_a_rebuild_and_ends_with_its_event(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.ask("mute", id=await fill(memory))
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT event_id FROM muted_events") == [(1,)]
        await memory.by_hand("DELETE FROM events WHERE id = 1")
        assert await memory.rows("SELECT event_id FROM muted_events") == []


async def test_what_was_given_in_vain_is_no_offender_once_it_is_muted(memory: Memory) -> None:
    await fill(memory)
    for number in range(3):
        await memory.by_hand(GIVEN, NOW - number)
    assert [each["piece"] for each in (await memory.ask("stats"))["offenders"]] == ["e1"]
    await memory.ask("mute", id="e1")
    assert (await memory.ask("stats"))["offenders"] == []


async def test_a_fact_is_outdated_not_muted_and_what_is_not_there_is_said_so(memory: Memory) -> None:
    kept = (await memory.ask("remember", text="The queue runs on Postgres"))["id"]
    with pytest.raises(RequestInvalid, match="what happened"):
        await memory.ask("mute", id=kept)
    for gone in ("e99", "s99"):
        with pytest.raises(NothingFound):
            await memory.ask("mute", id=gone)
