"""What GitHub, GitLab and CI exported goes from one laptop to everybody, and is found by its source."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opened_memory import Memory, opened
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Service, team_service

from siftd.errors import RequestInvalid
from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_server.sources import list_sources, switch

DATA = Path(__file__).parents[2] / "data" / "sources"


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def service(database: TeamDatabase) -> Iterator[Service]:
    with team_service(database.app) as served:
        yield served


class Tracked:
    """A project of one test's own that takes all sources, or none."""

    def __init__(self, service: Service, database: TeamDatabase, name: str) -> None:
        self._service = service
        self.database = database
        self.name = name

    @asynccontextmanager
    async def laptop(self, folder: Path, person: str, *, takes: bool = True) -> AsyncIterator[Memory]:
        with as_owner(self.database.operator) as connection:
            project = ensure_project(connection, self.name, "hash-384")
            for source in ("issue", "comment", "job"):
                switch(connection, project, source, is_on=takes)  # type: ignore[arg-type]
            code = invite(connection, project, person, "writer").code
        async with opened(folder) as memory:
            await memory.ask("team_join", url=f"http://{self._service.host}", project=self.name, invite=code)
            yield memory


@pytest.fixture
def team(service: Service, database: TeamDatabase, request: pytest.FixtureRequest) -> Tracked:
    return Tracked(service, database, request.node.name[:80])


async def imported(memory: Memory, path: Path, source: str, form: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = await memory.ask("import_source", path=str(path), source=source, form=form)
    return answer


async def found(memory: Memory, query: str, source: str) -> list[str]:
    await memory.ask("team_pull")
    hits = (await memory.ask("search", query=query, filters={"source": source}))["hits"]
    return [each["text"].partition("\n")[0] for each in hits if each["id"].startswith("t")]


async def test_issues_comments_and_jobs_of_one_are_found_by_the_other(tmp_path: Path, team: Tracked) -> None:
    async with team.laptop(tmp_path / "one", "ana") as ana, team.laptop(tmp_path / "two", "ben") as ben:
        assert (await imported(ana, DATA / "github-issues.json", "issue", "github"))["put"] == 2
        assert (await imported(ana, DATA / "github-comments.json", "comment", "github"))["put"] == 1
        assert (await imported(ana, DATA / "actions.log", "job", "actions"))["put"] == 1
        assert await found(ben, "login with an expired token", "issue") == ["Login fails with an expired token"]
        assert await found(ben, "seen too", "comment") == ["Seen too"]
        assert await found(ben, "pytest failed", "job") == ["actions"]
        assert await found(ana, "login with an expired token", "issue") == ["Login fails with an expired token"]
        again = await imported(ben, DATA / "github-issues.json", "issue", "github")
        assert (again["put"], again["unchanged"], again["refused"]) == (0, 2, {}), "who imports it makes no difference"
    with as_owner(team.database.operator) as connection:
        project = ensure_project(connection, team.name, "hash-384")
        assert list_sources(connection, project) == {"issue": (True, 2), "comment": (True, 1), "job": (True, 1)}


async def test_what_is_edited_there_is_replaced_and_what_is_deleted_goes(tmp_path: Path, team: Tracked) -> None:
    def lines(**fields: Any) -> Path:
        path = tmp_path / "lines.jsonl"
        path.write_text(json.dumps({"source": "issue", "ref": "tracker/1", "updated": 5_000, **fields}) + "\n")
        return path

    async with team.laptop(tmp_path / "one", "ana") as ana, team.laptop(tmp_path / "two", "ben") as ben:
        long = await imported(ana, lines(title="Okapis", text="They sleep in the west barn. " * 500), "issue")
        assert long["put"] > 3
        shorter = await imported(
            ben, lines(title="Okapis", text="They sleep in the east barn.", updated=6_000), "issue"
        )
        assert shorter["put"] == long["put"], "the pieces that vanish are archived"
        assert await found(ana, "where do okapis sleep", "issue") == ["Okapis"]
        older = await imported(ana, lines(title="Okapis", text="They do not sleep."), "issue")
        assert (older["put"], older["refused"]) == (0, {})
        gone = await imported(ben, lines(deleted=True, updated=7_000), "issue")
        assert gone["refused"] == {}
        assert await found(ana, "where do okapis sleep", "issue") == []


async def test_a_project_that_takes_none_says_who_can_change_that(tmp_path: Path, team: Tracked) -> None:
    async with team.laptop(tmp_path / "one", "ana", takes=False) as ana:
        with pytest.raises(RequestInvalid, match="takes no issues") as refused:
            await imported(ana, DATA / "github-issues.json", "issue", "github")
        assert "--on issue" in refused.value.hint
