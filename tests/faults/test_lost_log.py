"""A log that has lost what the database still has: deleted, cut, damaged, or another's. Nothing is thrown away."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, opened
from structlog.testing import capture_logs

from siftd.crash_guard import CrashGuard
from siftd.log import sealing
from siftd.store import snapshots
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths

EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"


def paths_of(folder: Path) -> WorkspacePaths:
    return Home(str(folder / "home")).for_workspace(find_workspace(str(folder)).key)


async def fill(memory: Memory) -> list[tuple[Any, ...]]:
    """Capture events over a compressed segment, a plain sealed one and the active one; return their rows."""
    for number in range(9):
        await memory.capture(number)
        if number in (2, 5):
            await memory.services.committer.seal_log()
        if number == 2:
            sealing.compress(memory.services.paths.wal)
    return await memory.rows(EVERYTHING)


def sealed(paths: WorkspacePaths) -> list[Path]:
    return sorted(Path(paths.folder).glob("wal-*"))


def delete_one(paths: WorkspacePaths) -> None:
    sealed(paths)[1].unlink()


def delete_all_sealed(paths: WorkspacePaths) -> None:
    for each in sealed(paths):
        each.unlink()


def delete_everything(paths: WorkspacePaths) -> None:
    delete_all_sealed(paths)
    Path(paths.wal).unlink()


def empty_the_active_one(paths: WorkspacePaths) -> None:
    os.truncate(paths.wal, 0)


def flip_a_bit(paths: WorkspacePaths) -> None:
    data = bytearray(gzip.decompress(sealed(paths)[0].read_bytes()))
    data[data.index(b"part1")] ^= 1
    sealed(paths)[0].write_bytes(gzip.compress(bytes(data)))


def ask_for_a_rebuild(paths: WorkspacePaths) -> None:
    Path(paths.rebuild).touch()


LOSSES = [delete_one, delete_all_sealed, delete_everything, empty_the_active_one, flip_a_bit]


@pytest.mark.parametrize("lose", LOSSES)
async def test_a_rebuild_keeps_every_event_that_the_whole_database_still_had(
    tmp_path: Path, lose: Callable[[WorkspacePaths], None]
) -> None:
    """Whatever became of the log: what was acknowledged is taken over from the database that was set aside."""
    async with opened(tmp_path) as memory:
        before = await fill(memory)
    paths = paths_of(tmp_path)
    lose(paths)
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
        told = (await memory.ask("info"))["recovery"]["rescued"]
        assert (told["events"] > 0, told["left"]) == (True, 0)
        assert await memory.capture(9) == 10, "no id is given twice"
        await memory.services.maintenance.run()
        assert [each.seq for each in snapshots.list_snapshots(paths.snapshots)] == [10], "copied at once"
        whole = await memory.rows(EVERYTHING)
    for each in Path(paths.folder).glob("db.sqlite*"):
        each.unlink()
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == whole


async def test_a_rebuild_without_any_loss_takes_nothing_over_and_says_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        before = await fill(memory)
    ask_for_a_rebuild(paths_of(tmp_path))
    with capture_logs() as logs:
        async with opened(tmp_path) as memory:
            assert await memory.rows(EVERYTHING) == before
            assert (await memory.ask("info"))["recovery"]["rescued"] is None
    assert "events_rescued" not in {each["event"] for each in logs}


async def test_a_bit_that_flipped_in_an_identity_doubles_nothing(tmp_path: Path) -> None:
    """Under its number, with its time and words, it is what the log has under its whole name."""
    remembered = "SELECT id, uid, text FROM facts ORDER BY id"
    async with opened(tmp_path) as memory:
        before = await fill(memory)
        await memory.ask("remember", text="the build needs four cores")
        memories = await memory.rows(remembered)
    paths = paths_of(tmp_path)
    with contextlib.closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("UPDATE events SET uid = '!' || substr(uid, 2) WHERE id = 3")
        connection.execute("UPDATE facts SET uid = '!' || substr(uid, 2)")
        connection.commit()
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before
        assert await memory.rows(remembered) == memories


async def test_memories_their_changes_and_what_was_paused_outlive_a_lost_log(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        first = (await memory.ask("remember", text="the build needs four cores"))["id"]
        second = (await memory.ask("remember", text="the tests need a clean database"))["id"]
        await memory.ask("link", **{"from": first, "to": second}, relation="related_to")
        memory.clock.at += 1
        await memory.ask("update", id=first, text="the build needs eight cores")
        await memory.ask("pause", session="quiet")
        applied = (await memory.ask("info"))["log"]["appliedSeq"]
        told = "SELECT id, text, uid FROM facts ORDER BY id"
        before, links = await memory.rows(told), await memory.rows("SELECT * FROM fact_links")
    paths = paths_of(tmp_path)
    delete_everything(paths)
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        assert await memory.rows(told) == before
        assert await memory.rows("SELECT * FROM fact_links") == links
        assert await memory.rows("SELECT session_id FROM opt_outs") == [("quiet",)]
        assert await memory.capture(1) == applied + 1, "no seq is given twice either"


async def test_a_persons_merge_of_two_entities_outlives_a_lost_log(tmp_path: Path) -> None:
    merged = "SELECT e.name, i.name FROM entities e JOIN entities i ON i.id = e.merged_into"
    async with opened(tmp_path) as memory:
        for text in ("The auth service depends on Redis.", "The login service depends on Kafka."):
            await memory.ask("remember", text=text, type="fact", typed=True)
        await memory.services.consolidator.tick()
        await memory.ask("merge_entities", id="login service", into="auth service")
        assert await memory.rows(merged) == [("login service", "auth service")]
    paths = paths_of(tmp_path)
    delete_everything(paths)
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.tick()
        assert await memory.rows(merged) == [("login service", "auth service")]


async def test_a_forgotten_event_is_not_taken_over_though_the_log_lost_its_tombstone(tmp_path: Path) -> None:
    """The tombstones are in the database that is set aside as well; and that holds the event no more."""
    async with opened(tmp_path) as memory:
        await fill(memory)
        await memory.ask("forget", ids=["e2"], dryRun=False)
        kept = await memory.rows(EVERYTHING)
        tombstones = await memory.rows("SELECT kind, key FROM tombstones ORDER BY kind, key")
    paths = paths_of(tmp_path)
    delete_everything(paths)
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == kept
        assert await memory.rows("SELECT kind, key FROM tombstones ORDER BY kind, key") == tombstones
        assert await memory.services.committer.run(lambda _: memory.services.storage.tombstones.is_empty) is False


async def test_what_does_not_pass_its_hash_stays_in_the_set_aside_file_and_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        await memory.by_hand("UPDATE events SET payload_json = '{}' WHERE id = 4")
    paths = paths_of(tmp_path)
    delete_everything(paths)
    ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        assert [row[0] for row in await memory.rows(EVERYTHING)] == [1, 2, 3, 5, 6, 7, 8, 9]
        told = (await memory.ask("info"))["recovery"]["rescued"]
        assert (told["events"], told["left"]) == (8, 1)
    assert list(Path(paths.folder).glob("db.sqlite.damaged-*[0-9]"))


async def test_another_workspaces_segment_is_set_aside_and_brings_nothing_in(tmp_path: Path) -> None:
    other, mine = tmp_path / "other", tmp_path / "mine"
    async with opened(other) as memory:
        for number in range(20):
            await memory.capture(number, sessionId="foreign")
    async with opened(mine) as memory:
        before = await fill(memory)
    paths = paths_of(mine)
    shutil.copy(paths_of(other).wal, paths.wal)
    ask_for_a_rebuild(paths)
    async with opened(mine) as memory:
        assert await memory.rows(EVERYTHING) == before
        recovery = (await memory.ask("info"))["recovery"]
        assert recovery["foreignSegments"] == 1
        assert recovery["rescued"]["events"] == 3, "what the segment that was overwritten had"
    assert [each.name for each in Path(paths.quarantine).iterdir()] == ["foreign-wal.ndjson"]


async def test_another_workspaces_database_is_set_aside_and_brings_nothing_in(tmp_path: Path) -> None:
    other, mine = tmp_path / "other", tmp_path / "mine"
    async with opened(other) as memory:
        await memory.capture(1, sessionId="foreign")
    async with opened(mine) as memory:
        before = await fill(memory)
    paths = paths_of(mine)
    shutil.copy(paths_of(other).database, paths.database)
    async with opened(mine) as memory:
        assert await memory.rows(EVERYTHING) == before
        assert (await memory.ask("info"))["recovery"]["rescued"] is None


async def test_a_log_that_is_emptied_while_it_is_written_is_begun_anew_and_what_it_held_copied(tmp_path: Path) -> None:
    """Its inode is the same: only its size tells."""
    paths = paths_of(tmp_path)
    async with opened(tmp_path) as memory:
        await fill(memory)
        empty_the_active_one(paths)
        await memory.services.maintenance.run()
        assert (await memory.ask("info"))["recovery"]["logLostTs"] == NOW
        assert await memory.capture(9) == 10
        await memory.services.maintenance.run()
        whole = await memory.rows(EVERYTHING)
    for each in Path(paths.folder).glob("db.sqlite*"):
        each.unlink()
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == whole


async def test_a_log_that_was_emptied_between_two_daemons_is_told_and_what_it_held_copied(tmp_path: Path) -> None:
    paths = paths_of(tmp_path)
    async with opened(tmp_path) as memory:
        before = await fill(memory)
    empty_the_active_one(paths)
    async with opened(tmp_path) as memory:
        assert (await memory.ask("info"))["recovery"]["logLostTs"] == NOW
        await memory.services.maintenance.run()
        assert [each.seq for each in snapshots.list_snapshots(paths.snapshots)] == [9]
        assert await memory.rows(EVERYTHING) == before


async def test_a_kill_between_setting_aside_and_taking_over_loses_nothing(tmp_path: Path) -> None:
    """The next start looks through what was set aside, though nothing is left that asks for a rebuild."""
    async with opened(tmp_path) as memory:
        before = await fill(memory)
    paths = paths_of(tmp_path)
    delete_everything(paths)
    Path(paths.database).rename(f"{paths.database}.damaged-{NOW - 1}")
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


@pytest.mark.parametrize("way", ["reembed", "rebuild"])
async def test_a_text_that_was_condemned_is_tried_again_when_a_person_asks_for_it(tmp_path: Path, way: str) -> None:
    """A daemon that is killed twice at the wrong moment condemns an innocent one; and a rebuild gives its id away."""
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        await memory.ask("drain")
    paths = paths_of(tmp_path)
    for _ in range(2):
        crash_guard = CrashGuard(paths)
        crash_guard.begin("embed", [1])
        crash_guard.close()
    if way == "rebuild":
        ask_for_a_rebuild(paths)
    async with opened(tmp_path) as memory:
        if way == "reembed":
            assert memory.services.storage.crash_guard.is_quarantined("embed", 1)
            await memory.ask("reembed")
        assert not memory.services.storage.crash_guard.is_quarantined("embed", 1)
        await memory.ask("drain")
        assert await memory.rows("SELECT count(*) FROM summary_embeddings") == [(1,)]


async def test_databases_set_aside_do_not_pile_up(tmp_path: Path) -> None:
    paths = paths_of(tmp_path)
    for number in range(5):
        async with opened(tmp_path) as memory:
            await memory.capture(number)
        ask_for_a_rebuild(paths)
    async with opened(tmp_path):
        pass
    assert len(list(Path(paths.folder).glob("db.sqlite.damaged-*[0-9]"))) == 2
