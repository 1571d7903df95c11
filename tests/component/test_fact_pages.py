"""The page of the facts that hold, a person's word on one, and why one is held."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened

from siftd.errors import RequestInvalid
from siftd.facts.model import Candidate

EAST = "Okapis sleep in the east barn."
WEST = "Okapis sleep in the west barn."


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as workspace:
        yield workspace


async def keep(memory: Memory, text: str, **fields: Any) -> str:
    return str((await memory.ask("remember", text=text, **{"typed": True, **fields}))["id"])


async def take(memory: Memory, text: str, prompt: str, **fields: Any) -> int:
    """Let a fact be taken from a prompt; return it."""
    source = await memory.capture(tool="UserPromptSubmit", payload={"prompt": prompt}, eventKind="prompt")
    given: dict[str, Any] = {
        "category": "convention", "confidence": 0.8, "importance": 3, "quote": prompt, "said_by": "person",
        "valid_from": NOW - DAY, "sources": (source,),
    }  # fmt: skip
    (fact,) = (await memory.services.fact_proposals.propose([Candidate(text=text, **given | fields)])).added
    return fact


async def page(memory: Memory, **asked: Any) -> list[str]:
    return [each["text"] for each in (await memory.ask("facts", **asked))["facts"]]


async def test_it_has_every_fact_by_category_and_then_the_newest_first_a_page_at_a_time(memory: Memory) -> None:
    for number in range(7):
        await keep(memory, f"Okapi no. {number} has a name.", type="domain" if number % 2 else "decision")
        memory.clock.at += 1000
    whole = await page(memory)
    names = [f"Okapi no. {number} has a name." for number in (6, 4, 2, 0, 5, 3, 1)]
    assert whole == names
    found, cursor = [], None
    while True:
        answer = await memory.ask("facts", limit=2, cursor=cursor)
        found += [each["text"] for each in answer["facts"]]
        if (cursor := answer["nextCursor"]) is None:
            break
    assert found == names
    assert await page(memory, category="domain") == names[4:]


async def test_it_holds_more_than_a_search_would_ever_give(memory: Memory) -> None:
    for number in range(30):
        await keep(memory, f"Okapi {number} lives in pen {number * 7}.")
    assert len(await page(memory)) == 30


async def test_as_of_a_moment_it_has_what_held_then(memory: Memory) -> None:
    old = await keep(memory, WEST)
    memory.clock.at += DAY
    await memory.ask("correct", id=old, text=EAST, typed=True)
    assert await page(memory) == [EAST]
    assert await page(memory, asOf=NOW) == [WEST]
    assert await page(memory, asOf=NOW + DAY - 1) == [WEST]
    assert await page(memory, asOf=NOW + DAY) == [EAST]
    assert await page(memory, asOf=NOW - 1) == []


async def test_a_month_or_a_year_takes_no_fact_away(memory: Memory) -> None:
    await keep(memory, EAST)
    for days in (31, 365):
        memory.clock.at = NOW + days * DAY
        await memory.ask("drain")
        assert await page(memory) == [EAST]
        assert [hit["text"] for hit in (await memory.ask("search", query="okapis barn"))["hits"]] == [EAST]


async def test_what_one_session_said_is_on_the_page_once_it_is_asked_for(memory: Memory) -> None:
    await take(memory, EAST, EAST)
    answer = await memory.ask("facts")
    assert (answer["facts"], answer["ofSessions"]) == ([], 1)
    assert await page(memory, sessions=True) == [EAST]


async def test_a_correction_takes_the_place_and_says_who_said_so(memory: Memory) -> None:
    old = await keep(memory, WEST, type="decision", tags=["barn"], importance=5)
    new = (await memory.ask("correct", id=old, text=EAST, typed=True))["id"]
    told = await memory.ask("fact_story", id=old)
    assert (told["fact"]["status"], f"m{told['fact']['supersededBy']}") == ("superseded", new)
    assert [(each["what"], each["who"]) for each in told["fact"]["history"]] == [("correct", "person")]
    fact = (await memory.ask("fact_story", id=new))["fact"]
    assert (fact["type"], fact["tags"], fact["importance"]) == ("decision", ["barn"], 5)


async def test_a_correction_that_says_the_same_or_of_what_is_replaced_is_refused(memory: Memory) -> None:
    old = await keep(memory, WEST)
    with pytest.raises(RequestInvalid, match="says this"):
        await memory.ask("correct", id=old, text=WEST, typed=True)
    await memory.ask("correct", id=old, text=EAST, typed=True)
    with pytest.raises(RequestInvalid, match="superseded already"):
        await memory.ask("correct", id=old, text="Okapis sleep outside.", typed=True)
    with pytest.raises(RequestInvalid, match="there is no fact"):
        await memory.ask("correct", id="m99", text=EAST, typed=True)


async def test_a_correction_to_what_is_known_already_leaves_one_of_them(memory: Memory) -> None:
    old, known = await keep(memory, WEST), await keep(memory, EAST)
    assert (await memory.ask("correct", id=old, text=EAST, typed=True))["id"] == known
    assert await page(memory) == [EAST]


async def test_an_agents_correction_of_a_standing_instruction_waits_and_replaces_nothing_in_the_brief(
    memory: Memory,
) -> None:
    old = await keep(memory, WEST, pin=True)
    answer = await memory.ask("correct", id=old, text=EAST)
    assert answer["waits"]
    brief = (await memory.ask("brief"))["text"]
    assert WEST in brief
    assert EAST not in brief


async def test_what_is_outdated_is_found_no_more_and_what_is_confirmed_is_found_again(memory: Memory) -> None:
    fact = await keep(memory, EAST)
    assert (await memory.ask("verify", id=fact, verdict="outdated", typed=True))["status"] == "superseded"
    assert await page(memory) == []
    assert (await memory.ask("search", query="okapis barn"))["hits"] == []
    assert (await memory.ask("verify", id=fact, verdict="confirmed", typed=True))["status"] == "active"
    assert await page(memory) == [EAST]
    told = await memory.ask("fact_story", id=fact)
    assert [each["what"] for each in told["fact"]["history"]] == ["outdate", "confirm"]
    assert told["uses"]["confirmed"] == 1


async def test_an_agent_neither_ends_what_a_person_said_nor_brings_back_what_was_replaced(memory: Memory) -> None:
    fact = await keep(memory, EAST)
    with pytest.raises(RequestInvalid, match="a person has to say so"):
        await memory.ask("verify", id=fact, verdict="outdated")
    await memory.ask("verify", id=fact, verdict="outdated", typed=True)
    with pytest.raises(RequestInvalid, match="a person has to say so"):
        await memory.ask("verify", id=fact, verdict="confirmed")


async def test_why_tells_the_words_the_session_and_what_came_of_it(memory: Memory) -> None:
    fact = await take(memory, EAST, "from now on okapis sleep in the east barn")
    told = await memory.ask("fact_story", id=f"m{fact}")
    assert told["fact"]["quote"] == "from now on okapis sleep in the east barn"
    assert [(each["sessionId"], each["text"]) for each in told["sources"]] == [
        ("first", "from now on okapis sleep in the east barn")
    ]
    assert told["uses"] == {"given": 0, "used": 0, "confirmed": 0, "lastTs": None}


async def test_a_cited_file_that_is_gone_is_said_and_one_that_never_was_is_not(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "barn.py").write_text("")
    async with opened(tmp_path) as memory:
        await memory.capture(
            tool="Read", action="read", payload={"tool_input": {"file_path": str(tmp_path / "src" / "barn.py")}}
        )
        await memory.ask("drain")
        await keep(memory, "Pens are made in `src/barn.py`, not in `src/never.py`.")
        assert [each["gone"] for each in (await memory.ask("facts"))["facts"]] == [[]]
        (tmp_path / "src" / "barn.py").unlink()
        assert [each["gone"] for each in (await memory.ask("facts"))["facts"]] == [["src/barn.py"]]
        (tmp_path / "src" / "barn.py").write_text("")
        assert [each["gone"] for each in (await memory.ask("facts"))["facts"]] == [[]]  # nothing was kept of it


async def test_a_fact_stands_before_the_summary_that_says_the_same(memory: Memory) -> None:
    said = "From now on okapis sleep in the east barn, and zebras in the yard."
    fact = await take(memory, "Okapis sleep in the east barn, and zebras in the yard.", said)
    await memory.capture(3)
    await memory.ask("drain")
    hits = (await memory.ask("search", query="From now on okapis sleep in the east barn", k=10))["hits"]
    kinds = [hit["kind"] for hit in hits]
    assert hits[0]["id"] == f"m{fact}"
    assert "summary" in kinds or "event" in kinds  # what it was taken from is found as well
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
