"""Facts that were taken from words or deeds: what becomes of a candidate beside what is known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.daemon.fact_proposals import FactProposals, Judge
from siftd.facts.model import Candidate, Known, Verdict, VerdictKind

POSTGRES = "We use Postgres LISTEN/NOTIFY for event delivery, not Redis pubsub."
REDIS = "We use Redis pubsub for event delivery, not Postgres."


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as workspace:
        await workspace.capture(1)
        await workspace.capture(2)
        yield workspace


def said(text: str = POSTGRES, source: int = 1, **fields: Any) -> Candidate:
    given: dict[str, Any] = {
        "category": "decision",
        "confidence": 0.8,
        "importance": 3,
        "quote": text,
        "sources": (source,),
        "said_by": "person",
        "valid_from": NOW - 2 * DAY + source,
    }
    return Candidate(text=text, **given | fields)


def learnt(text: str, topic: str, source: int = 1, **fields: Any) -> Candidate:
    return said(text, source, quote="", said_by="output", category="workflow", topic=topic, **fields)


def saying(kind: VerdictKind) -> Judge:
    """Return a judge that says the same of every candidate, of the nearest fact."""

    def judge(_: Candidate, known: Sequence[Known]) -> Verdict:
        return Verdict(kind=kind, target=known[0].id, why="as the test says")

    return judge


def proposals(memory: Memory, judge: Judge | None = None) -> FactProposals:
    services = memory.services
    return FactProposals(
        writes=services.fact_writes,
        store=services.store,
        intents=services.intents,
        intake=services.intake,
        clock=memory.clock,
        **{} if judge is None else {"judge": judge},
    )


async def found(memory: Memory, query: str, **filters: Any) -> list[str]:
    answer = await memory.ask("search", query=query, filters={"kind": "memory", **filters}, k=10)
    return [hit["text"] for hit in answer["hits"]]


async def texts(memory: Memory, status: str = "active") -> list[str]:
    return [row[0] for row in await memory.rows("SELECT text FROM facts WHERE status = ? ORDER BY id", status)]


async def test_a_new_one_is_kept_with_its_words_its_time_and_where_it_is_from(memory: Memory) -> None:
    (fact_id,) = (await proposals(memory).propose([said()])).added
    fact = (await memory.ask("show", id=f"m{fact_id}"))["item"]
    assert (fact["text"], fact["quote"], fact["origin"], fact["scope"]) == (POSTGRES, POSTGRES, "extracted", "session")
    assert (fact["sources"], fact["sessionId"], fact["validFrom"]) == ([1], "first", NOW - 2 * DAY + 1)
    assert (fact["saidBy"], fact["type"], fact["status"]) == ("person", "decision", "active")
    assert await found(memory, "event delivery") == [POSTGRES]


async def test_the_same_candidates_again_change_nothing_not_even_the_log(memory: Memory) -> None:
    await proposals(memory).propose([said(), said(source=2)])
    before = memory.log_bytes()
    again = await proposals(memory).propose([said(), said(source=2)])
    assert (again.added, len(again.merged)) == ([], 2)
    assert memory.log_bytes() == before


async def test_the_same_said_again_is_one_fact_of_two_sources_and_more_sure(memory: Memory) -> None:
    (fact_id,) = (await proposals(memory).propose([said()])).added
    assert (await proposals(memory).propose([said(source=2)])).merged == [fact_id]
    fact = (await memory.ask("show", id=f"m{fact_id}"))["item"]
    assert fact["sources"] == [1, 2]
    assert fact["confidence"] > 0.8
    assert [each["what"] for each in fact["history"]] == ["merge"]


async def test_another_value_takes_the_place_of_the_old_one_from_then_on(memory: Memory) -> None:
    (old,) = (await proposals(memory).propose([said(REDIS)])).added
    taken = await proposals(memory, saying("update")).propose([said(POSTGRES, 2)])
    assert taken.superseded == [old]
    assert await found(memory, "event delivery") == [POSTGRES]
    gone = (await memory.ask("show", id=f"m{old}"))["item"]
    assert (gone["status"], gone["supersededBy"], gone["validTo"]) == ("superseded", taken.added[0], NOW - 2 * DAY + 2)
    assert await found(memory, "event delivery", asOf=NOW - 2 * DAY + 1) == [REDIS]


async def test_its_opposite_ends_a_fact_and_nothing_is_deleted(memory: Memory) -> None:
    (old,) = (await proposals(memory).propose([said(REDIS)])).added
    opposite = "We do not use Redis pubsub for delivery."
    taken = await proposals(memory, saying("delete")).propose([said(opposite, 2)])
    assert taken.contradicted == [old]
    assert await texts(memory, "contradicted") == [REDIS]
    assert await found(memory, "Redis pubsub") == [opposite]


async def test_what_was_said_earlier_and_is_read_later_replaces_nothing(memory: Memory) -> None:
    """Sessions are read in any order, when a client's own files are taken in."""
    await proposals(memory).propose([said(POSTGRES, 2)])
    await proposals(memory, saying("update")).propose([said(REDIS, 1)])
    assert await texts(memory) == [POSTGRES]
    assert await texts(memory, "superseded") == [REDIS]
    assert await found(memory, "event delivery") == [POSTGRES]


async def test_an_agents_word_replaces_no_persons_word(memory: Memory) -> None:
    await proposals(memory).propose([said(POSTGRES)])
    taken = await proposals(memory, saying("update")).propose([said(REDIS, 2, said_by="agent")])
    assert (len(taken.added), taken.superseded) == (1, [])
    assert await texts(memory) == [POSTGRES, REDIS]


async def test_a_fact_that_many_used_is_replaced_like_any_other(memory: Memory) -> None:
    (old,) = (await proposals(memory).propose([said(REDIS, confidence=0.99, importance=5)])).added
    await memory.by_hand("INSERT INTO fact_uses VALUES (?, 90, 80, 0, ?)", old, NOW)
    await proposals(memory, saying("update")).propose([said(POSTGRES, 2, confidence=0.7, importance=3)])
    assert await texts(memory) == [POSTGRES]


async def test_without_a_judge_two_ports_are_two_facts(memory: Memory) -> None:
    ports = ["The server listens on port 8080 in dev.", "The server listens on port 8081 in prod."]
    await proposals(memory).propose([said(text, number) for number, text in enumerate(ports, 1)])
    assert await texts(memory) == ports


async def test_a_wish_that_a_page_or_a_file_tells_is_nobodys(memory: Memory) -> None:
    taken = await proposals(memory).propose([said(said_by="outside"), said(REDIS, said_by="output")])
    assert (taken.added, taken.dropped) == ([], 2)


async def test_nothing_is_kept_of_events_that_are_gone_or_of_nothing_but_a_secret(memory: Memory) -> None:
    taken = await proposals(memory).propose([said(source=99), said("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")])
    assert (taken.added, taken.dropped) == ([], 2)


async def test_of_one_topic_the_newer_holds_and_a_topic_is_compared_with_itself_alone(memory: Memory) -> None:
    await proposals(memory, saying("merge")).propose(
        [
            learnt("Tests run with `make test`.", "command:test", 1),
            learnt("The build runs with `make`.", "command:build", 1),
            learnt("Tests run with `pytest`.", "command:test", 2),
        ]
    )
    assert await texts(memory) == ["The build runs with `make`.", "Tests run with `pytest`."]
    assert await texts(memory, "superseded") == ["Tests run with `make test`."]


async def test_a_rebuild_gives_the_same_facts_with_their_ids_and_history(tmp_path: Path) -> None:
    tables = ("facts", "fact_sources", "fact_history", "fact_links")
    async with opened(tmp_path) as workspace:
        await workspace.capture(1)
        await workspace.capture(2)
        await proposals(workspace).propose([said(REDIS), said("Okapis sleep in the barn.")])
        await proposals(workspace, saying("update")).propose([said(POSTGRES, 2)])
        await proposals(workspace).propose([said("Okapis sleep in the barn.", 2)])
        columns = (
            "id, ts, category, text, status, superseded_by, valid_from, valid_to, scope, origin, quote, confidence"
        )
        before = [await workspace.rows(f"SELECT {columns} FROM facts ORDER BY id")]
        before += [await workspace.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables[1:]]
        assert all(before)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as workspace:
        after = [await workspace.rows(f"SELECT {columns} FROM facts ORDER BY id")]
        after += [await workspace.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables[1:]]
        assert after == before
        assert await found(workspace, "event delivery") == [POSTGRES]
