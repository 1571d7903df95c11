"""Snapshots, backups, and the rebuild that begins from them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from opened_memory import DAY, NOW, Hands, Memory, opened, rebuilt
from structlog.testing import capture_logs

from siftd.errors import RequestInvalid, StoreCorrupt
from siftd.log import sealing
from siftd.store import snapshots

EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"


async def make(memory: Memory) -> snapshots.Snapshot:
    return snapshots.make_snapshot(memory.services.paths.database, memory.services.paths.snapshots)


async def lose_the_log(memory: Memory) -> None:
    """Seal the log and remove what was sealed, as retention does once a snapshot covers it."""
    await memory.services.committer.seal_log()
    for each in sealing.list_sealed(memory.services.paths.wal):
        each.path.unlink()


def damage(database: str) -> None:
    data = bytearray(Path(database).read_bytes())
    data[100:4000] = b"\x55" * 3900
    Path(database).write_bytes(bytes(data))


async def test_a_snapshot_is_whole_private_and_named_by_what_it_covers(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(3):
            await memory.capture(number)
        made = await make(memory)
        assert (made.seq, made.path.name[:2], made.is_whole) == (3, "3-", True)
        assert made.path.stat().st_mode & 0o777 == 0o600
        assert list(made.path.parent.iterdir()) == [made.path]
        copy = sqlite3.connect(made.path)
        assert copy.execute(EVERYTHING).fetchall() == await memory.rows(EVERYTHING)
        copy.close()


async def test_only_the_newest_two_are_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(4):
            await memory.capture(number)
            await make(memory)
        assert [each.seq for each in snapshots.list_snapshots(memory.services.paths.snapshots)] == [4, 3]


async def test_a_store_that_changes_is_copied_once_a_day(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        folder = memory.services.paths.snapshots
        await memory.capture(0)
        await memory.services.maintenance.run()
        assert snapshots.list_snapshots(folder) == []
        clock.at = NOW + DAY
        await memory.services.maintenance.run()
        [first] = snapshots.list_snapshots(folder)
        os.utime(first.path, (clock.at // 1000,) * 2)
        await memory.capture(1)
        await memory.services.maintenance.run()
        assert snapshots.list_snapshots(folder) == [first]
        clock.at += DAY
        await memory.services.maintenance.run()
        assert [each.seq for each in snapshots.list_snapshots(folder)] == [2, 1]
        clock.at += DAY
        await memory.services.maintenance.run()
        assert [each.seq for each in snapshots.list_snapshots(folder)] == [2, 1]


async def test_a_rebuild_from_the_log_alone_keeps_every_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(5):
            await memory.capture(number)
        await memory.services.committer.seal_log()
        await memory.capture(5)
        before = await memory.rows(EVERYTHING)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
        assert await memory.capture(6) == 7


async def test_a_rebuild_begins_from_the_newest_snapshot_and_replays_the_rest(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(3):
            await memory.capture(number)
        await memory.ask("drain")
        await make(memory)
        await lose_the_log(memory)
        await memory.capture(3)
        before = await memory.rows(EVERYTHING)
        told = await memory.rows("SELECT event_id, text FROM summaries ORDER BY id")
        assert len(told) == 3
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
        assert await memory.rows("SELECT event_id, text FROM summaries ORDER BY id") == told
        assert await memory.capture(4) == 5


async def test_a_damaged_snapshot_is_passed_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(0)
        good = await make(memory)
        await memory.capture(1)
        bad = await make(memory)
        damage(str(bad.path))
        assert snapshots.find_verified(memory.services.paths.snapshots) == good
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id FROM events") == [(1,), (2,)]


async def test_a_damaged_database_is_set_aside_and_rebuilt_without_asking(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(3):
            await memory.capture(number)
        await make(memory)
        await lose_the_log(memory)
        await memory.capture(3)
        before = await memory.rows(EVERYTHING)
        database = memory.services.paths.database
    damage(database)
    with capture_logs() as logs:
        async with opened(tmp_path) as memory:
            assert await memory.rows(EVERYTHING) == before
    assert [each["event"] for each in logs][:2] == ["database_set_aside", "snapshot_restored"]
    assert Path(f"{database}.damaged-{NOW}").exists()


async def test_a_database_older_than_its_snapshot_is_replaced_by_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(0)
        database = memory.services.paths.database
    old = Path(database).read_bytes()
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        await memory.capture(2)
        await make(memory)
        await lose_the_log(memory)
        before = await memory.rows(EVERYTHING)
    Path(database).write_bytes(old)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
        assert await memory.capture(3) == 4


async def test_the_mark_of_mem_rebuild_sets_a_whole_database_aside_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(0)
        await memory.by_hand("UPDATE events SET tool = 'edited by hand'")
        mark = Path(memory.services.paths.rebuild)
        database = memory.services.paths.database
    mark.touch()
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id, tool FROM events") == [(1, "Bash")]
    assert not mark.exists()
    assert Path(f"{database}.damaged-{NOW}").exists()


async def test_damage_that_is_found_while_it_runs_is_mended_at_the_next_start(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        for number in range(40):
            await memory.capture(number, tool="x" * 200)
        before = await memory.rows(EVERYTHING)
        clock.at += DAY
        paths = memory.services.paths
        with sqlite3.connect(paths.database) as person:
            [(root,)] = person.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events_by_session'")
            person.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        person.close()
        with Path(paths.database).open("r+b") as file:
            file.seek((root - 1) * 4096)
            file.write(b"\x55" * 4096)
        with capture_logs() as logs:
            await memory.services.maintenance.run()
        assert [each["event"] for each in logs] == ["database_damaged"]
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


async def test_a_backup_is_a_whole_copy_in_a_new_private_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(0)
        target = tmp_path / "mine.sqlite"
        answer = await memory.ask("backup", path=str(target))
        assert (answer["seq"], answer["bytes"]) == (1, target.stat().st_size)
        assert target.stat().st_mode & 0o777 == 0o600
        with pytest.raises(RequestInvalid):
            await memory.ask("backup", path=str(target))
        with pytest.raises(RequestInvalid):
            await memory.ask("backup", path=str(tmp_path / "nowhere" / "mine.sqlite"))


async def test_a_copy_that_is_not_whole_leaves_no_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(0)
        database = memory.services.paths.database
    data = Path(database).read_bytes()
    Path(database).write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreCorrupt):
        snapshots.copy_database(database, tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()
