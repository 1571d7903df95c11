"""Laptops and a real server before a real PostgreSQL: they join, tell, take, correct, forget, leave."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from opened_memory import Memory, opened, rebuilt
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Service, team_service

from siftd.errors import RequestInvalid
from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_sync.errors import TeamAway, TeamDenied
from siftd.workspace.identity import find_workspace


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def service(database: TeamDatabase) -> Iterator[Service]:
    with team_service(database.app) as served:
        yield served


class Team:
    """A project of one test's own, to which people are invited."""

    def __init__(self, service: Service, database: TeamDatabase, name: str) -> None:
        self.url = f"http://{service.host}"
        self._database = database
        self.name = name

    @asynccontextmanager
    async def laptop(self, folder: Path, person: str, *, role: Any = "writer") -> AsyncIterator[Memory]:
        """Open a workspace that this person has joined with."""
        with as_owner(self._database.operator) as connection:
            project = ensure_project(connection, self.name, "hash-384")
            code = invite(connection, project, person, role).code
        async with opened(folder) as memory:
            await memory.ask(
                "team_join", url=self.url, project=self.name, invite=code, device=f"{person}'s {folder.name}"
            )
            yield memory


@pytest.fixture
def team(service: Service, database: TeamDatabase, request: pytest.FixtureRequest) -> Team:
    return Team(service, database, request.node.name[:80])


async def remember(memory: Memory, text: str) -> str:
    return str((await memory.ask("remember", text=text, type="decision", typed=True))["id"])


async def sync(*memories: Memory) -> None:
    """Let each tell, then each take."""
    for memory in memories:
        await memory.ask("team_push")
    for memory in memories:
        await memory.ask("team_pull")


async def found(memory: Memory, query: str) -> list[str]:
    hits = (await memory.ask("search", query=query))["hits"]
    return [each["text"] for each in hits if each["id"].startswith("t")]


async def test_what_one_remembers_the_other_finds_until_it_is_corrected_and_forgotten(
    tmp_path: Path, team: Team
) -> None:
    async with team.laptop(tmp_path / "one", "ana") as ana, team.laptop(tmp_path / "two", "ben") as ben:
        west = await remember(ana, "Okapis sleep in the west barn.")
        await sync(ana, ben)
        assert await found(ben, "where do okapis sleep") == ["Okapis sleep in the west barn."]
        assert await found(ana, "where do okapis sleep") == [], "her own store has it"
        east = (await ana.ask("correct", id=west, text="Okapis sleep in the east barn."))["id"]
        await sync(ana, ben)
        assert await found(ben, "where do okapis sleep") == ["Okapis sleep in the east barn."]
        await ana.ask("forget", ids=[east], dryRun=False)
        await sync(ana, ben)
        await sync(ana, ben)
        assert await found(ben, "where do okapis sleep") == []
        status = await ana.ask("team_status")
        assert status["forgets"] == [], "both have applied it"
        assert (status["team"]["waiting"], status["team"]["parked"]) == (0, 0)
        assert {each["name"] for each in status["members"]["devices"]} == {"ana's one", "ben's two"}


async def test_a_persons_preference_is_on_all_their_devices_and_on_nobody_elses(tmp_path: Path, team: Team) -> None:
    async with (
        team.laptop(tmp_path / "one", "ana") as laptop,
        team.laptop(tmp_path / "two", "ana") as desktop,
        team.laptop(tmp_path / "three", "ben") as ben,
    ):
        await laptop.ask("remember", text="I like short answers.", type="preference", typed=True)
        await sync(laptop, desktop, ben)
        assert await found(desktop, "short answers") == ["I like short answers."]
        assert await found(ben, "short answers") == []


async def test_an_invitation_is_good_once_and_a_reader_tells_nothing(tmp_path: Path, team: Team) -> None:
    async with team.laptop(tmp_path / "one", "ana", role="reader") as ana:
        await remember(ana, "Okapis eat hay.")
        answer = await ana.ask("team_push")
        assert (answer["put"], answer["parked"], answer["waiting"]) == (0, 1, 0)
        assert [each["reason"] for each in (await ana.ask("team_status"))["parked"]] == ["reader"]
        await ana.ask("team_pull")
    async with opened(tmp_path / "two") as other:
        with pytest.raises(RequestInvalid, match="does not take this invitation"):
            await other.ask("team_join", url=team.url, project=team.name, invite="x" * 43)


async def test_a_secret_that_only_the_server_knows_of_is_parked_with_its_reason(tmp_path: Path, team: Team) -> None:
    async with team.laptop(tmp_path / "one", "ana") as ana:
        await remember(ana, "Okapis eat hay.")
        await ana.by_hand("UPDATE facts SET text = ?", "use ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a")
        await remember(ana, "Zebras eat grass.")
        answer = await ana.ask("team_push")
        assert (answer["put"], answer["parked"]) == (1, 1)
        assert [each["reason"] for each in (await ana.ask("team_status"))["parked"]] == ["secret"]


async def test_a_rebuilt_store_and_a_copied_home_go_on(tmp_path: Path, team: Team) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    async with team.laptop(tmp_path / "other", "ben") as ben:
        async with team.laptop(first, "ana") as ana:
            await remember(ana, "Okapis eat hay.")
            await remember(ben, "Zebras eat grass.")
            await sync(ana, ben)
        await rebuilt(first)
        head = (await ben.ask("team_status"))["members"]["head"]
        async with opened(first) as ana:
            await sync(ana)
            assert (await ben.ask("team_status"))["members"]["head"] == head, "nothing went up twice"
        shutil.copytree(first, second)
        await remember(ben, "Lions sleep.")
        await sync(ben)
        async with opened(first) as ana:
            await sync(ana)
            await ana.ask("team_pull")
        async with opened(second, key=find_workspace(str(first)).key) as copy:
            with pytest.raises(TeamAway, match="another device"):
                await copy.ask("team_pull")
            await sync(copy)
            assert await found(copy, "lions sleep") == ["Lions sleep."]
        devices = (await ben.ask("team_status"))["members"]["devices"]
        assert len(devices) == 3


async def test_who_leaves_takes_what_is_private_and_who_is_sent_away_loses_the_replica(
    tmp_path: Path, team: Team, database: TeamDatabase
) -> None:
    async with team.laptop(tmp_path / "one", "ana") as ana, team.laptop(tmp_path / "two", "ben") as ben:
        await remember(ana, "Okapis eat hay.")
        await ana.ask("remember", text="I like short answers.", type="preference", typed=True)
        await sync(ana, ben)
        assert (await ana.ask("team_leave"))["forgotten"] == 1
        assert not list(Path(ana.services.paths.folder).glob("team.*"))
        await sync(ben)
        assert await found(ben, "okapis hay") == ["Okapis eat hay."]
        with psycopg.connect(database.superuser, autocommit=True) as connection:
            connection.execute(
                "DELETE FROM siftd.members WHERE project_id = (SELECT id FROM siftd.projects WHERE name = %s)",
                (team.name,),
            )
        for _ in range(2):
            with pytest.raises(TeamDenied):
                await ben.ask("team_pull")
        assert not Path(ben.services.paths.team_replica).exists()
        assert "no member" in (await ben.ask("team_status"))["team"]["problem"]
