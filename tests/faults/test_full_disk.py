"""A full disk: captures are refused with a reason, hooks stay silent, what cannot be kept is counted, reads go on."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import CHECKOUT, HOOK, Place, session_start, tool_call, wait_until

from siftd.errors import RequestRefused

pytestmark = pytest.mark.slow
if not hasattr(resource, "prlimit"):
    pytest.skip("only Linux lets the limits of another process be set", allow_module_level=True)


@contextlib.contextmanager
def no_file_grows_beyond(pid: int, size: int) -> Iterator[None]:
    """Let the kernel refuse the process every write beyond `size`, as a full disk does: EFBIG for ENOSPC."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 100])
def test_captures_are_refused_reads_go_on_and_it_recovers_by_itself(place: Place, room: int) -> None:
    daemon = place.start("--set", "memory.consolidator.tickMs=3600000")
    kept = [place.capture(number)["eventId"] for number in range(3)]
    place.ask("drain")
    with no_file_grows_beyond(daemon.pid, Path(place.paths.wal).stat().st_size + room):
        for number in range(3, 6):
            with pytest.raises(RequestRefused) as refused:
                place.capture(number)
            assert (refused.value.code, refused.value.retry) == ("disk_full", True)
        assert len(place.ask("search", query="make target")["hits"]) == 3
        assert place.ask("show", id="e1")["item"]["kind"] == "event"
        assert place.hook(tool_call(7)).is_silent
        place.wait_for_couriers()
        assert len(place.spool_files()) == 1, "the courier could keep it"
    kept.append(place.capture(8)["eventId"])
    place.ask("drain")
    assert place.spool_files() == []
    ids = [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")]
    assert set(kept) < set(ids)
    assert len(ids) == 5
    assert place.log_lines("captures_refused")


def test_a_full_database_goes_on_with_the_log_alone_and_catches_up(place: Place) -> None:
    """The log is small and has room; SQLite's own log has none."""
    daemon = place.start("--set", "memory.consolidator.tickMs=3600000")
    place.ask("drain")
    place.capture(0)
    wal = Path(f"{place.paths.database}-wal")
    assert Path(place.paths.wal).stat().st_size + 50_000 < wal.stat().st_size
    with no_file_grows_beyond(daemon.pid, wal.stat().st_size // 4096 * 4096):
        ids = [place.capture(number)["eventId"] for number in range(1, 4)]
        assert place.ask("info")["log"]["behind"]
    assert place.capture(4)["eventId"] == ids[-1] + 1
    wait_until("it has caught up", lambda: not place.ask("info")["log"]["behind"])
    assert place.count_events() == 5


@pytest.fixture
def small_disk() -> Iterator[Place]:
    """A home on a disk of its own, of 3 MB."""
    made = Place()
    made.home.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", str(made.home)], capture_output=True, check=False
    )
    if mounted.returncode:
        made.end()
        pytest.skip("only root can mount a small disk")
    try:
        yield made
    finally:
        for pid in made.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 15)
        wait_until("every process has ended", lambda: not made.processes())
        unmount = ["umount", str(made.home)]  # a process that is just ending still holds it
        wait_until("it is unmounted", lambda: subprocess.run(unmount, capture_output=True, check=False).returncode == 0)
        made.end()


def test_what_fits_on_no_disk_is_counted_and_when_there_is_room_all_goes_on(small_disk: Place) -> None:
    place = small_disk
    place.start()
    kept = place.capture(0)["eventId"]
    filler = place.home / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    large = {"tool_input": {"command": "make all"}, "tool_response": {"stdout": "word " * 2000}}
    with pytest.raises(RequestRefused) as refused:  # more than the log's last page has room for
        place.capture(1, payload=large)
    assert refused.value.code == "disk_full"
    before = place.dropped()
    assert place.hook(tool_call(200, tool_response=large)).is_silent
    place.wait_for_couriers()
    assert place.spool_files() == []
    assert place.dropped() == before + 1, "what no disk took is counted"
    assert b"could not keep" in place.hook(session_start()).out, "and told when a session starts"
    filler.unlink()
    assert place.hook(tool_call(201)).is_silent
    place.ask("drain")
    commands = {row[0] for row in place.rows("SELECT payload_json ->> '$.tool_input.command' FROM events")}
    assert {"make target-0", "make target-201"} <= commands
    assert place.rows("SELECT count(*) FROM events WHERE id = ?", kept) == [(1,)]
    place.stop()
    assert place.rows("PRAGMA integrity_check") == [("ok",)]


def test_on_a_full_disk_nobody_leaves_half_a_bytecode_file(small_disk: Place) -> None:
    """CPython before 3.12.8 does, and no later import of that module survives it."""
    hooks, package = small_disk.home / "hooks", small_disk.home / "site" / "siftd"
    shutil.copytree(HOOK.parent, hooks, ignore=shutil.ignore_patterns("__pycache__"))
    package.mkdir(parents=True)
    shutil.copy(CHECKOUT / "siftd" / "__init__.py", package)
    (package / "late.py").write_text("def late() -> None: ...\n" * 3000)
    small_disk.configure(memory__backend="none")
    hook = [sys.executable, "-I", "-S", str(hooks / HOOK.name)]
    done = subprocess.run(
        hook, input=b"{}", env=small_disk.env, cwd=small_disk.folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    subprocess.run([sys.executable, "-c", "import siftd.late"], env=small_disk.env, cwd=package.parent, check=True)
    small_disk.wait_for_couriers()
    left = {each.name.partition(".")[0] for each in small_disk.home.rglob("*.pyc*")}
    assert left <= {"__init__"}, "which fits into a page of the disk: it is written whole or not at all"


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM events"])
def test_a_persons_open_transaction_delays_nothing_and_loses_nothing(place: Place, lock: str) -> None:
    place.start()
    place.ask("drain")
    place.capture(0)
    with contextlib.closing(sqlite3.connect(place.paths.database, isolation_level=None)) as person:
        for statement in lock.split("; "):
            person.execute(statement).fetchall()
        assert [place.capture(number)["eventId"] for number in range(1, 6)] == [2, 3, 4, 5, 6]
        assert place.hook(tool_call(1)).is_silent
        assert not Path(place.paths.slow).exists(), "no hook has waited in vain"
        person.execute("ROLLBACK")
    place.capture(6)
    wait_until("it has caught up", lambda: not place.ask("info")["log"]["behind"])
    assert place.count_events() == 8
