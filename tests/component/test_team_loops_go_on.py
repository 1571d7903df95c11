"""The loops that keep up with a team outlive whatever fails: with them the daemon would end, and capture."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from opened_memory import Memory, opened
from structlog.testing import capture_logs
from team_stand_in import TeamStandIn, team_server


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        yield found
        for each in found.held.values():
            each.set()


async def until_held(server: TeamStandIn) -> None:
    async with asyncio.timeout(60):
        while "changes" not in server.holding:
            await asyncio.sleep(0.02)


async def look_often(memory: Memory) -> None:
    """Let whatever turns without rest do so."""
    for _ in range(50):
        await memory.rows("SELECT 1")


async def test_an_own_store_that_fails_ends_no_loop_and_is_not_asked_without_rest(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with opened(tmp_path, team_push=True) as memory:
        await memory.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        server.held["changes"] = threading.Event()
        running = asyncio.create_task(memory.services.team_sync.run())
        try:
            await until_held(server)
            await memory.by_hand("ALTER TABLE team_links RENAME TO somewhere_else")
            with capture_logs() as logs:
                server.held.pop("changes").set()
                async with asyncio.timeout(60):
                    while not any(each["event"] == "team_away" for each in logs) and not running.done():
                        await asyncio.sleep(0.02)
                await look_often(memory)
            assert not running.done()
            assert sum(each["event"] == "team_away" for each in logs) < 10
            await memory.by_hand("ALTER TABLE somewhere_else RENAME TO team_links")
            await memory.ask("team_pull")
        finally:
            running.cancel()
            await asyncio.wait([running])


async def test_a_store_that_fails_from_the_start_on_is_not_asked_without_rest(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with opened(tmp_path, team_push=True) as memory:
        await memory.by_hand("ALTER TABLE team_links RENAME TO somewhere_else")
        with capture_logs() as logs:
            running = asyncio.create_task(memory.services.team_sync.run())
            await look_often(memory)
        assert not running.done()
        assert sum(each["event"] == "team_away" for each in logs) < 10
        running.cancel()
        await asyncio.wait([running])
