"""A page of the database that a disk has lost, whichever it is: the next start has everything all the same."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, opened

from siftd.errors import StoreCorrupt
from siftd.store import snapshots
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths

EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"
PAGE = 8192


def paths_of(folder: Path) -> WorkspacePaths:
    return Home(str(folder / "home")).for_workspace(find_workspace(str(folder)).key)


async def fill(memory: Memory) -> list[Any]:
    for number in range(6):
        await memory.capture(number)
    await memory.ask("remember", text="the build needs four cores")
    await memory.ask("pause", session="quiet")
    return await memory.rows(EVERYTHING)


def pages_of(database: Path) -> Iterator[int]:
    yield from range(1, database.stat().st_size // PAGE)  # the first is the header: no database any more


def zero(database: Path, page: int) -> None:
    with database.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(bytes(PAGE))


async def test_whichever_page_is_zeroed_the_next_start_has_every_event_memory_and_opt_out(tmp_path: Path) -> None:
    """No table is worth less than another: at the start each is read, and damage in any of them is dealt with alike."""
    folder, whole = tmp_path / "workspace", tmp_path / "whole"
    async with opened(folder) as memory:
        before = await fill(memory)
    shutil.copytree(folder, whole)
    database = Path(paths_of(folder).database)
    for page in list(pages_of(database)):
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        zero(database, page)
        async with opened(folder) as memory:
            await memory.capture(10)
            assert await memory.rows("SELECT session_id FROM opt_outs") == [("quiet",)], page
        Path(paths_of(folder).rebuild).touch()
        async with opened(folder) as memory:
            assert (await memory.rows(EVERYTHING))[: len(before)] == before, page
            assert len(await memory.rows("SELECT 1 FROM facts")) == 1, page


@pytest.mark.parametrize("table", ["sqlite_sequence", "opt_outs", "migrations"])
async def test_a_damaged_small_table_is_found_at_the_start_and_the_database_set_aside(
    tmp_path: Path, table: str
) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory)
    paths = paths_of(tmp_path)
    connection = sqlite3.connect(paths.database)
    [(page,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    connection.close()
    zero(Path(paths.database), page - 1)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
    assert list(Path(paths.folder).glob("db.sqlite.damaged-*"))


async def test_a_number_of_ours_that_is_none_is_damage_like_any_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory)
        await memory.by_hand("UPDATE meta SET value = 'many' WHERE key = 'applied_seq'")
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


async def test_a_database_whose_migrations_are_gone_is_never_copied_over_a_good_snapshot(tmp_path: Path) -> None:
    paths = paths_of(tmp_path)
    async with opened(tmp_path) as memory:
        before = await fill(memory)
        good = snapshots.make_snapshot(paths.database, paths.snapshots)
        await memory.by_hand("DELETE FROM migrations")
        with pytest.raises(StoreCorrupt):
            snapshots.make_snapshot(paths.database, paths.snapshots)
        assert snapshots.list_snapshots(paths.snapshots) == [good]
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


async def test_a_snapshot_that_cannot_be_used_is_passed_over_for_the_one_before_and_at_last_for_the_log(
    tmp_path: Path,
) -> None:
    paths = paths_of(tmp_path)
    async with opened(tmp_path) as memory:
        before = await fill(memory)
        good = snapshots.make_snapshot(paths.database, paths.snapshots)
    spoilt = Path(paths.snapshots) / "new.sqlite"
    shutil.copy(good.path, spoilt)
    connection = sqlite3.connect(spoilt, isolation_level=None)
    connection.execute("DELETE FROM migrations")
    connection.close()
    spoilt.rename(Path(paths.snapshots) / f"{good.seq + 1}-{snapshots.digest(spoilt)}.sqlite")
    for _ in range(2):  # the second time the good one is gone too
        for each in Path(paths.folder).glob("db.sqlite*"):
            each.unlink()
        async with opened(tmp_path) as memory:
            assert await memory.rows(EVERYTHING) == before
            assert await memory.rows("SELECT count(*) FROM migrations WHERE ts <> ?", NOW) == [(0,)]
        good.path.unlink(missing_ok=True)
