"""A replica that is damaged, or held by somebody, costs nothing but the team's items until they are pulled again."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import Memory, opened
from team_stand_in import PROJECT, TeamStandIn, team_server
from team_store import noted

from siftd.errors import NothingFound
from siftd.store import team_replica


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as made:
        yield made


@pytest_asyncio.fixture
async def memory(tmp_path: Path, server: TeamStandIn) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        await each.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        server.publish(noted("a", "Zebras eat grass."))
        await each.ask("remember", text="Zebras eat hay.", type="decision", typed=True)
        await each.ask("team_pull")
        yield each


async def found(memory: Memory) -> list[str]:
    hits: list[dict[str, Any]] = (await memory.ask("search", query="zebras eat"))["hits"]
    return sorted(each["text"] for each in hits)


async def damage(memory: Memory) -> None:
    """Leave a replica whose first page is whole, and no other."""
    replica = Path(memory.services.paths.team_replica)
    await memory.services.team_sync.replica.read(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    with replica.open("r+b") as file:
        file.seek(16)
        page = int.from_bytes(file.read(2), "big")
        file.seek(page)
        file.write(b"\xff" * (replica.stat().st_size - page))
    memory.services.searching.forget()
    memory.services.store.team.close()


async def test_a_search_that_meets_a_damaged_replica_has_ones_own_and_the_rest_is_pulled_again(
    memory: Memory,
) -> None:
    assert await found(memory) == ["Zebras eat grass.", "Zebras eat hay."]
    await damage(memory)
    assert await found(memory) == ["Zebras eat hay."]
    assert not Path(memory.services.paths.team_replica).exists()
    await memory.ask("team_pull")
    assert await found(memory) == ["Zebras eat grass.", "Zebras eat hay."]


async def test_an_item_of_a_damaged_replica_is_not_there_and_nobody_says_that_the_own_store_is_damaged(
    memory: Memory,
) -> None:
    await damage(memory)
    with pytest.raises(NothingFound):
        await memory.ask("show", id="t1")
    await memory.ask("team_pull")
    hits = (await memory.ask("search", query="zebras eat grass"))["hits"]
    (hit,) = (each for each in hits if "team" in each)
    assert hit["id"] != "t1", "no number is given twice"
    assert (await memory.ask("show", id=hit["id"]))["item"]["text"] == "Zebras eat grass."


def test_a_replica_that_somebody_holds_is_not_taken_for_a_damaged_one(tmp_path: Path) -> None:
    path = str(tmp_path / "team.db")
    team_replica.open_replica(path, str(PROJECT), 1).close()
    before = Path(path).stat().st_ino
    with closing(sqlite3.connect(path, isolation_level=None)) as holding:
        holding.execute("BEGIN IMMEDIATE")
        team_replica.open_replica(path, str(PROJECT), 1).close()
    assert Path(path).stat().st_ino == before


async def test_a_replica_that_is_asked_while_it_is_being_made_is_found_in_once_it_is_made(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with opened(tmp_path / "new") as memory:
        await memory.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        server.publish(noted("a", "Zebras eat grass."))
        Path(memory.services.paths.team_replica).touch(mode=0o600)  # as its writer begins: a database without a table
        assert await found(memory) == []
        await memory.ask("team_pull")
        assert await found(memory) == ["Zebras eat grass."]
