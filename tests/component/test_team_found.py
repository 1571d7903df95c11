"""What a team shares is found beside one's own: cited as t12, with its author, and of nobody who is not asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened
from team_store import ANA, ME, Replica, join, noted, publish, shared

from siftd.errors import NothingFound, RequestInvalid

POSTGRES = "Every service keeps its state in Postgres 16"
STORY = "Why did the okapi jobs hang? → The okapi queue lost its lease when the clock was set back"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


@pytest_asyncio.fixture
async def replica(memory: Memory) -> AsyncIterator[Replica]:
    made = await join(memory)
    yield made
    made.close()


async def hits(memory: Memory, query: str, **filters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await memory.ask("search", query=query, filters=filters))["hits"]
    return found


async def found(memory: Memory, query: str, **filters: Any) -> list[str]:
    return [hit["id"] for hit in await hits(memory, query, **filters)]


async def test_what_others_told_is_found_beside_ones_own_with_its_author(memory: Memory, replica: Replica) -> None:
    await memory.ask("remember", text="This service keeps its sessions in Redis")
    await publish(memory, replica, noted("a", POSTGRES))
    await memory.ask("drain")
    (first, second) = await hits(memory, "what does every service keep in postgres")
    assert (first["id"], second["id"]) == ("t1", "m1")
    assert (first["team"]["author"], first["team"]["source"], first["team"]["isMine"]) == ("Ana", "memory", False)
    assert first["eventId"] is None
    assert "team" not in second


async def test_a_story_is_found_by_its_words_and_by_its_meaning(memory: Memory, replica: Replica) -> None:
    metadata = {"session": "theirs", "scope": "session", "saidBy": "agent"}
    await publish(memory, replica, shared("b", STORY, "summary", metadata=metadata))
    (hit,) = await hits(memory, "why did the okapi queue hang?")
    assert (hit["id"], hit["kind"], hit["sessionId"]) == ("t1", "summary", "theirs")
    assert {"words", "vector"} <= hit["why"].keys()


async def test_without_a_team_a_search_answers_as_before(memory: Memory) -> None:
    await memory.ask("remember", text=POSTGRES)
    before = await hits(memory, "postgres")
    replica = await join(memory)
    assert await hits(memory, "postgres") == before, "joined, and nothing pulled yet"
    assert "nothing of the team's" in (await memory.ask("search", query="x", filters={"team": True}))["degraded"]
    await publish(memory, replica, noted("a", "The office has a new door"))
    assert await hits(memory, "postgres") == before
    replica.close()


async def test_one_asks_the_team_alone_or_leaves_it_out(memory: Memory, replica: Replica) -> None:
    await memory.ask("remember", text=POSTGRES)
    await publish(memory, replica, noted("a", "Postgres runs on port 5433 here"))
    assert sorted(await found(memory, "postgres")) == ["m1", "t1"]
    assert await found(memory, "postgres", team=True) == ["t1"]
    assert await found(memory, "postgres", team=False) == ["m1"]


async def test_a_workspace_without_a_team_says_so_when_it_is_asked_for_one(memory: Memory) -> None:
    with pytest.raises(RequestInvalid, match="of no team"):
        await memory.ask("search", query="postgres", filters={"team": True})


async def test_only_what_is_of_a_source_is_found(memory: Memory, replica: Replica) -> None:
    await memory.ask("remember", text="Okapi jobs are retried three times")
    await publish(
        memory,
        replica,
        shared(
            "7", "Okapi jobs hang at midnight", "issue", metadata={"title": "Jobs hang", "url": "https://x.example/7"}
        ),
        shared("7#1", "Okapi jobs hang here too", "comment"),
        noted("a", "Okapi jobs are idempotent"),
        shared("b", STORY, "summary", metadata={"scope": "session", "saidBy": "agent"}),
    )
    assert await found(memory, "okapi jobs", source="issue") == ["t1"]
    assert await found(memory, "okapi jobs", source="comment") == ["t2"]
    assert sorted(await found(memory, "okapi jobs", source="memory")) == ["m1", "t3"]
    assert await found(memory, "okapi jobs", source="fact") == []
    assert await found(memory, "okapi jobs", source="summary") == ["t4"]
    assert await found(memory, "okapi jobs", source="memory", kind="summary") == []
    assert await found(memory, "", source="issue") == ["t1"]


async def test_the_latest_of_both_stand_in_the_order_of_time(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", "Old", ts=NOW - DAY), noted("b", "New", ts=NOW + DAY))
    await memory.ask("remember", text="Now")
    assert await found(memory, "", kind="memory") == ["t2", "m1", "t1"]


async def test_what_this_device_told_and_what_is_gone_is_not_found_again(memory: Memory, replica: Replica) -> None:
    gone = noted("b", "Postgres was dropped")
    await publish(memory, replica, noted("a", POSTGRES), author=ME, is_own=True)
    await publish(memory, replica, gone, noted("c", "Postgres is old", archived_at=NOW))
    replica.forget(gone)
    assert await found(memory, "postgres") == []


async def test_ones_own_from_another_device_is_known_as_that(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", "Postgres is slow at night", visibility="private"), author=ME)
    await publish(memory, replica, noted("b", "Postgres is fast by day"), author=ME)
    assert [hit["team"]["isMine"] for hit in await hits(memory, "postgres")] == [True, True]


async def test_one_item_is_shown_whole(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", POSTGRES))
    item = (await memory.ask("show", id="#T1"))["item"]
    assert (item["kind"], item["text"], item["team"]["author"], item["team"]["saidBy"]) == (
        "team", POSTGRES, "Ana", "person",
    )  # fmt: skip
    assert item["saidBy"] == "agent", "no person here said it"
    with pytest.raises(NothingFound):
        await memory.ask("show", id="t2")


async def test_what_only_its_author_has_or_may_do_is_refused_with_a_way(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", POSTGRES))
    for kind, fields in (
        ("timeline", {"around": "t1"}),
        ("forget", {"ids": ["t1"], "dryRun": False}),
        ("verify", {"id": "t1", "verdict": "outdated"}),
        ("correct", {"id": "t1", "text": "No"}),
        ("fact_story", {"id": "t1"}),
        ("undo", {"id": "t1"}),
        ("update", {"id": "t1", "text": "No"}),
    ):
        with pytest.raises(RequestInvalid) as caught:
            await memory.ask(kind, **fields)
        assert "t1" in (caught.value.hint or ""), kind
    assert await found(memory, "postgres") == ["t1"]


async def test_where_it_comes_from_is_told_as_far_as_it_is_here(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", POSTGRES))
    tree = await memory.ask("edges", id="t1")
    assert [each["id"] for each in tree["nodes"]] == ["t1"]
    assert (tree["edges"], tree["isWhole"]) == ([], False)


async def test_a_replica_that_cannot_be_read_takes_no_search_away(memory: Memory, replica: Replica) -> None:
    await memory.ask("remember", text=POSTGRES)
    await publish(memory, replica, noted("a", "Postgres runs on port 5433 here"))
    assert len(await found(memory, "postgres")) == 2
    replica.connection.execute("DROP TABLE team_items")
    answer = await memory.ask("search", query="postgres")
    assert [hit["id"] for hit in answer["hits"]] == ["m1"]
    assert "without the team's memory" in answer["degraded"]
    replica.close()
    Path(memory.services.paths.team_replica).write_bytes(b"this is no database " * 400)
    assert await found(memory, "postgres") == ["m1"]


async def test_a_replica_that_goes_or_is_erase_is_followed(memory: Memory, replica: Replica) -> None:
    await publish(memory, replica, noted("a", POSTGRES), noted("b", "Postgres runs on port 5433"))
    assert len(await found(memory, "postgres")) == 2
    replica.erase()
    assert await found(memory, "postgres") == []
    await publish(memory, replica, noted("b", "Postgres runs on port 5433"))
    assert await found(memory, "postgres port") == ["t1"]
    assert (await hits(memory, "postgres"))[0]["team"]["author"] == ANA.name
