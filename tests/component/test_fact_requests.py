"""Memories after they are kept: changed, replaced, linked, looked at; every change is a record that a rebuild obeys."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.errors import RequestInvalid

REDIS = "The job queue runs on Redis"
POSTGRES = "The job queue runs on Postgres LISTEN/NOTIFY"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


async def remember(memory: Memory, text: str, **fields: Any) -> str:
    return str((await memory.ask("remember", text=text, **fields))["id"])


async def found(memory: Memory, query: str) -> list[str]:
    return [hit["id"] for hit in (await memory.ask("search", query=query))["hits"]]


async def listed(memory: Memory, **fields: Any) -> list[str]:
    return [f"m{each['id']}" for each in (await memory.ask("memories", **fields))["memories"]]


async def test_a_superseded_memory_is_history_and_in_no_search_or_list(memory: Memory) -> None:
    old = await remember(memory, REDIS, type="decision", tags=["queue"], importance=5)
    memory.clock.at += DAY
    new = (await memory.ask("supersede", id=old, text=POSTGRES))["id"]
    assert await found(memory, "what does the job queue run on") == [new]
    assert await listed(memory) == [new]
    assert await listed(memory, superseded=True) == [new, old]
    assert await listed(memory, asOf=NOW) == [old], "that is what held then"
    item = (await memory.ask("show", id=new))["item"]
    assert (item["type"], item["tags"], item["importance"]) == ("decision", ["queue"], 5), "inherited"
    assert [each["relation"] for each in (await memory.ask("related", id=old))["related"]] == ["supersedes"]
    with pytest.raises(RequestInvalid, match="superseded already"):
        await memory.ask("supersede", id=old, text="The job queue runs on RabbitMQ")


async def test_a_changed_text_is_found_by_its_new_words_alone(memory: Memory) -> None:
    kept = await remember(memory, REDIS)
    answer = await memory.ask(
        "update", id=kept, text=f" {POSTGRES} ", tags=["db", "db"], type="decision", pin=True, typed=True
    )
    assert answer == {"id": kept, "changed": ["pin", "tags", "text", "type"]}
    assert await found(memory, "redis") == []
    assert await found(memory, "postgres") == [kept]
    item = (await memory.ask("show", id=kept))["item"]
    assert (item["text"], item["tags"], item["type"], item["pinned"]) == (POSTGRES, ["db"], "decision", True)
    embedded = "SELECT count(*) FROM embeddings WHERE owner_kind = 'fact'"
    assert await memory.rows(embedded) == [(1,)]


async def test_a_rebuild_keeps_every_change(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        old = await remember(memory, REDIS)
        new = (await memory.ask("supersede", id=old, text=POSTGRES))["id"]
        other = await remember(memory, "Nobody deploys on a friday")
        await memory.ask("update", id=other, importance=5, until=NOW + DAY)
        await memory.ask("link", **{"from": other, "to": new, "relation": "related_to"})
        talk = (await memory.ask("converse", title="queues"))["id"]
        await memory.ask("converse", title="more", followsUpOn=talk)
        tables = ("memories", "fact_links", "conversations")
        before = [await memory.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await memory.services.embed_facts()
        assert [await memory.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables] == before


async def test_links_to_itself_to_nothing_and_in_a_circle_are_refused(memory: Memory) -> None:
    a, b, c = [await remember(memory, f"{REDIS} number {number}") for number in range(3)]
    await memory.ask("link", **{"from": b, "to": a, "relation": "supersedes"})
    await memory.ask("link", **{"from": c, "to": b, "relation": "supersedes"})
    for one, other, relation in ((a, a, "related_to"), (a, c, "supersedes"), (a, "m999", "related_to"),
                                 (a, "s1", "related_to"), (a, b, "likes")):  # fmt: skip
        with pytest.raises(RequestInvalid) as refused:
            await memory.ask("link", **{"from": one, "to": other, "relation": relation})
        assert refused.value.hint
    assert await listed(memory) == [c]


async def test_two_clients_cannot_close_a_circle_between_them(memory: Memory) -> None:
    a, b = [await remember(memory, f"{REDIS} number {number}") for number in range(2)]
    both = [{"from": a, "to": b, "relation": "supersedes"}, {"from": b, "to": a, "relation": "supersedes"}]
    done = await asyncio.gather(*(memory.ask("link", **each) for each in both), return_exceptions=True)
    assert sorted(isinstance(each, RequestInvalid) for each in done) == [False, True]


async def test_contradictions_are_told_until_one_is_superseded(memory: Memory) -> None:
    a, b = await remember(memory, "Tabs"), await remember(memory, "Spaces")
    await memory.ask("link", **{"from": a, "to": b, "relation": "contradicts"})
    conflicts = (await memory.ask("memory_health"))["conflicts"]
    assert [(f"m{each['aId']}", f"m{each['bId']}") for each in conflicts] == [(a, b)]
    await memory.ask("supersede", id=b, text="Tabs, since the formatter wants them")
    assert (await memory.ask("memory_health"))["conflicts"] == []


async def test_health_and_topics_count_what_holds(memory: Memory) -> None:
    await remember(memory, REDIS, type="decision", tags=["queue", "db"], pin=True, typed=True)
    await remember(memory, "Expires soon", until=NOW + DAY)
    old = await remember(memory, "Nobody deploys on a friday", type="procedure")
    await memory.ask("supersede", id=old, text="Nobody deploys on a monday")
    memory.clock.at += 2 * DAY
    answer = await memory.ask("memory_health")
    numbers = {name: answer["health"][name] for name in ("total", "unsuperseded", "live", "pinned", "expired", "links")}
    assert numbers == {"total": 4, "unsuperseded": 3, "live": 2, "pinned": 1, "expired": 1, "links": 1}
    assert {each["topic"]: each["count"] for each in answer["topics"]["types"]} == {"decision": 1, "procedure": 1}
    assert {each["topic"] for each in answer["topics"]["tags"]} == {"queue", "db"}


async def test_similar_memories_are_those_nearest_in_meaning_without_itself(memory: Memory) -> None:
    a = await remember(memory, "Deploys to production go through the staging branch")
    b = await remember(memory, "Deploys to production go through the release branch")
    await remember(memory, "Invoices are rendered by WeasyPrint")
    assert (await memory.ask("similar", id=a))["similar"][0]["id"] == b


@pytest.mark.parametrize(
    "fields",
    [{}, {"text": "  "}, {"text": "x" * 1_000_000}, {"text": TOKEN}, {"type": "rumour"}, {"importance": 9},
     {"tags": [""]}, {"until": 5, "from": 9}, {"text": 7}],
    ids=lambda fields: str(fields)[:30],
)  # fmt: skip
async def test_what_cannot_be_a_memory_is_refused_for_a_change_too(memory: Memory, fields: dict[str, Any]) -> None:
    kept = await remember(memory, REDIS)
    with pytest.raises(RequestInvalid):
        await memory.ask("update", id=kept, **fields)
    assert await found(memory, "redis") == [kept]


async def test_a_secret_in_a_changed_text_reaches_no_disk(memory: Memory) -> None:
    kept = await remember(memory, REDIS)
    await memory.ask("update", id=kept, text=f"The deploy token is {TOKEN}")
    assert TOKEN not in (await memory.ask("show", id=kept))["item"]["text"]
    assert TOKEN.encode() not in memory.log_bytes()


async def test_forgetting_a_memory_takes_what_its_changes_said_too(memory: Memory) -> None:
    kept = await remember(memory, REDIS)
    await memory.ask("update", id=kept, text="The queue is called zanzibar")
    await memory.ask("forget", ids=[kept], dryRun=False)
    assert await listed(memory, superseded=True) == []
    segments = Path(memory.services.paths.folder).glob("wal*")
    assert b"zanzibar" not in b"".join(
        gzip.decompress(each.read_bytes()) if each.suffix == ".gz" else each.read_bytes() for each in segments
    )
    with pytest.raises(RequestInvalid, match="no memory"):
        await memory.ask("update", id=kept, text="back")


async def test_conversations_have_a_tree_threads_and_stale_ones(memory: Memory) -> None:
    root = (await memory.ask("converse", title="queues"))["id"]
    memory.clock.at += DAY
    child = (await memory.ask("converse", title="retries", followsUpOn=root))["id"]
    await memory.ask("converse", title="alone")
    grandchild = (await memory.ask("converse", branchesFrom=child))["id"]
    tree = (await memory.ask("conversations", id=grandchild))["conversations"]
    assert [(each["id"], each["parentId"]) for each in tree] == [
        (root, None),
        *sorted([(child, root), (grandchild, child)]),
    ]
    both = (await memory.ask("converse", followsUpOn=root, branchesFrom=grandchild, label="billing"))["id"]
    assert {each["id"] for each in (await memory.ask("conversations", id=both))["conversations"]} == {
        root, child, grandchild, both,
    }  # fmt: skip
    assert [each["id"] for each in (await memory.ask("conversations", label="billing"))["conversations"]] == [both]
    await remember(memory, REDIS, sessionId=child)
    threads = {each["id"]: each["memories"] for each in (await memory.ask("conversations"))["conversations"]}
    assert (len(threads), threads[child]) == (5, 1)
    memory.clock.at += 40 * DAY
    await remember(memory, POSTGRES, sessionId=root)
    stale = [each["id"] for each in (await memory.ask("conversations", staleDays=30))["conversations"]]
    assert root not in stale
    assert child in stale
    for fields in ({"followsUpOn": "nobody"}, {"followsUpOn": root, "branchesFrom": "nobody"}, {"title": "x" * 999}):
        with pytest.raises(RequestInvalid):
            await memory.ask("converse", **fields)
    with pytest.raises(RequestInvalid):
        await memory.ask("conversations", id="nobody")
