"""Facts are taken from a turn's words once it is over: each once, what comes late too, and nothing from tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.consolidate.consolidator import FAILURES_REPORTED
from siftd.consolidate.drain import SESSION_IDLE_MS
from siftd.consolidate.fact_passes import LOOKED_AT, FactExtraction, Judged
from siftd.consolidate.passes import Round
from siftd.facts.model import Candidate, Known
from siftd.store import meta

RULE = "Never push to main without a review."
OTHER = "We use pnpm for the web package, not npm."


class Kept:
    """Takes candidates in as whoever keeps facts does, and fails when told to."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.fails = False

    async def propose(self, candidates: Sequence[Candidate], judged: Judged | None = None) -> None:
        if self.fails:
            raise OSError("the disk is full")
        self.candidates.extend(candidates)

    async def neighbours(self, candidate: Candidate) -> list[Known]:
        return []

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.candidates]


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


@pytest.fixture
def kept() -> Kept:
    return Kept()


async def said(memory: Memory, kind: str, text: str, *, ts: int, session: str = "s", by: str | None = None) -> int:
    """Keep something that was said; return its id."""
    fields = {
        "prompt": "prompt",
        "turn_end": "last_assistant_message",
        "assistant_text": "text",
        "tool": "tool_response",
    }
    tools = {"prompt": "UserPromptSubmit", "turn_end": "Stop", "assistant_text": "Text", "tool": "WebFetch"}
    event_id = await memory.capture(
        ts, sessionId=session, ts=NOW - DAY + ts, tool=tools[kind], payload={fields[kind]: text, "n": ts}
    )
    speaker = by or {"prompt": "person", "tool": "outside"}.get(kind, "agent")
    await memory.by_hand("UPDATE events SET kind = ?, said_by = ? WHERE id = ?", kind, speaker, event_id)
    await memory.by_hand("UPDATE sessions SET last_ts = ?", NOW)  # they are at work
    return event_id


def extraction(memory: Memory, kept: Kept) -> FactExtraction:
    return FactExtraction(memory.services.store, kept, memory.clock)


async def look(memory: Memory, kept: Kept) -> None:
    await extraction(memory, kept).run(Round(memory.services.backends.drainer))


async def test_a_turn_gives_its_facts_once_it_is_over(memory: Memory, kept: Kept) -> None:
    asked = await said(memory, "prompt", RULE, ts=1)
    await look(memory, kept)
    assert kept.candidates == []
    await said(memory, "turn_end", "Done.", ts=2)
    await look(memory, kept)
    (candidate,) = kept.candidates
    assert candidate.text == RULE
    assert candidate.sources == (asked,)


async def test_a_turn_without_an_end_is_over_when_the_next_prompt_comes_or_nothing_more_does(
    memory: Memory, kept: Kept
) -> None:
    await said(memory, "prompt", RULE, ts=1)
    await said(memory, "prompt", OTHER, ts=2)
    await look(memory, kept)
    assert kept.texts == [RULE]
    memory.clock.at += SESSION_IDLE_MS + 1
    await look(memory, kept)
    assert kept.texts == [RULE, OTHER]


async def test_what_was_looked_at_is_looked_at_once_also_by_the_next_daemon(memory: Memory, kept: Kept) -> None:
    await said(memory, "prompt", RULE, ts=1)
    await said(memory, "turn_end", "Done.", ts=2)
    for _ in range(3):
        await look(memory, kept)
    assert kept.texts == [RULE]


async def test_a_turn_that_waits_holds_up_no_other_and_is_not_passed_over(memory: Memory, kept: Kept) -> None:
    await said(memory, "prompt", OTHER, ts=1, session="slow")
    await said(memory, "prompt", RULE, ts=2, session="quick")
    await said(memory, "turn_end", "Done.", ts=3, session="quick")
    looking = extraction(memory, kept)
    for _ in range(2):
        await looking.run(Round(memory.services.backends.drainer))
    assert kept.texts == [RULE]
    await said(memory, "turn_end", "Done.", ts=4, session="slow")
    await looking.run(Round(memory.services.backends.drainer))
    assert kept.texts == [RULE, OTHER]


async def test_words_of_a_turn_that_are_read_after_its_end_count(memory: Memory, kept: Kept) -> None:
    await said(memory, "prompt", "go on", ts=1)
    await said(memory, "turn_end", "Done.", ts=5)
    await look(memory, kept)
    await said(memory, "assistant_text", "We use a lock file rather than sqlite because hooks are short.", ts=3)
    await look(memory, kept)
    assert [each.said_by for each in kept.candidates] == ["agent"]


async def test_what_could_not_be_kept_is_looked_at_again(memory: Memory, kept: Kept) -> None:
    await said(memory, "prompt", RULE, ts=1)
    await said(memory, "turn_end", "Done.", ts=2)
    kept.fails = True
    with pytest.raises(OSError, match="disk"):
        await look(memory, kept)
    assert await memory.services.store.read(lambda c: meta.number(c, LOOKED_AT)) == 0
    kept.fails = False
    await look(memory, kept)
    assert kept.texts == [RULE]


async def test_what_tools_pages_and_unknown_speakers_say_gives_nothing(memory: Memory, kept: Kept) -> None:
    await said(memory, "tool", "The user prefers tabs. " + RULE, ts=1)
    await said(memory, "prompt", RULE, ts=2, by="outside")
    await said(memory, "turn_end", RULE, ts=3, by="output")
    await look(memory, kept)
    assert kept.candidates == []


async def test_the_reason_with_which_a_call_was_refused_is_a_persons_word(memory: Memory, kept: Kept) -> None:
    error = f"The user doesn't want to proceed. To tell you how to proceed, the user said:\n{RULE}"
    refused = await memory.capture(1, sessionId="s", ts=NOW - DAY, tool="Edit", payload={"error": error})
    await memory.by_hand("UPDATE events SET outcome = 'interrupted', said_by = 'output' WHERE id = ?", refused)
    await said(memory, "turn_end", "Understood.", ts=2)
    await look(memory, kept)
    assert [(each.text, each.said_by, each.sources) for each in kept.candidates] == [(RULE, "person", (refused,))]


async def test_a_payload_that_a_person_changed_by_hand_gives_nothing(memory: Memory, kept: Kept) -> None:
    event_id = await said(memory, "prompt", RULE, ts=1)
    await memory.by_hand("UPDATE events SET payload_json = '[1]' WHERE id = ?", event_id)
    await said(memory, "turn_end", "Done.", ts=2)
    await look(memory, kept)
    assert kept.candidates == []


async def facts(memory: Memory) -> list[tuple[str, str, str]]:
    return await memory.rows("SELECT text, status, said_by FROM facts ORDER BY id")


async def test_a_drain_keeps_the_facts_of_turns_once_with_what_replaced_what(memory: Memory) -> None:
    await said(memory, "prompt", "We use Jest for unit tests.", ts=1)
    await said(memory, "turn_end", "Done.", ts=2)
    await said(memory, "prompt", "We switched from Jest to Vitest for unit tests. " + RULE, ts=3, session="later")
    await said(memory, "turn_end", "Done.", ts=4, session="later")
    for _ in range(2):
        await memory.ask("drain")
        assert await facts(memory) == [
            ("We use Jest for unit tests.", "superseded", "person"),
            ("We switched from Jest to Vitest for unit tests.", "active", "person"),
            (RULE, "active", "person"),
        ]


async def test_a_rebuild_brings_the_same_facts_and_a_forgotten_one_stays_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await said(memory, "prompt", f"{RULE} {OTHER}", ts=1)
        await said(memory, "turn_end", "Done.", ts=2)
        await memory.ask("drain")
        (gone,) = await memory.rows("SELECT id FROM facts WHERE text = ?", OTHER)
        await memory.ask("forget", ids=[f"m{gone[0]}"], dryRun=False)
        assert [text for text, _, _ in await facts(memory)] == [RULE]
        kept_ids = await memory.rows("SELECT id FROM facts")
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await memory.ask("drain")
        assert [text for text, _, _ in await facts(memory)] == [RULE]
        assert await memory.rows("SELECT id FROM facts") == kept_ids


async def test_what_words_replaced_or_ended_is_never_found_again(tmp_path: Path) -> None:
    """New: added; the same: merged; another value: replaced; the opposite: ended. Then each way rows go or come."""
    file = str(tmp_path / "all.jsonl")
    holds = [RULE, "Our database is Postgres.", "Never squash before merging."]
    ended = ["Our database is MariaDB.", "Always squash before merging."]
    words = (RULE, RULE.lower(), ended[0], holds[1], ended[1], holds[2])

    async def expect_only(memory: Memory, *live: str) -> None:
        await memory.ask("drain")
        texts = {text for text, status, _ in await facts(memory) if status == "active"}
        assert texts == set(live)
        for query in ("which database", "MariaDB", "squash before merging", "push to main"):
            hits = (await memory.ask("search", query=query, filters={"kind": "memory"}, k=20))["hits"]
            assert {hit["text"] for hit in hits} <= set(live), query
        assert {fact["text"] for fact in (await memory.ask("facts", sessions=True))["facts"]} == set(live)

    async with opened(tmp_path / "a") as memory:
        for number, text in enumerate(words):
            await said(memory, "prompt", text, ts=10 * number + 1, session=f"s{number}")
            await said(memory, "turn_end", "Done.", ts=10 * number + 2, session=f"s{number}")
        await expect_only(memory, *holds)
        statuses = {text: status for text, status, _ in await facts(memory)}
        assert [statuses[text] for text in ended] == ["superseded", "contradicted"]
        merged = "SELECT count(*) FROM fact_sources s JOIN facts f ON f.id = s.fact_id WHERE f.text = ?"
        assert await memory.rows(merged, RULE) == [(2,)]
        await memory.ask("export", path=file)
    await rebuilt(tmp_path / "a")
    async with opened(tmp_path / "a") as memory:
        await expect_only(memory, *holds)
        await memory.ask("scrub")
        await expect_only(memory, *holds)
        (newer,) = await memory.rows("SELECT id FROM facts WHERE text = ?", holds[1])
        await memory.ask("forget", ids=[f"m{newer[0]}"], dryRun=False)
        await expect_only(memory, RULE, holds[2])
        await memory.ask("import", path=file, own=True)
        await expect_only(memory, RULE, holds[2])
    async with opened(tmp_path / "b") as memory:
        await memory.ask("import", path=file, own=True)
        await expect_only(memory, *holds)


async def test_facts_are_not_taken_where_that_is_switched_off(tmp_path: Path) -> None:
    async with opened(tmp_path, facts_extract=False) as memory:
        await said(memory, "prompt", RULE, ts=1)
        await said(memory, "turn_end", "Done.", ts=2)
        await memory.ask("drain")
        assert await facts(memory) == []


async def test_what_fails_tick_after_tick_is_told_to_a_person_until_it_succeeds(memory: Memory, kept: Kept) -> None:
    await said(memory, "prompt", RULE, ts=1)
    await said(memory, "turn_end", "Noted.", ts=2)
    kept.fails = True
    consolidator = memory.services.consolidator
    consolidator.passes["facts"] = extraction(memory, kept)
    for failures in range(1, FAILURES_REPORTED + 1):
        assert (await memory.ask("info"))["problems"] == [], failures
        await consolidator.tick()
    assert (await memory.ask("info"))["problems"] == ["the work `facts` has failed 3 times in a row (OSError)"]
    kept.fails = False
    await consolidator.tick()
    assert (await memory.ask("info"))["problems"] == []
    assert kept.texts == [RULE]
