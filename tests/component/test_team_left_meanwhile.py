"""What a team's server answers after its team was left is nobody's any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from opened_memory import Memory, opened
from team_stand_in import PROJECT, Refusal, TeamStandIn, team_server
from team_store import noted

from siftd.errors import SiftdError


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        yield found
        for each in found.held.values():
            each.set()


async def join(memory: Memory, server: TeamStandIn) -> None:
    await memory.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)


async def until_held(server: TeamStandIn) -> None:
    async with asyncio.timeout(30):
        while "changes" not in server.holding:
            await asyncio.sleep(0.02)


async def test_a_first_page_that_comes_after_leaving_is_not_kept(tmp_path: Path, server: TeamStandIn) -> None:
    server.publish(noted("a", "Zebras eat grass."))
    async with opened(tmp_path) as memory:
        await join(memory, server)
        server.held["changes"] = threading.Event()
        pulling = asyncio.create_task(memory.ask("team_pull"))
        await until_held(server)
        await memory.ask("team_leave")
        server.held.pop("changes").set()
        await asyncio.wait([pulling])
        pulling.exception()  # that there is no team any more may be told, or nothing
        assert not any(b"Zebras" in each.read_bytes() for each in tmp_path.rglob("team.db*"))


async def test_a_refusal_of_a_token_that_was_left_stops_no_team_that_was_joined_since(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with opened(tmp_path) as memory:
        await join(memory, server)
        server.held["changes"], server.refuse["changes"] = threading.Event(), Refusal(401)
        pulling = asyncio.create_task(memory.ask("team_pull"))
        await until_held(server)
        del server.refuse["changes"]
        await memory.ask("team_leave")
        await join(memory, server)
        server.held.pop("changes").set()
        with pytest.raises(SiftdError, match="knows this token no more"):
            await pulling
        status = await memory.ask("team_status", ask=False)
        assert (status["project"], status["team"]["problem"]) == (str(PROJECT), None)
