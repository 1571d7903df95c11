"""The network between a laptop and its team's server hangs and breaks in the middle: nothing here waits for it.

A real server before a real PostgreSQL; the proxy between them fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from faulty_proxy import FaultyProxy, Way, faulty_proxy
from opened_memory import Memory, opened
from postgres import VERSIONS, Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Service, team_service

from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_sync.errors import TeamError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("postgres", VERSIONS[-1:], ids=["postgres18"], indirect=True, scope="session"),
]
TEXTS = [f"Okapi number {number} sleeps in barn {number * 7}." for number in range(12)]


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def lines() -> Iterator[FaultyProxy]:
    with faulty_proxy() as made:
        yield made


@pytest.fixture(scope="module")
def service(database: TeamDatabase, lines: FaultyProxy) -> Iterator[Service]:
    with team_service(database.app, "--host", f"127.0.0.1:{lines.port}") as served:
        lines.target = ("127.0.0.1", served.port)
        yield served


@pytest.fixture
def proxy(lines: FaultyProxy, service: Service) -> Iterator[FaultyProxy]:
    yield lines
    lines.heal()


@asynccontextmanager
async def joined(folder: Path, person: str, url: str, database: TeamDatabase, project: str) -> AsyncIterator[Memory]:
    """Open a workspace that this person has joined with."""
    with as_owner(database.operator) as connection:
        code = invite(connection, ensure_project(connection, project, "hash-384"), person, "writer").code
    async with opened(folder) as memory:
        await memory.ask("team_join", url=url, project=project, invite=code, device=person)
        yield memory


async def remember(memory: Memory, texts: list[str]) -> None:
    for text in texts:
        await memory.ask("remember", text=text, type="decision", typed=True)


async def told(memory: Memory) -> dict[str, Any]:
    """Return how a team stands, by the laptop's own account."""
    team: dict[str, Any] = (await memory.ask("team_status"))["team"]
    return team


def shared(database: TeamDatabase, project: str) -> list[str]:
    """Return what the server has of a project."""
    query = "SELECT text FROM memories m JOIN projects p ON p.id = m.project_id WHERE p.name = %s ORDER BY text"
    with as_owner(database.operator) as connection:
        return [row[0] for row in connection.execute(query, (project,))]


@pytest.mark.parametrize("way", ["up", "down"])
async def test_a_connection_that_breaks_anywhere_in_a_push_or_a_pull_loses_and_doubles_nothing(
    tmp_path: Path, proxy: FaultyProxy, service: Service, database: TeamDatabase, way: Way
) -> None:
    project = f"broken {way}"
    async with (
        joined(tmp_path / "ana", "ana", proxy.url, database, project) as ana,
        joined(tmp_path / "ben", "ben", f"http://{service.host}", database, project) as ben,
    ):
        await remember(ana, TEXTS[:6])
        await remember(ben, TEXTS[6:])
        await ben.ask("team_push")
        failed = 0
        for count in (0, 1, 60, 400, 900, 1_700, 2_600):
            proxy.cut_after(count, way)
            try:
                await ana.ask("team_push")
                await ana.ask("team_pull")
            except TeamError:
                failed += 1
            proxy.heal()
        assert failed >= 3, "there was something to survive"
        await ana.ask("team_push")
        await ana.ask("team_pull")
        await ben.ask("team_pull")
        assert (await told(ana))["waiting"] == 0
        assert shared(database, project) == sorted(TEXTS)
        for memory, others in ((ana, TEXTS[6:]), (ben, TEXTS[:6])):
            hits = (await memory.ask("search", query="okapi sleeps in which barn", k=20))["hits"]
            assert sorted(hit["text"] for hit in hits if hit["id"].startswith("t")) == sorted(others)


async def test_while_the_server_hangs_everything_of_the_laptops_own_goes_on(
    tmp_path: Path, proxy: FaultyProxy, database: TeamDatabase
) -> None:
    async with joined(tmp_path / "ana", "ana", proxy.url, database, "hung") as ana:
        await remember(ana, TEXTS[:1])
        proxy.hang()
        pushing = asyncio.create_task(ana.ask("team_push"))
        while not proxy.is_holding:
            await asyncio.sleep(0)
        await remember(ana, TEXTS[1:3])
        found = (await ana.ask("search", query="okapi sleeps"))["hits"]
        assert {hit["text"] for hit in found} >= set(TEXTS[:3])
        await ana.ask("recall", prompt="In which barn does okapi number 1 sleep?")
        assert not pushing.done(), "it is the server that has not answered yet"
        proxy.heal()
        await pushing
        await ana.ask("team_push")
        assert shared(database, "hung") == sorted(TEXTS[:3])
