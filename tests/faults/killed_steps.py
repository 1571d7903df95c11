"""Run one piece of work over copies of a home, and kill -9 it between any two of its steps, or have one of them fail.

    python killed_steps.py WORK FOLDER MOST kill|fail

FOLDER/home is left as it is; FOLDER/<n>/home is what a fault at step n left. Steps are the calls that change files
below the home (opening one to write, giving it another name, …), writes (before, and half done), syncs, and SQL
statements. A step that fails does so as on a full disk, once; SQL statements do not fail by themselves. Prints how many
steps there are, and which were tried (at most MOST).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from noted_project import move_notes

from siftd.capture.intake import Intake
from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.consolidate.chunking import Chunker
from siftd.crash_guard import CrashGuard
from siftd.daemon import store_recovery
from siftd.daemon.erasure.procedure import Erasure
from siftd.daemon.erasure.scrub import Replaced, Scrubber
from siftd.daemon.group_commit import Committer
from siftd.daemon.maintenance import Maintenance
from siftd.errors import LogError, SiftdError
from siftd.log import sealing
from siftd.log.segments import find_store, segments
from siftd.log.writer import Entry, LogWriter
from siftd.model import Event
from siftd.store.scrubbing import Scrubbed
from siftd.workspace.paths import Home, WorkspacePaths
from siftd.workspace.secret import ensure_secret

KEY = "0123456789abcdef"
CHANGES = {"os.rename", "os.remove", "os.truncate", "os.utime", "os.mkdir", "os.rmdir"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def seal(paths: WorkspacePaths) -> None:
    """Append, seal at 600 bytes, and compress; what was acknowledged is in the file `acked`."""
    intake = Intake(paths, Settings())
    writer = LogWriter(paths.wal, store=store_of(paths), now_ms=1, seal_bytes=600)
    with Path(f"{paths.home.root}/../acked").open("ab", buffering=0) as acked:
        for seq in range(101, 116):
            try:
                writer.append([Entry(intake.admission.admit_intent("retry", {"event": seq}, ts=1), seq, None)])
            except LogError:
                continue
            acked.write(f"{seq}\n".encode())
            if seq % 5 == 0:
                with contextlib.suppress(OSError):  # the next tick compresses it
                    sealing.compress(paths.wal)
    writer.close()


def store_of(paths: WorkspacePaths) -> str:
    """Return the store that the log names: a segment of another one would be set aside."""
    return next((store for each in segments(paths.wal) if (store := find_store(each))), "store")


def prune(paths: WorkspacePaths) -> None:
    """Compress, make the snapshot that covers them, and prune every sealed segment."""
    maintenance = Maintenance(
        root="/",
        paths=paths,
        settings=Settings.of({"log.keepDays": 1}),
        clock=SystemClock(),
        store=None,  # type: ignore[arg-type]
        committer=None,  # type: ignore[arg-type]
        forgetter=None,  # type: ignore[arg-type]
        scrubber=None,  # type: ignore[arg-type]
        is_database_in_place=bool,
        end=bool,
    )
    maintenance.keep_log()


def open_store(paths: WorkspacePaths) -> None:
    """Open the store: rebuild it if that is asked for, and erase what is still to be forgotten."""
    opened = store_recovery.open_store(paths, CrashGuard(), secret=ensure_secret(paths), now_ms=2)
    opened.connection.close()


def forget_notes(paths: WorkspacePaths) -> None:
    """Open the store, and erase what is to be forgotten in the notes of this copy of the home."""
    move_notes(paths.home)
    open_store(paths)


def scrub(paths: WorkspacePaths) -> None:
    """Apply a rule that was not there when the events were stored."""
    rule = {"name": "word", "pattern": "zanzibar", "example": "zanzibar"}
    intake = Intake(paths, Settings.of({"redact.rules": [rule]}))
    sealing.seal_file(paths.wal)
    scrubber = Scrubber(paths, SystemClock(), None, intake.admission)  # type: ignore[arg-type]
    seq = scrubber.pending_seq()
    assert seq is not None
    Erasure(paths).take_out(seq, Replaced(paths, intake.admission, seq, Scrubbed()))


def capture(paths: WorkspacePaths) -> None:
    """Capture one event after the other; the ids of those that were acknowledged are in the file `acked`."""

    async def keep() -> None:
        intake = Intake(paths, Settings())
        opened = store_recovery.open_store(paths, CrashGuard(), secret=ensure_secret(paths), now_ms=2)
        writer = LogWriter(paths.wal, store=store_of(paths), now_ms=1)
        committer = Committer(writer, paths.wal, opened.connection, SystemClock(), tombstones=opened.tombstones)
        committer.start(opened.last_seq)
        with Path(f"{paths.home.root}/../acked").open("ab", buffering=0) as acked:
            for number in range(6):
                event = Event(
                    client="api",
                    session_id="s",
                    kind="tool",
                    tool="Bash",
                    action="run",
                    payload={"tool_input": {"command": f"captured {number}"}},
                    ts=1_760_000_000_000 + number,
                    identity=("uid", f"captured {number}"),
                    native_id=None,
                )
                receipt = await committer.keep(intake.admit(event))
                if receipt.error is None:
                    acked.write(f"{receipt.event_id} captured {number}\n".encode())
        await committer.stop()

    asyncio.run(keep())


def ingest(paths: WorkspacePaths) -> None:
    """Read one document in after the other, the first one anew at last; what was acknowledged is in the file `acked`.
    Then their chunks are made."""

    async def keep() -> None:
        intake = Intake(paths, Settings())
        opened = store_recovery.open_store(paths, CrashGuard(), secret=ensure_secret(paths), now_ms=2)
        writer = LogWriter(paths.wal, store=store_of(paths), now_ms=1)
        committer = Committer(writer, paths.wal, opened.connection, SystemClock(), tombstones=opened.tombstones)
        committer.start(opened.last_seq)
        with Path(f"{paths.home.root}/../acked").open("ab", buffering=0) as acked:
            for number in (0, 1, 2, 0):
                text = "".join(f"# Part {part}\n\nIt is said in {number}: {'word ' * 60}\n\n" for part in range(4))
                payload = {"path": f"docs/{number}.md", "title": "A", "type": "markdown", "text": text, "ts": number}
                receipt = await committer.keep(intake.admission.admit_intent("document", payload, ts=3))
                if receipt.error is None:
                    acked.write(f"docs/{number}.md\n".encode())

        class Store:
            async def read(self, work: Callable[[Any], Any]) -> Any:
                return await committer.run(work)

            write = read

        with contextlib.suppress(SiftdError):
            await Chunker(Store()).run(lambda: True)
        await committer.stop()

    asyncio.run(keep())


WORK: dict[str, Callable[[WorkspacePaths], None]] = {
    "seal": seal,
    "prune": prune,
    "open": open_store,
    "notes": forget_notes,
    "capture": capture,
    "ingest": ingest,
    "scrub": scrub,
}


class Steps:
    """Counts steps, and kills this process at one of them, or has that one fail."""

    def __init__(self, home: str, last: int, fault: str) -> None:
        self.count = 0
        self._home = home
        self._last = last
        self._fails = fault == "fail"

    def step(self, *_: Any) -> None:
        self.count += 1
        if self.count == self._last:
            if self._fails:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(self, name: str, told: tuple[Any, ...]) -> None:
        is_relative = (name == "os.rename" and told[2] != -1) or (name == "os.remove" and told[1] != -1)
        is_open = name == "open" and isinstance(told[2], int) and told[2] & WRITES
        if is_relative or ((name in CHANGES or is_open) and self._home in os.fspath(str(told[0]))):
            self.step()

    def watch(self) -> None:
        sys.addaudithook(self.hear)
        for name in ("fsync", "fdatasync"):
            setattr(os, name, self._counted(getattr(os, name)))
        os.write = self._torn(os.write)  # type: ignore[assignment]
        if self._fails:
            return
        connect = sqlite3.connect

        def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **options)
            connection.set_trace_callback(self.step)
            return connection

        sqlite3.connect = traced  # type: ignore[assignment]

    def _torn(self, call: Callable[[int, bytes], int]) -> Callable[[int, bytes], int]:
        def torn(descriptor: int, data: bytes) -> int:
            self.step()
            if self.count + 1 == self._last:
                call(descriptor, data[: len(data) // 2])
            self.step()
            return call(descriptor, data)

        return torn

    def _counted(self, call: Callable[[int], None]) -> Callable[[int], None]:
        def counted(descriptor: int) -> None:
            self.step()
            call(descriptor)

        return counted


def run(work: str, folder: Path, number: int, last: int, fault: str) -> int | None:
    """Do the work over a copy of the home, with a fault at step `last`; return its steps unless it was killed."""
    copy = folder / str(number)
    shutil.copytree(folder / "home", copy / "home")
    child = os.fork()
    if child == 0:
        steps = Steps(str(copy / "home"), last, fault)
        steps.watch()
        try:
            WORK[work](Home(str(copy / "home")).for_workspace(KEY))
        except (SiftdError, OSError):  # told by whoever started it, and tried again
            if last < 0:
                raise
        (copy / "steps").write_text(str(steps.count))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    if status:
        sys.exit(f"step {last}: the work failed")
    return int((copy / "steps").read_text())


def main() -> None:
    work, folder, most, fault = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    total = run(work, folder, 0, -1, fault)
    assert total
    tried = sorted({1 + number * (total - 1) // (most - 1) for number in range(most)})
    for number in tried:
        run(work, folder, number, number, fault)
    print(json.dumps({"steps": total, "tried": tried}))


main()
