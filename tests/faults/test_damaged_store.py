"""A database that is deleted, cut short, garbage or read-only, and a corrupt log beside it: rebuilt, counted, told."""

from __future__ import annotations

import contextlib
import gzip
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, opened, rebuilt
from structlog.testing import capture_logs

from siftd.log import sealing
from siftd.store import snapshots
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths

EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"


def paths_of(folder: Path) -> WorkspacePaths:
    return Home(str(folder / "home")).for_workspace(find_workspace(str(folder)).key)


async def fill(memory: Memory, *, has_snapshot: bool) -> list[tuple[Any, ...]]:
    """Capture events 1 to 6 over a compressed segment, a plain sealed one and the active one; return their rows."""
    for number in range(6):
        await memory.capture(number)
        if number in (1, 3):
            await memory.services.committer.seal_log()
        if number == 1:
            sealing.compress(memory.services.paths.wal)
    if has_snapshot:
        snapshots.make_snapshot(memory.services.paths.database, memory.services.paths.snapshots)
    return await memory.rows(EVERYTHING)


def corrupt(paths: WorkspacePaths) -> None:
    """Change a letter of event 1, in the compressed segment, and of event 3, in the plain one."""
    for number, segment in zip((0, 2), sorted(Path(paths.folder).glob("wal-*")), strict=True):
        is_compressed = segment.suffix == ".gz"
        data = gzip.decompress(segment.read_bytes()) if is_compressed else segment.read_bytes()
        data = data.replace(b"part%d" % number, b"bart%d" % number, 1)
        segment.write_bytes(gzip.compress(data) if is_compressed else data)


def delete(file: Path) -> None:
    file.unlink(missing_ok=True)


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def make_garbage(file: Path) -> None:
    file.write_bytes(os.urandom(file.stat().st_size))


@pytest.mark.parametrize("damage", [delete, cut_short, make_garbage])
@pytest.mark.parametrize("has_snapshot", [False, True])
async def test_beside_a_corrupt_log_every_good_record_is_kept_and_the_rest_told(
    tmp_path: Path, damage: Callable[[Path], None], has_snapshot: bool
) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory, has_snapshot=has_snapshot)
    paths = paths_of(tmp_path)
    corrupt(paths)
    damage(Path(paths.database))
    with capture_logs() as logs:
        async with opened(tmp_path) as memory:
            kept = before if has_snapshot else [row for row in before if row[0] not in (1, 3)]
            assert await memory.rows(EVERYTHING) == kept
            told = (await memory.ask("info"))["recovery"]["corruptLines"]
            assert await memory.capture(9) == 7, "no id is given twice"
    assert told == (0 if has_snapshot else 2), "a snapshot has what these lines held"
    assert len(list(Path(paths.quarantine).glob("corrupt-*"))) == told
    if damage is not delete:
        assert [each["event"] for each in logs].count("database_set_aside") == 1
        assert list(Path(paths.folder).glob("db.sqlite.damaged-*"))


async def test_a_database_that_was_made_read_only_is_written_again(tmp_path: Path) -> None:
    """By a backup program, or by a person who wanted to be careful. It is ours, and only ours."""
    async with opened(tmp_path) as memory:
        before = await fill(memory, has_snapshot=False)
    database = Path(paths_of(tmp_path).database)
    database.chmod(0o400)
    async with opened(tmp_path) as memory:
        assert database.stat().st_mode & 0o777 == 0o600
        assert await memory.capture(9) == 7
        assert await memory.rows(EVERYTHING) == [*before, *(await memory.rows(f"{EVERYTHING} LIMIT 1 OFFSET 6"))]


@pytest.mark.parametrize("has_snapshot", [False, True])
async def test_a_database_that_is_deleted_while_it_is_used_comes_back_from_the_log(
    tmp_path: Path, has_snapshot: bool
) -> None:
    async with opened(tmp_path) as memory:
        assert memory.services.storage.is_database_in_place()
        before = await fill(memory, has_snapshot=has_snapshot)
        await rebuilt(tmp_path)
        assert not memory.services.storage.is_database_in_place()
        assert await memory.capture(9) == 7, "the log has it"
    async with opened(tmp_path) as memory:
        assert (await memory.ask("info"))["recovery"]["databaseMadeAnewTs"] == NOW
        found = await memory.rows(EVERYTHING)
        assert found[:6] == before
        assert [row[0] for row in found] == [1, 2, 3, 4, 5, 6, 7]


async def test_a_log_that_is_deleted_while_it_is_used_is_begun_anew_and_what_it_held_copied_at_once(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory, has_snapshot=True)
        assert await memory.capture(8) == 7, "after the snapshot: in the log and the database only"
        delete_log(paths_of(tmp_path))
        await memory.services.maintenance.run()
        assert (await memory.ask("info"))["recovery"]["logLostTs"] == NOW
        assert await memory.capture(9) == 8, "in a log that has a name again"
        await memory.services.maintenance.run()
        assert [each.seq for each in snapshots.list_snapshots(memory.services.paths.snapshots)] == [7, 6], "once"
        whole = await memory.rows(EVERYTHING)
    assert whole[:6] == before
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == whole


async def test_a_log_that_is_deleted_between_two_daemons_is_told_and_what_it_held_copied(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory, has_snapshot=False)
    delete_log(paths_of(tmp_path))
    async with opened(tmp_path) as memory:
        assert (await memory.ask("info"))["recovery"]["logLostTs"] == NOW
        await memory.services.maintenance.run()
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


async def test_a_person_s_lock_keeps_no_tick_from_the_log_s_upkeep(tmp_path: Path) -> None:
    """A tick asks the database about a lost log only where one is lost."""
    async with opened(tmp_path) as memory:
        await fill(memory, has_snapshot=False)
        with contextlib.closing(sqlite3.connect(memory.services.paths.database, isolation_level=None)) as person:
            person.execute("BEGIN IMMEDIATE")
            await memory.services.maintenance.run()
        assert [each.suffix for each in Path(memory.services.paths.folder).glob("wal-*")] == [".gz", ".gz"]


def delete_log(paths: WorkspacePaths) -> None:
    for segment in Path(paths.folder).glob("wal*ndjson*"):
        segment.unlink()
