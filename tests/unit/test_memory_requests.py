"""Memories after they are kept: changed, replaced, linked, looked at; every change is a record that a rebuild obeys."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_shop import DAY, NOW, Shop, opened, rebuilt

from siftd.errors import RequestInvalid

REDIS = "The job queue runs on Redis"
POSTGRES = "The job queue runs on Postgres LISTEN/NOTIFY"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with opened(tmp_path) as each:
        yield each


async def remember(shop: Shop, text: str, **fields: Any) -> str:
    return str((await shop.ask("remember", text=text, **fields))["id"])


async def found(shop: Shop, query: str) -> list[str]:
    return [hit["id"] for hit in (await shop.ask("search", query=query))["hits"]]


async def listed(shop: Shop, **fields: Any) -> list[str]:
    return [f"m{each['id']}" for each in (await shop.ask("memories", **fields))["memories"]]


async def test_a_superseded_memory_is_history_and_in_no_search_or_list(shop: Shop) -> None:
    old = await remember(shop, REDIS, type="decision", tags=["queue"], importance=5)
    shop.clock.at += DAY
    new = (await shop.ask("supersede", id=old, text=POSTGRES))["id"]
    assert await found(shop, "what does the job queue run on") == [new]
    assert await listed(shop) == [new]
    assert await listed(shop, superseded=True) == [new, old]
    assert await listed(shop, asOf=NOW) == [old], "that is what held then"
    item = (await shop.ask("show", id=new))["item"]
    assert (item["type"], item["tags"], item["importance"]) == ("decision", ["queue"], 5), "inherited"
    assert [each["relation"] for each in (await shop.ask("related", id=old))["related"]] == ["supersedes"]
    with pytest.raises(RequestInvalid, match="superseded already"):
        await shop.ask("supersede", id=old, text="The job queue runs on RabbitMQ")


async def test_a_changed_text_is_found_by_its_new_words_alone(shop: Shop) -> None:
    kept = await remember(shop, REDIS)
    answer = await shop.ask(
        "update", id=kept, text=f" {POSTGRES} ", tags=["db", "db"], type="decision", pin=True, typed=True
    )
    assert answer == {"id": kept, "changed": ["pin", "tags", "text", "type"]}
    assert await found(shop, "redis") == []
    assert await found(shop, "postgres") == [kept]
    item = (await shop.ask("show", id=kept))["item"]
    assert (item["text"], item["tags"], item["type"], item["pinned"]) == (POSTGRES, ["db"], "decision", True)
    embedded = "SELECT count(*) FROM embeddings WHERE owner_kind = 'memory'"
    assert await shop.rows(embedded) == [(1,)]


async def test_a_rebuild_keeps_every_change(tmp_path: Path) -> None:
    async with opened(tmp_path) as shop:
        old = await remember(shop, REDIS)
        new = (await shop.ask("supersede", id=old, text=POSTGRES))["id"]
        other = await remember(shop, "Nobody deploys on a friday")
        await shop.ask("update", id=other, importance=5, until=NOW + DAY)
        await shop.ask("link", **{"from": other, "to": new, "relation": "related_to"})
        talk = (await shop.ask("converse", title="queues"))["id"]
        await shop.ask("converse", title="more", followsUpOn=talk)
        tables = ("memories", "memory_links", "conversations")
        before = [await shop.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]
    await rebuilt(tmp_path)
    async with opened(tmp_path) as shop:
        await shop.workshop.embed_memories()
        assert [await shop.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables] == before


async def test_links_to_itself_to_nothing_and_in_a_circle_are_refused(shop: Shop) -> None:
    a, b, c = [await remember(shop, f"{REDIS} number {number}") for number in range(3)]
    await shop.ask("link", **{"from": b, "to": a, "relation": "supersedes"})
    await shop.ask("link", **{"from": c, "to": b, "relation": "supersedes"})
    for one, other, relation in ((a, a, "related_to"), (a, c, "supersedes"), (a, "m999", "related_to"),
                                 (a, "s1", "related_to"), (a, b, "likes")):  # fmt: skip
        with pytest.raises(RequestInvalid) as refused:
            await shop.ask("link", **{"from": one, "to": other, "relation": relation})
        assert refused.value.hint
    assert await listed(shop) == [c]


async def test_two_clients_cannot_close_a_circle_between_them(shop: Shop) -> None:
    a, b = [await remember(shop, f"{REDIS} number {number}") for number in range(2)]
    both = [{"from": a, "to": b, "relation": "supersedes"}, {"from": b, "to": a, "relation": "supersedes"}]
    done = await asyncio.gather(*(shop.ask("link", **each) for each in both), return_exceptions=True)
    assert sorted(isinstance(each, RequestInvalid) for each in done) == [False, True]


async def test_contradictions_are_told_until_one_is_superseded(shop: Shop) -> None:
    a, b = await remember(shop, "Tabs"), await remember(shop, "Spaces")
    await shop.ask("link", **{"from": a, "to": b, "relation": "contradicts"})
    conflicts = (await shop.ask("memory_health"))["conflicts"]
    assert [(f"m{each['a_id']}", f"m{each['b_id']}") for each in conflicts] == [(a, b)]
    await shop.ask("supersede", id=b, text="Tabs, since the formatter wants them")
    assert (await shop.ask("memory_health"))["conflicts"] == []


async def test_health_and_topics_count_what_holds(shop: Shop) -> None:
    await remember(shop, REDIS, type="decision", tags=["queue", "db"], pin=True, typed=True)
    await remember(shop, "Expires soon", until=NOW + DAY)
    old = await remember(shop, "Nobody deploys on a friday", type="procedure")
    await shop.ask("supersede", id=old, text="Nobody deploys on a monday")
    shop.clock.at += 2 * DAY
    answer = await shop.ask("memory_health")
    numbers = {name: answer["health"][name] for name in ("total", "unsuperseded", "live", "pinned", "expired", "links")}
    assert numbers == {"total": 4, "unsuperseded": 3, "live": 2, "pinned": 1, "expired": 1, "links": 1}
    assert {each["topic"]: each["count"] for each in answer["topics"]["types"]} == {"decision": 1, "procedure": 1}
    assert {each["topic"] for each in answer["topics"]["tags"]} == {"queue", "db"}


async def test_similar_memories_are_those_nearest_in_meaning_without_itself(shop: Shop) -> None:
    a = await remember(shop, "Deploys to production go through the staging branch")
    b = await remember(shop, "Deploys to production go through the release branch")
    await remember(shop, "Invoices are rendered by WeasyPrint")
    assert (await shop.ask("similar", id=a))["similar"][0]["id"] == b


@pytest.mark.parametrize(
    "fields",
    [{}, {"text": "  "}, {"text": "x" * 1_000_000}, {"text": TOKEN}, {"type": "rumour"}, {"importance": 9},
     {"tags": [""]}, {"until": 5, "from": 9}, {"text": 7}],
    ids=lambda fields: str(fields)[:30],
)  # fmt: skip
async def test_what_cannot_be_a_memory_is_refused_for_a_change_too(shop: Shop, fields: dict[str, Any]) -> None:
    kept = await remember(shop, REDIS)
    with pytest.raises(RequestInvalid):
        await shop.ask("update", id=kept, **fields)
    assert await found(shop, "redis") == [kept]


async def test_a_secret_in_a_changed_text_reaches_no_disk(shop: Shop) -> None:
    kept = await remember(shop, REDIS)
    await shop.ask("update", id=kept, text=f"The deploy token is {TOKEN}")
    assert TOKEN not in (await shop.ask("show", id=kept))["item"]["text"]
    assert TOKEN.encode() not in shop.log_bytes()


async def test_forgetting_a_memory_takes_what_its_changes_said_too(shop: Shop) -> None:
    kept = await remember(shop, REDIS)
    await shop.ask("update", id=kept, text="The queue is called zanzibar")
    await shop.ask("forget", ids=[kept], dryRun=False)
    assert await listed(shop, superseded=True) == []
    segments = Path(shop.workshop.paths.folder).glob("wal*")
    assert b"zanzibar" not in b"".join(
        gzip.decompress(each.read_bytes()) if each.suffix == ".gz" else each.read_bytes() for each in segments
    )
    with pytest.raises(RequestInvalid, match="no memory"):
        await shop.ask("update", id=kept, text="back")


async def test_conversations_have_a_tree_threads_and_stale_ones(shop: Shop) -> None:
    root = (await shop.ask("converse", title="queues"))["id"]
    shop.clock.at += DAY
    child = (await shop.ask("converse", title="retries", followsUpOn=root))["id"]
    await shop.ask("converse", title="alone")
    grandchild = (await shop.ask("converse", branchesFrom=child))["id"]
    tree = (await shop.ask("conversations", id=grandchild))["conversations"]
    assert [(each["id"], each["parent_id"]) for each in tree] == [
        (root, None),
        *sorted([(child, root), (grandchild, child)]),
    ]
    both = (await shop.ask("converse", followsUpOn=root, branchesFrom=grandchild, label="billing"))["id"]
    assert {each["id"] for each in (await shop.ask("conversations", id=both))["conversations"]} == {
        root, child, grandchild, both,
    }  # fmt: skip
    assert [each["id"] for each in (await shop.ask("conversations", label="billing"))["conversations"]] == [both]
    await remember(shop, REDIS, sessionId=child)
    threads = {each["id"]: each["memories"] for each in (await shop.ask("conversations"))["conversations"]}
    assert (len(threads), threads[child]) == (5, 1)
    shop.clock.at += 40 * DAY
    await remember(shop, POSTGRES, sessionId=root)
    stale = [each["id"] for each in (await shop.ask("conversations", staleDays=30))["conversations"]]
    assert root not in stale
    assert child in stale
    for fields in ({"followsUpOn": "nobody"}, {"followsUpOn": root, "branchesFrom": "nobody"}, {"title": "x" * 999}):
        with pytest.raises(RequestInvalid):
            await shop.ask("converse", **fields)
    with pytest.raises(RequestInvalid):
        await shop.ask("conversations", id="nobody")
