"""Power loss, as far as a program can play it: what was synced is kept, and nothing else is believed.

A recording layer under the log's file calls knows what was synced. At any of them the power fails: a copy of the home
is cut back to that, with whatever the disk may have made of the rest (nothing, a part, zeros, garbage). SQLite's own
log is not synced at commits (`synchronous=NORMAL`), so all of it since the last checkpoint may be gone or torn; while
a checkpoint runs it is whole, and any of the database's pages may be old or new.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import json
import os
import random
import shutil
import sqlite3
import tempfile
from pathlib import Path

import opened_memory
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opened_memory import NOW
from opened_store import KEY, OpenedStore

from siftd.errors import LogError
from siftd.log.files import RealLogFile
from siftd.model import Event
from siftd.workspace.paths import Home

pytestmark = pytest.mark.slow
seeds = st.integers(0, 2**32)
opened = functools.partial(opened_memory.opened, key=KEY)
"""A home is copied from folder to folder here: its workspace keeps its name."""
TIMES = int(os.environ.get("SIFTD_TEST_TIMES", "1"))
"""More of everything, for a long run."""


class Disk:
    """Knows how much of each file was synced, and fails once, at its `fails_at`th call."""

    def __init__(
        self, home: Path, after: Path, fails_at: int, rng: random.Random, *, bad_syncs: frozenset[int] = frozenset()
    ) -> None:
        self.synced: dict[int, int] = {}
        self.cut_off: dict[int, bytes] = {}
        """What was cut off each file since its last sync: it may yet be there after a power cut."""
        self.bad_syncs = bad_syncs
        """Of all syncs those that fail, by their number; what they were to bring to the disk may be there or not."""
        self.syncs = 0
        self.acknowledged: dict[int, str] = {}
        self.kept: dict[int, str] | None = None
        """What was acknowledged when the power failed."""
        self.refused: set[str] = set()
        """What the log had refused by then."""
        self._held: list[int] = []
        self._home = home
        self._after = after
        self._fails_at = fails_at
        self._rng = rng
        self._calls = 0

    def open(self, path: str) -> RealLogFile:
        return _Recorded(path, self)

    def hold(self, descriptor: int) -> int:
        """Return a file's inode, by which it is known until `close`: held open, so that no later file is given it."""
        self._held.append(os.dup(descriptor))
        return os.fstat(descriptor).st_ino

    def close(self) -> None:
        """Let go of every file."""
        while self._held:
            os.close(self._held.pop())

    def call(self) -> None:
        self._calls += 1
        if self._calls == self._fails_at:
            self.fail()

    def fail(self) -> None:
        self.kept = dict(self.acknowledged)
        shutil.copytree(self._home, self._after)
        for file in self._home.rglob("wal*.ndjson"):
            inode = file.stat().st_ino
            synced = self.synced.get(inode, file.stat().st_size)
            self._lose(self._after / file.relative_to(self._home), synced, self.cut_off.get(inode, b""))
        for file in self._after.rglob("db.sqlite-*"):
            if file.name.endswith("-shm"):
                file.unlink()
            else:
                self._lose(file, self._rng.randint(0, file.stat().st_size))

    def _lose(self, file: Path, synced: int, cut_off: bytes = b"") -> None:
        """Cut a file back to what was synced, and a tail that may be anything."""
        data = file.read_bytes()
        if cut_off and self._rng.random() < 0.5:
            data = data[:synced] + cut_off
        part = data[synced : self._rng.randint(synced, len(data))]
        torn = part + self._rng.choice([b"", bytes(self._rng.randint(1, 600)), self._rng.randbytes(50)])
        file.write_bytes(data[:synced] + self._rng.choice([b"", part, torn]))


class _Recorded(RealLogFile):
    def __init__(self, path: str, disk: Disk) -> None:
        super().__init__(path)
        self._path = path
        self._disk = disk
        self._inode = disk.hold(self._descriptor)
        disk.synced.setdefault(self._inode, os.fstat(self._descriptor).st_size)

    def write(self, data: bytes) -> None:
        self._disk.call()
        super().write(data)

    def sync(self) -> None:
        self._disk.call()
        self._disk.syncs += 1
        if self._disk.syncs in self._disk.bad_syncs:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync()
        self._disk.synced[self._inode] = os.fstat(self._descriptor).st_size
        self._disk.cut_off.pop(self._inode, None)
        self._disk.call()

    def truncate(self, size: int) -> None:
        self._disk.call()
        with Path(self._path).open("rb") as file:
            file.seek(size)
            self._disk.cut_off[self._inode] = file.read()
        super().truncate(size)
        self._disk.call()


def call(number: int) -> Event:
    return Event(
        client="claude-code",
        session_id="s",
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"command": f"make part{number}"}},
        ts=NOW + number,
        identity=("tool", f"t{number}"),
        native_id=f"t{number}",
    )


def command_of(payload_json: str) -> str:
    return str(json.loads(payload_json)["tool_input"]["command"])


async def work_until_the_power_fails(disk: Disk, home: Path, groups: list[int]) -> None:
    async with OpenedStore(home, opener=disk.open) as store:
        number = 0
        for size in groups:
            numbers = range(number, number + size)
            number += size
            receipts = await store.keep(*map(call, numbers))
            for n, receipt in zip(numbers, receipts, strict=True):
                if receipt.error is None:
                    disk.acknowledged[receipt.event_id or 0] = f"make part{n}"
                elif disk.kept is None:
                    disk.refused.add(f"make part{n}")
            if size == 3:
                with contextlib.suppress(LogError):
                    await store.committer.seal_log()
        if disk.kept is None:
            disk.fail()
    disk.close()


@given(st.integers(1, 40), st.lists(st.integers(1, 4), min_size=1, max_size=10), seeds)
@settings(max_examples=30 * TIMES)
def test_what_was_acknowledged_survives_a_power_cut_at_any_call(fails_at: int, groups: list[int], seed: int) -> None:
    async def check(folder: Path) -> None:
        disk = Disk(folder / "home", folder / "after" / "home", fails_at, random.Random(seed))
        await work_until_the_power_fails(disk, folder / "home", groups)
        assert disk.kept is not None
        async with opened(folder / "after") as memory:
            rows = await memory.rows("SELECT id, payload_json FROM events")
            found = {event_id: command_of(payload) for event_id, payload in rows}
            assert found.items() >= disk.kept.items()
            sent = {f"make part{number}" for number in range(sum(groups))}
            assert set(found.values()) <= sent
            assert len(set(found.values())) == len(rows)
            assert await memory.capture(1) > max(found, default=0)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@given(
    st.integers(2, 60),
    st.lists(st.integers(1, 4), min_size=1, max_size=10),
    st.frozensets(st.integers(2, 12), max_size=5),
    seeds,
)
@example(32, [1, 1, 1, 1, 3, 1, 1, 1], frozenset({7, 8, 10, 11}), 0)
@settings(max_examples=30 * TIMES)
def test_what_failed_syncs_refused_is_gone_after_a_power_cut_too(
    fails_at: int, groups: list[int], bad_syncs: frozenset[int], seed: int
) -> None:
    """Whatever the kernel had brought to the disk by then: the cut is synced before anybody hears of a refusal."""

    async def check(folder: Path) -> None:
        disk = Disk(folder / "home", folder / "after" / "home", fails_at, random.Random(seed), bad_syncs=bad_syncs)
        await work_until_the_power_fails(disk, folder / "home", groups)
        assert disk.kept is not None
        async with opened(folder / "after") as memory:
            rows = await memory.rows("SELECT id, payload_json FROM events")
            found = {event_id: command_of(payload) for event_id, payload in rows}
            assert found.items() >= disk.kept.items()
            assert not set(found.values()) & disk.refused

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@given(seeds)
@settings(max_examples=6 * TIMES)
def test_a_power_cut_within_a_checkpoint_leaves_any_mix_of_pages(seed: int) -> None:
    rng = random.Random(seed)

    async def check(folder: Path) -> None:
        paths = Home(str(folder / "home")).for_workspace(KEY)
        async with opened(folder) as memory:
            for number in range(12):
                await memory.capture(number)
            await memory.ask("drain")
            before = await memory.rows("SELECT id, payload_json FROM events")
            old, log = Path(paths.database).read_bytes(), Path(f"{paths.database}-wal").read_bytes()
            person = sqlite3.connect(paths.database)
            person.execute("PRAGMA wal_checkpoint(PASSIVE)")
            person.close()
            new = Path(paths.database).read_bytes()
            pages = [rng.choice([old, new])[at : at + 4096] for at in range(0, max(len(old), len(new)), 4096)]
            shutil.copytree(folder / "home", folder / "after" / "home")
        after = Home(str(folder / "after" / "home")).for_workspace(KEY)
        Path(after.database).write_bytes(b"".join(page.ljust(4096, b"\0") for page in pages))
        Path(f"{after.database}-wal").write_bytes(log)
        Path(f"{after.database}-shm").unlink(missing_ok=True)
        async with opened(folder / "after") as memory:
            assert await memory.rows("SELECT id, payload_json FROM events") == before
            assert await memory.rows("PRAGMA integrity_check") == [("ok",)]

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))
