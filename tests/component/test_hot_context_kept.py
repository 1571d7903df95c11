"""The hot context over a store: what reaches it, and how forgetting, scrubbing and replacing reach it too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from opened_memory import DAY, Memory, opened

from siftd.daemon import hot_context
from siftd.install.hot_context import NOTHING_YET, link
from siftd.workspace.paths import GLOBAL, Home

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Shared:
    """The store of what holds in every project, and the file."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory = memory
        self.home: Home = memory.services.paths.home
        self.file = Path(self.home.hot_context)
        link(self.home, str(folder / "CLAUDE.md"), str(folder))

    async def remember(self, text: str, **fields: Any) -> str:
        return str((await self.memory.ask("remember", **{"text": text, "typed": True, **fields}))["id"])

    async def shown(self) -> list[str]:
        """Return the texts in the file once it is refreshed."""
        await self.memory.services.refresh_hot_context()
        return self.held()

    def held(self) -> list[str]:
        lines = self.file.read_text().splitlines()
        return [line.partition(") ")[2] for line in lines if line.startswith("- ")]


@pytest_asyncio.fixture
async def shared(tmp_path: Path) -> AsyncIterator[Shared]:
    async with opened(tmp_path, key=GLOBAL, facts_person="anna") as memory:
        yield Shared(memory, tmp_path)


async def test_what_a_person_said_for_every_project_stands_in_it_and_nothing_else_does(
    shared: Shared, tmp_path: Path
) -> None:
    assert await shared.shown() == []
    await shared.remember("Sign every commit", pin=True, type="instruction")
    await shared.remember("I like short answers", type="preference")
    for number in range(30):
        await shared.remember(f"An agent claims {number}", typed=False, importance=5, pin=True)
    await shared.memory.by_hand(
        "INSERT INTO facts (ts, updated_ts, text, importance, said_by) VALUES (1, 1, 'A page claims', 5, 'outside'),"
        " (1, 1, 'A tool claims', 5, 'output')"
    )
    async with opened(tmp_path / "project", facts_person="anna") as project:
        await project.ask("remember", text="Of this project alone", typed=True, importance=5, pin=True)
        hot_context.keep(shared.home, "anna", shared.memory.clock.at)
    assert await shared.shown() == ["Sign every commit", "I like short answers"]


async def test_at_most_twenty_facts_stand_in_it(shared: Shared) -> None:
    for number in range(9):
        await shared.remember(f"pinned {number}", pin=True)
        await shared.remember(f"vital {number}", importance=5)
        await shared.remember(f"preference {number}", type="preference")
        await shared.remember(f"other {number}")
    assert len(await shared.shown()) == 5 + 6 + 4 + 4


async def test_what_is_replaced_or_has_expired_goes_at_once(shared: Shared) -> None:
    old = await shared.remember("Use npm", importance=5)
    await shared.remember("The freeze holds", importance=5, until=shared.memory.clock.at + DAY)
    assert len(await shared.shown()) == 2
    await shared.memory.ask("supersede", id=old, text="Use pnpm", typed=True)
    assert await shared.shown() == ["Use pnpm", "The freeze holds"]
    shared.memory.clock.at += DAY
    assert await shared.shown() == ["Use pnpm"]


async def test_what_is_forgotten_leaves_the_file_before_forget_answers_and_the_persons_own_words_stay(
    shared: Shared,
) -> None:
    shared.file.write_text(f"mine\n{shared.file.read_text()}")
    gone = await shared.remember("The old address is 10.0.0.7")
    await shared.remember("Sign every commit")
    assert len(await shared.shown()) == 2
    await shared.memory.ask("forget", dryRun=False, ids=[gone])
    assert "10.0.0.7" not in shared.file.read_text()
    assert NOTHING_YET in shared.file.read_text()
    assert await shared.shown() == ["Sign every commit"]
    assert shared.file.read_text().startswith("mine\n")


async def test_what_today_s_rules_hide_is_scrubbed_out_of_the_file(shared: Shared) -> None:
    await shared.remember("The token is in the vault")
    await shared.memory.by_hand("UPDATE facts SET text = ?", f"The token is {TOKEN}")
    assert TOKEN in (await shared.shown())[0]
    await shared.memory.ask("scrub", dryRun=False)
    assert TOKEN not in shared.file.read_text()
    assert TOKEN not in (await shared.shown())[0]


async def test_another_persons_private_facts_do_not_stand_in_it(shared: Shared, tmp_path: Path) -> None:
    mine = await shared.remember("anna likes tabs", type="preference", pin=True)
    await shared.memory.ask("create_pod", type="person", ids=[mine])
    assert await shared.shown() == ["anna likes tabs"]
    hot_context.keep(shared.home, "ben", shared.memory.clock.at)
    assert shared.held() == []


async def test_without_the_file_nothing_is_read_or_written(shared: Shared) -> None:
    shared.file.unlink()
    await shared.remember("Sign every commit")
    await shared.memory.services.refresh_hot_context()
    await shared.memory.ask("forget", dryRun=False, query="commit")
    assert not shared.file.exists()
