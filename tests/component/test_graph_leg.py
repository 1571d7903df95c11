"""The graph as a leg of a search: off unless it is asked for; then older names and neighbours are found too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graph_store import says
from opened_memory import DAY, NOW, Memory, opened

ON = {"graph": 1.0}


async def tick(memory: Memory) -> None:
    await memory.services.consolidator.tick()


async def kept(memory: Memory) -> dict[str, str]:
    """Keep facts about a service that was renamed, what it needs and what nobody needs; return their ids."""
    texts = {
        "renamed": "The ledger service was renamed to the bookkeeper service.",
        "needs": "The bookkeeper service depends on Redis.",
        "redis": "The cache service depends on Redis.",
        "other": "The gateway service depends on Kafka.",
    }
    ids = {name: (await memory.ask("remember", text=text, typed=True))["id"] for name, text in texts.items()}
    await tick(memory)
    return ids


async def found(memory: Memory, query: str, **fields: Any) -> dict[str, dict[str, Any]]:
    return {each["id"]: each["why"] for each in (await memory.ask("search", query=query, **fields))["hits"]}


async def test_the_graph_has_no_say_until_it_is_given_a_weight(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await kept(memory)
        assert all("graph" not in why for why in (await found(memory, "ledger service")).values())
    async with opened(tmp_path, search_weights_graph=1.0) as memory:
        assert any("graph" in why for why in (await found(memory, "ledger service")).values())


async def test_an_older_name_finds_what_the_newer_one_says_and_a_neighbour_counts_half(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        ids = await kept(memory)
        only = {"words": 0.0, "raw": 0.0, "trigram": 0.0, "vector": 0.0, **ON}
        hits = await found(memory, "ledger", weights=only)
        assert hits[ids["needs"]]["graph"]["score"] == 1.0
        assert hits[ids["needs"]]["graph"]["path"] == ["bookkeeper service"]
        assert hits[ids["redis"]]["graph"]["score"] == 0.5
        assert hits[ids["redis"]]["graph"]["path"] == ["bookkeeper service", "DEPENDS_ON", "Redis"]
        assert ids["other"] not in hits
        assert next(iter(hits)) in (ids["needs"], ids["renamed"])


async def test_in_a_long_question_a_name_is_a_part_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        ids = await kept(memory)
        why = (await found(memory, "where does the ledger service write its nightly report", weights=ON))[ids["needs"]]
        assert why["graph"]["score"] < 0.6


async def test_events_are_found_by_the_graph_and_filters_hold_for_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await kept(memory)
        event = await memory.capture(7, ts=NOW - 3 * DAY)
        said = (("service", "bookkeeper service"), "USES", ("tool", "Kafka"))
        await memory.services.store.write(lambda c: says(c, f"e{event}", said))
        hits = (await memory.ask("search", query="ledger service", weights=ON))["hits"]
        assert any(each["eventId"] == event and "graph" in each["why"] for each in hits)
        hits = (await memory.ask("search", query="ledger service", weights=ON, filters={"since": NOW - DAY}))["hits"]
        assert not any(each["eventId"] == event for each in hits)


async def test_a_fact_that_holds_no_more_is_not_found_by_the_graph_either(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        ids = await kept(memory)
        await memory.ask("verify", id=ids["needs"], verdict="outdated", typed=True)
        assert ids["needs"] not in await found(memory, "ledger service", weights=ON)
