"""Memories: what is kept on purpose is found at once, kept once, and gone from search when it no longer holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st
from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.errors import RequestInvalid
from siftd.facts.model import CATEGORIES
from siftd.search.query import Question
from siftd.search.relevance import Relevance

POSTGRES = "Production runs on Postgres 16 behind pgbouncer"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


async def search(memory: Memory, query: str, **filters: Any) -> list[str]:
    answer = await memory.ask("search", query=query, filters=filters)
    assert answer["degraded"] is None
    return [hit["id"] for hit in answer["hits"]]


async def test_what_is_remembered_is_found_at_once_and_shown(memory: Memory) -> None:
    kept = await memory.ask(
        "remember", text=f" {POSTGRES}\n", type="decision", tags=["db", "db"], importance=5, sessionId="first"
    )
    assert kept == {"id": f"m{kept['memoryId']}", "memoryId": kept["memoryId"], "similar": []}
    hit = (await memory.ask("search", query="which postgres is in production?"))["hits"][0]
    assert (hit["id"], hit["kind"], hit["type"], hit["text"]) == (kept["id"], "memory", "decision", POSTGRES)
    item = (await memory.ask("show", id=kept["id"]))["item"]
    assert item["kind"] == "memory"
    assert (item["tags"], item["importance"], item["sessionId"], item["ts"]) == (["db"], 5, "first", NOW)


async def test_its_id_is_the_seq_of_its_record_and_survives_a_rebuild(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        event = await memory.capture()
        kept = await memory.ask("remember", text=POSTGRES, until=NOW + DAY, pin=True)
        later = await memory.capture(1)
        assert event < kept["memoryId"] < later
        before = await memory.rows("SELECT * FROM facts")
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await memory.services.embed_facts()
        assert await memory.rows("SELECT * FROM facts") == before
        assert await search(memory, "postgres") == [kept["id"]]


async def test_saying_it_again_keeps_one_and_tells_which(memory: Memory) -> None:
    first = await memory.ask("remember", text=POSTGRES)
    again = await memory.ask("remember", text=f"{POSTGRES} ", tags=["other"])
    assert again == {"id": first["id"], "memoryId": first["memoryId"], "similar": [], "duplicate": True}
    assert await memory.rows("SELECT count(*) FROM facts") == [(1,)]


async def test_two_clients_who_say_the_same_at_once_keep_one(memory: Memory) -> None:
    answers = await asyncio.gather(*(memory.ask("remember", text=POSTGRES) for _ in range(5)))
    assert len({answer["id"] for answer in answers}) == 1
    assert sum("duplicate" in answer for answer in answers) == 4


async def test_a_near_duplicate_is_kept_and_what_it_resembles_is_told(memory: Memory) -> None:
    first = await memory.ask("remember", text="The API tests need REDIS_URL set")
    await memory.ask("remember", text="Never deploy on Fridays")
    near = await memory.ask("remember", text="API tests need the REDIS_URL variable to be set")
    assert near["similar"] == [first["id"]]
    assert "duplicate" not in near


async def test_outside_its_validity_it_is_in_no_search(memory: Memory) -> None:
    kept = await memory.ask("remember", text=POSTGRES, **{"from": NOW + DAY, "until": NOW + 3 * DAY})
    assert await search(memory, "postgres") == []
    memory.clock.at += 2 * DAY
    assert await search(memory, "postgres") == [kept["id"]]
    memory.clock.at += 2 * DAY
    assert await search(memory, "postgres") == []
    assert (await memory.ask("show", id=kept["id"]))["item"]["text"] == POSTGRES


async def test_what_a_link_supersedes_is_found_only_on_demand(memory: Memory) -> None:
    old = await memory.ask("remember", text="Production runs on Postgres 15")
    new = await memory.ask("remember", text="Production runs on Postgres 16")
    await memory.services.intents.keep(
        "link", {"from": new["memoryId"], "to": old["memoryId"], "relation": "supersedes"}
    )
    assert await search(memory, "production postgres") == [new["id"]]
    assert set(await search(memory, "production postgres", superseded=True)) == {old["id"], new["id"]}
    assert (await memory.ask("show", id=old["id"]))["item"]["links"][0]["relation"] == "supersedes"


async def test_filters_choose_among_memories_by_their_own_columns(memory: Memory) -> None:
    await memory.capture(1, sessionId="first")
    early = await memory.ask("remember", text="part1 is built with make", sessionId="first")
    memory.clock.at += DAY
    late = await memory.ask("remember", text="part1 is shipped by hand", sessionId="other")
    await memory.ask("drain")
    assert await search(memory, "part1", kind="memory", session="first") == [early["id"]]
    assert await search(memory, "part1", kind="memory", since=NOW + DAY) == [late["id"]]
    assert await search(memory, "part1", kind="memory", until=NOW + 1) == [early["id"]]
    assert await search(memory, "", kind="memory") == [late["id"], early["id"]]
    for filters in ({"tool": "Bash"}, {"kind": "summary"}, {"kind": "event"}):
        assert not any(each.startswith("m") for each in await search(memory, "part1", **filters))
    assert await search(memory, "part1", file="Makefile") == await search(memory, "part1", symbol="part1") == []


async def test_a_memory_that_answers_the_question_comes_before_events_that_share_a_word(memory: Memory) -> None:
    for number in range(8):
        await memory.capture(number)
    await memory.ask("drain")
    kept = await memory.ask("remember", text="The release script part3 must be built before part5")
    await memory.ask("remember", text="Coffee is in the kitchen, made by the machine that was built in 1998")
    found = await search(memory, "which part must be built before part5?")
    assert found[0] == kept["id"]
    assert any(each.startswith("s") for each in found)


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "Payments go through Stripe.",
            "Payments go through Adyen since the contract with Stripe ended.",
            "payments go through",
        ),
        ("The minimum Python version is 3.9.", "The minimum Python version is 3.11 now.", "minimum python version"),
    ],
)
async def test_of_two_about_the_same_the_newer_one_stands_first(
    memory: Memory, older: str, newer: str, question: str
) -> None:
    """The shorter text answers a little more of the question; it is out of date."""
    ids = [(await memory.ask("remember", text=text))["id"] for text in (older, POSTGRES, newer)]
    found = await search(memory, question)
    assert found[:2] == [ids[2], ids[0]]


async def test_what_is_about_something_else_is_not_put_first_for_being_newer(memory: Memory) -> None:
    answer = (await memory.ask("remember", text="Payments go through Adyen"))["id"]
    await memory.ask("remember", text="The payments page is slow on Mondays")
    assert (await search(memory, "payments go through what"))[0] == answer


async def test_a_deleted_vector_is_made_again_and_a_text_changed_by_hand_is_embedded_anew(memory: Memory) -> None:
    kept = await memory.ask("remember", text=POSTGRES)
    vector = await memory.rows("SELECT owner_id, embedder, dim, vec FROM embeddings WHERE owner_kind = 'fact'")
    assert vector[0][:3] == (kept["memoryId"], "blend-384", 384)
    await memory.by_hand("DELETE FROM embeddings")
    await memory.ask("drain")
    assert await memory.rows("SELECT owner_id, embedder, dim, vec FROM embeddings") == vector
    await memory.by_hand("UPDATE facts SET text = 'Staging runs on MariaDB'")
    await memory.ask("drain")
    assert await memory.rows("SELECT vec FROM embeddings") != [vector[0][3:]]
    assert await search(memory, "mariadb") == [kept["id"]]
    assert await search(memory, "pgbouncer") == []


async def test_a_memory_inserted_by_hand_is_found_and_stands_in_nobodys_way(memory: Memory) -> None:
    await memory.by_hand("INSERT INTO facts (id, ts, updated_ts, text) VALUES (40, 1, 1, 'Written by a person')")
    kept = await memory.ask("remember", text=POSTGRES)
    assert kept["memoryId"] > 40
    assert await search(memory, "written by a person") == ["m40"]


async def test_a_secret_is_gone_before_anything_is_kept(memory: Memory) -> None:
    kept = await memory.ask("remember", text=f"The deploy token is {TOKEN}", tags=[TOKEN], sessionId=TOKEN)
    assert TOKEN.encode() not in memory.log_bytes()
    item = (await memory.ask("show", id=kept["id"]))["item"]
    assert item["text"].startswith("The deploy token is [REDACTED:")
    assert TOKEN not in str(item)


REFUSED: dict[str, dict[str, Any]] = {
    "empty": {"text": " \n"},
    "one secret": {"text": TOKEN},
    "all private": {"text": "<private>the whole of it</private>"},
    "too long": {"text": "word " * 200_000},
    "unknown type": {"text": "x", "type": "rumour"},
    "global": {"text": "x", "project": False},
    "no importance": {"text": "x", "importance": 0},
    "too important": {"text": "x", "importance": 6},
    "too sure": {"text": "x", "confidence": 1.5},
    "empty tag": {"text": "x", "tags": [" "]},
    "long tag": {"text": "x", "tags": ["t" * 65]},
    "ends before it begins": {"text": "x", "from": 20, "until": 10},
    "before 1970": {"text": "x", "from": -1},
    "text of wrong type": {"text": 7},
    "tags of wrong type": {"text": "x", "tags": "a,b"},
    "no text": {},
}


async def test_what_cannot_be_a_memory_is_refused_and_nothing_is_kept(memory: Memory) -> None:
    refused = {}
    for name, fields in REFUSED.items():
        try:
            await memory.ask("remember", **fields)
        except RequestInvalid as error:
            refused[name] = f"{error.message}; {error.hint}"
    assert refused.keys() == REFUSED.keys()
    assert TOKEN not in str(refused)
    assert await memory.rows("SELECT count(*) FROM facts") == [(0,)]


async def test_every_type_can_be_remembered(memory: Memory) -> None:
    for each in CATEGORIES:
        kept = await memory.ask("remember", text=f"this is a {each}", type=each)
        assert (await memory.ask("show", id=kept["id"]))["item"]["type"] == each


async def test_an_unknown_memory_is_refused_and_a_timeline_goes_around_events_only(memory: Memory) -> None:
    with pytest.raises(RequestInvalid):
        await memory.ask("show", id="m99")
    with pytest.raises(RequestInvalid):
        await memory.ask("timeline", around="m1")


WORDS = st.lists(st.sampled_from(["redis", "port", "tests", "the", "deploy", "über", "日本"]), max_size=6).map(" ".join)


@settings(max_examples=100)
@given(question=WORDS, text=WORDS, more=WORDS)
def test_a_share_is_between_0_and_1_and_grows_with_the_text(question: str, text: str, more: str) -> None:
    relevance = Relevance(dict.fromkeys(Question.of(question).terms, 1.0))
    assert 0 <= relevance.share(text) <= relevance.share(f"{text} {more}") <= 1
    assert relevance.share(question) == (0 if relevance.is_empty else pytest.approx(1))
