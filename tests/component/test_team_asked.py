"""Whoever asks the team's server says so: nothing is asked there else, and no secret goes along."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from opened_memory import Memory, opened
from team_stand_in import BEN, TeamStandIn, team_server
from team_store import noted, shared

from siftd.errors import RequestInvalid, SiftdError

RULE = "The okapi queue must never be drained by hand"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as made:
        made.publish(noted("a", RULE), shared("7", f"Okapi jobs hang with {TOKEN}", "issue"), author=BEN)
        yield made


@pytest_asyncio.fixture
async def memory(tmp_path: Path, server: TeamStandIn) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        await each.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        yield each


async def test_a_search_here_asks_no_server(memory: Memory, server: TeamStandIn) -> None:
    await memory.ask("team_pull")
    assert (await memory.ask("search", query="okapi", filters={"team": True}))["hits"]
    await memory.ask("recall", prompt="may the okapi queue be drained by hand?")
    assert server.questions == []


async def test_what_the_server_finds_has_the_number_that_it_has_here(memory: Memory, server: TeamStandIn) -> None:
    early = await memory.ask("team_search", query="okapi queue")
    assert len(early["found"][0]["id"]) == len("00000000-0000-0000-0000-000000000000"), "it is not here yet"
    await memory.ask("team_pull")
    answer = await memory.ask("team_search", query="okapi queue", sources=["memory"], strategy="hybrid")
    (found,) = answer["found"]
    assert (found["id"], found["author"], found["text"], found["ranks"]) == ("t1", "Ben", RULE, {"keyword": 1})
    assert (answer["strategy"], answer["degraded"]) == ("keyword", "no vectors")
    assert server.questions == ["okapi queue"] * 2


async def test_no_secret_goes_with_a_question_or_comes_with_an_answer(memory: Memory, server: TeamStandIn) -> None:
    answer = await memory.ask("team_search", query=f"okapi jobs {TOKEN}")
    assert TOKEN not in server.questions[0]
    assert "okapi jobs" in server.questions[0]
    assert TOKEN not in str(answer)


async def test_without_a_team_or_its_server_it_is_said(tmp_path: Path, memory: Memory, server: TeamStandIn) -> None:
    server.raw["search"] = b"no message"
    with pytest.raises(SiftdError, match="no message of the protocol"):
        await memory.ask("team_search", query="okapi")
    other = tmp_path / "other"
    other.mkdir()
    async with opened(other) as alone:
        with pytest.raises(RequestInvalid, match="no team"):
            await alone.ask("team_search", query="okapi")
