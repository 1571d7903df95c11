"""One flipped bit, anywhere: noticed and told, every other record kept, and never a wrong one believed."""

from __future__ import annotations

import asyncio
import functools
import os
import random
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened_memory import opened as opened_by_folder
from structlog.testing import capture_logs

from siftd.errors import SiftdError
from siftd.log.recovery import iter_records
from siftd.store import snapshots, sqlite_checks
from siftd.store.log_diff import count_differing
from siftd.workspace.paths import Home, WorkspacePaths

pytestmark = pytest.mark.slow
LOGGED = "SELECT id, uid, ts, session_id, tool, input_hash, payload_json FROM events ORDER BY id"
seeds = st.integers(0, 2**32)
TIMES = int(os.environ.get("SIFTD_TEST_TIMES", "1"))
"""More of everything, for a long run."""
KEY = "0123456789abcdef"
opened = functools.partial(opened_by_folder, key=KEY)
"""Wherever a home was copied to, it is that of the same workspace."""


def paths_of(folder: Path) -> WorkspacePaths:
    return Home(str(folder / "home")).for_workspace(KEY)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A home with two compressed segments, an active one, a snapshot and a closed database; and its events."""
    folder = tmp_path_factory.mktemp("whole")

    async def fill() -> list[Any]:
        async with opened(folder) as memory:
            for number in range(18):
                await memory.capture(number)
                if number in (5, 11):
                    await memory.services.committer.seal_log()
                    await memory.services.maintenance.run()
            await memory.ask("drain")
            snapshots.make_snapshot(memory.services.paths.database, memory.services.paths.snapshots)
            return await memory.rows(LOGGED)

    return folder, asyncio.run(fill())


def flip(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def remove(paths: WorkspacePaths, *patterns: str) -> None:
    for pattern in patterns:
        for each in Path(paths.folder).glob(pattern):
            each.unlink()


@given(seeds)
@settings(max_examples=30 * TIMES)
def test_in_the_log(whole: tuple[Path, list[Any]], seed: int) -> None:
    """Nothing else is left to rebuild from."""
    rng = random.Random(seed)

    async def check(folder: Path) -> None:
        remove(paths_of(folder), "db.sqlite*", "snapshots/*")
        segment = rng.choice(sorted(Path(paths_of(folder).folder).glob("wal*.ndjson*")))
        flip(segment, rng)
        with capture_logs():
            async with opened(folder) as memory:
                found = await memory.rows(LOGGED)
                told = (await memory.ask("info"))["recovery"]
        lost = [row for row in whole[1] if row not in found]
        assert [row for row in found if row not in whole[1]] == [], "a wrong record was believed"
        assert not lost or told["corruptLines"] or told["tornBytes"], "nobody tells what is lost"
        assert len(lost) <= (6 if segment.suffix == ".gz" else 2), "good records were dropped"

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(whole[0], folder, dirs_exist_ok=True)
        asyncio.run(check(Path(folder)))


@given(seeds)
@settings(max_examples=8 * TIMES)
def test_in_a_snapshot(whole: tuple[Path, list[Any]], seed: int) -> None:
    rng = random.Random(seed)

    async def check(folder: Path) -> None:
        paths = paths_of(folder)
        remove(paths, "db.sqlite*")
        [snapshot] = snapshots.list_snapshots(paths.snapshots)
        flip(snapshot.path, rng)
        assert not snapshot.is_whole
        with capture_logs() as logs:
            async with opened(folder) as memory:
                assert await memory.rows(LOGGED) == whole[1], "the log has everything"
        assert "snapshots_damaged" in [line["event"] for line in logs]

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(whole[0], folder, dirs_exist_ok=True)
        asyncio.run(check(Path(folder)))


@given(seeds)
@settings(max_examples=40 * TIMES)
def test_in_the_database(whole: tuple[Path, list[Any]], seed: int) -> None:
    """Unless it is set aside at the start, `mem doctor` sees it, and a rebuild mends it."""
    rng = random.Random(seed)

    async def check(folder: Path) -> None:
        paths = paths_of(folder)
        flip(Path(paths.database), rng)
        with capture_logs():
            try:
                async with opened(folder) as memory:
                    found = await memory.rows(LOGGED)
            except SiftdError:
                found = None  # noticed by whoever opens it
        if found == whole[1]:
            return
        connection = sqlite3.connect(f"file:{paths.database}?mode=ro", uri=True)
        try:
            is_seen = found is None or not sqlite_checks.is_whole(connection)
            assert is_seen or count_differing(connection, iter_records(paths.wal))
        except sqlite3.Error:
            pass  # noticed as well
        finally:
            connection.close()
        Path(paths.rebuild).touch()
        with capture_logs():
            async with opened(folder) as memory:
                assert await memory.rows(LOGGED) == whole[1]

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(whole[0], folder, dirs_exist_ok=True)
        asyncio.run(check(Path(folder)))
