"""What was forgotten stays forgotten at the team's, though the own store is made anew from the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from opened_memory import DAY, Memory, opened, rebuilt
from team_stand_in import TeamStandIn, team_server

ANA = "ana" * 20
SHARE = ["memory", "fact", "session", "turn"]


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        yield found


async def tell(memory: Memory, server: TeamStandIn) -> str:
    """Tell the team a fact and the stories of a turn and a session; return the fact's id."""
    await memory.ask("team_join", url=server.url, project="okapi", invite=ANA, share=SHARE)
    fact = await memory.ask("remember", text="Okapis eat hay.", type="decision", typed=True)
    await memory.capture(1, tool="UserPromptSubmit", payload={"prompt": "Move the okapis"}, promptId="p1")
    await memory.capture(2, promptId="p1")
    await memory.capture(3, tool="Stop", payload={"last_assistant_message": "The okapis moved."}, promptId="p1")
    await memory.ask("drain")
    await memory.ask("team_push")
    await memory.ask("team_pull")
    assert len(server.texts()) == 3
    return str(fact["id"])


async def test_a_rebuild_and_a_restored_server_bring_back_nothing_that_was_forgotten(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with opened(tmp_path) as memory:
        fact = await tell(memory, server)
        held = dict(server.items)
        await memory.ask("forget", ids=[fact], dryRun=False)
        await memory.ask("forget", session="first", dryRun=False)
        await memory.ask("team_push")
        assert server.texts() == {}
    await rebuilt(tmp_path)
    server.restore(without=set(), unforgetting=held)
    async with opened(tmp_path) as memory:
        await memory.ask("team_pull")
        assert (await memory.ask("team_push"))["forgotten"] == 3
        assert server.texts() == {}


async def test_a_forgetting_that_waits_outlives_a_rebuild(tmp_path: Path, server: TeamStandIn) -> None:
    async with opened(tmp_path) as memory:
        fact = await tell(memory, server)
        await memory.ask("forget", ids=[fact], dryRun=False)
        await memory.ask("forget", session="first", dryRun=False)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await memory.ask("team_pull")
        await memory.ask("team_push")
        assert server.texts() == {}


async def test_what_its_age_took_away_stays_with_the_team_after_a_rebuild(tmp_path: Path, server: TeamStandIn) -> None:
    async with opened(tmp_path, store_keepDays=1) as memory:
        await tell(memory, server)
        memory.clock.at += 30 * DAY
        await memory.capture(4, ts=memory.clock.at)
        await memory.ask("prune")
    await rebuilt(tmp_path)
    async with opened(tmp_path, store_keepDays=1) as memory:
        await memory.ask("team_pull")
        assert (await memory.ask("team_push"))["forgotten"] == 0
        assert len(server.texts()) == 3


async def test_what_is_shared_is_looked_through_once_and_nothing_is_marked(tmp_path: Path, server: TeamStandIn) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, server)
    async with opened(tmp_path) as memory:
        await memory.ask("team_pull")
        assert await memory.rows("SELECT uid FROM team_dirty") == []
