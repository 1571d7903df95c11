"""What was replaced is never found again, what was forgotten is in no fact: after each way in which rows go or come."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.facts.model import Candidate

EAST = "Okapis sleep in the east barn."
WEST = "Okapis sleep in the west barn."
HAY = "Okapis eat hay at seven."


def said(text: str, *sources: int, **fields: Any) -> Candidate:
    given: dict[str, Any] = {
        "category": "convention",
        "confidence": 0.8,
        "importance": 3,
        "quote": text,
        "said_by": "person",
        "valid_from": NOW - 2 * DAY,
    }
    return Candidate(text=text, sources=sources, **given | fields)


async def tell(memory: Memory, prompt: str, ts: int = NOW - 2 * DAY) -> int:
    return await memory.capture(tool="UserPromptSubmit", payload={"prompt": prompt}, ts=ts, eventKind="prompt")


async def replace(memory: Memory) -> tuple[int, int]:
    """Keep a fact in the place of another one; return both."""
    old = await memory.ask("remember", text=WEST, typed=True)
    new = await memory.ask("supersede", id=old["id"], text=EAST, typed=True)
    return old["memoryId"], new["memoryId"]


async def found(memory: Memory, query: str = "okapis barn") -> list[str]:
    answer = await memory.ask("search", query=query, filters={"kind": "memory"}, k=10)
    return [hit["text"] for hit in answer["hits"]]


def logged(memory: Memory) -> bytes:
    """Return every segment of the log."""
    segments = sorted(Path(memory.services.paths.folder).glob("wal*"))
    return b"".join(
        gzip.decompress(each.read_bytes()) if each.suffix == ".gz" else each.read_bytes() for each in segments
    )


async def listed(memory: Memory) -> list[str]:
    return [each["text"] for each in (await memory.ask("memories"))["memories"]]


async def test_what_replaced_it_may_be_forgotten_and_it_still_does_not_hold(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        _, new = await replace(memory)
        assert await found(memory) == [EAST]
        await memory.ask("forget", ids=[f"m{new}"], dryRun=False)
        assert (await found(memory), await listed(memory)) == ([], [])
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert (await found(memory), await listed(memory)) == ([], [])
        assert await memory.rows("SELECT text, status FROM facts") == [(WEST, "superseded")]
        assert EAST.encode() not in logged(memory)


async def test_one_that_only_waits_to_replace_it_may_be_refused(tmp_path: Path) -> None:
    """A person who forgets what an agent had pinned in a rule's place has the rule as it was."""
    async with opened(tmp_path) as memory:
        old = await memory.ask("remember", text=WEST, pin=True, typed=True)
        new = await memory.ask("supersede", id=old["id"], text=EAST)
        assert new["waits"]
        await memory.ask("forget", ids=[new["id"]], dryRun=False)
        assert await listed(memory) == [WEST]


async def test_it_stays_replaced_through_a_rebuild_and_a_scrub(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await replace(memory)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await found(memory) == [EAST]
        await memory.ask("scrub", dryRun=False)
        assert (await found(memory), await listed(memory)) == ([EAST], [EAST])


async def test_it_stays_replaced_where_it_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with opened(tmp_path / "one") as memory:
        source = await tell(memory, HAY)
        await memory.services.fact_proposals.propose([said(HAY, source)])
        _, new = await replace(memory)
        await memory.ask("forget", ids=[f"m{new}"], dryRun=False)  # only its status says it any more
        await memory.ask("export", path=str(file))
    async with opened(tmp_path / "two") as memory:
        for _ in range(2):
            await memory.ask("import", path=str(file), own=True)
            assert await listed(memory) == [HAY]
            assert await memory.rows("SELECT text, status FROM facts WHERE status <> 'active'") == [
                (WEST, "superseded")
            ]
            (row,) = await memory.rows("SELECT id, quote, origin, scope FROM facts WHERE text = ?", HAY)
            assert row[1:] == (HAY, "extracted", "session")
            assert await memory.rows("SELECT count(*) FROM fact_sources WHERE fact_id = ?", row[0]) == [(1,)]
    await rebuilt(tmp_path / "two")
    async with opened(tmp_path / "two") as memory:
        assert await listed(memory) == [HAY]


async def test_an_export_of_before_brings_back_nothing_that_was_replaced_since(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    async with opened(tmp_path) as memory:
        old = await memory.ask("remember", text=WEST, typed=True)
        await memory.ask("export", path=str(file))
        await memory.ask("supersede", id=old["id"], text=EAST, typed=True)
        await memory.ask("import", path=str(file), own=True)
        assert await listed(memory) == [EAST]


async def test_it_stays_replaced_when_what_replaced_it_is_pruned_by_age(tmp_path: Path) -> None:
    async with opened(tmp_path, store_keepDays=1) as memory:
        late = await memory.capture(5, ts=NOW)
        early = await tell(memory, EAST)
        (old,) = (await memory.services.fact_proposals.propose([said(WEST, late, valid_from=NOW - 3 * DAY)])).added
        (new,) = (await memory.services.fact_proposals.propose([said(EAST, early)])).added
        by_hand = {"fact": old, "what": "supersede", "by": new, "who": "person"}
        await memory.services.intents.keep("verdict", by_hand)
        for number in range(9):
            await memory.capture(number, ts=NOW)
        assert await found(memory) == [EAST]
        await memory.ask("prune")
        assert (await found(memory), await listed(memory)) == ([], [])
        assert EAST.encode() not in logged(memory)
    await rebuilt(tmp_path)
    async with opened(tmp_path, store_keepDays=1) as memory:
        assert (await found(memory), await listed(memory)) == ([], [])


@pytest.mark.parametrize("is_rebuilt", [False, True])
async def test_a_fact_goes_with_the_last_event_that_says_it(tmp_path: Path, is_rebuilt: bool) -> None:
    async with opened(tmp_path) as memory:
        first, second = await tell(memory, HAY), await tell(memory, f"{HAY} Again.")
        await memory.services.fact_proposals.propose([said(HAY, first), said(HAY, second)])
        await memory.ask("forget", ids=[f"e{first}"], dryRun=False)
        assert await listed(memory) == [HAY]  # the other one says it still
        await memory.ask("forget", ids=[f"e{second}"], dryRun=False)
        assert await listed(memory) == []
        again = await memory.services.fact_proposals.propose([said(HAY, second)])
        assert (again.added, again.dropped) == ([], 1)
    if is_rebuilt:
        await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await listed(memory) == []
        assert HAY.encode() not in logged(memory)


async def test_a_fact_whose_words_go_goes_with_them_whatever_else_it_was_taken_from(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        first, second = await tell(memory, HAY), await tell(memory, "Yes, as I said.")
        await memory.services.fact_proposals.propose([said(HAY, first, second)])
        await memory.ask("forget", ids=[f"e{first}"], dryRun=False)
        assert await listed(memory) == []
        assert HAY.encode() not in logged(memory)


async def test_what_a_person_confirmed_stays_without_the_words_that_go(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        source = await tell(memory, "you know that okapis, they get hay at seven")
        quote = "okapis, they get hay at seven"
        (fact,) = (await memory.services.fact_proposals.propose([said(HAY, source, quote=quote)])).added
        await memory.services.intents.keep("verdict", {"fact": fact, "what": "confirm", "who": "person"})
        await memory.ask("forget", ids=[f"e{source}"], dryRun=False)
        assert await memory.rows("SELECT id, text, quote, status FROM facts") == [(fact, HAY, None, "active")]
        assert quote.encode() not in logged(memory)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id, text, quote, status FROM facts") == [(fact, HAY, None, "active")]


async def test_a_forgotten_fact_leaves_nothing_in_its_history(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        kept = await memory.ask("remember", text=WEST, typed=True)
        await memory.ask("update", id=kept["id"], text=EAST, typed=True)
        await memory.ask("forget", ids=[kept["id"]], dryRun=False)
        assert await memory.rows("SELECT count(*) FROM fact_history") == [(0,)]
        assert b"barn" not in logged(memory)


async def test_a_scrub_hides_in_what_a_fact_said_before_and_in_its_quote(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with opened(tmp_path) as memory:
        kept = await memory.ask("remember", text=WEST, typed=True)
        await memory.ask("update", id=kept["id"], text=EAST, typed=True)
        await memory.by_hand("UPDATE fact_history SET old_text = ?", f"with {secret}")
        await memory.by_hand("UPDATE facts SET quote = ?, topic = ?", f"said {secret}", f"files:{secret}")
        await memory.ask("scrub", dryRun=False)
        rows = await memory.rows("SELECT f.quote, f.topic, h.old_text FROM facts f JOIN fact_history h")
        assert rows
        assert not any(secret in str(value) for row in rows for value in row)
