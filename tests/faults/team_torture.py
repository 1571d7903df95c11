"""Kill the devices and the server of a team over and over, and look for what was missed or came twice.

    scripts/torture team KILLS [--devices 8] [--postgres 18] [--seed N]

Writers change, forget and push; followers note each change of the feed as it came. KILLS times a writer or a follower
and the server are killed as `kill -9` does, in the middle of whatever they do, and started again. In the end each
writer has told what it has, and each follower has read to the head.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
from daemons import wait_until  # noqa: E402
from postgres import Postgres, TeamDatabase, drop_database, make_team_database, running  # noqa: E402
from team_service import Service, join, team_service  # noqa: E402
from team_worker import prepare  # noqa: E402

UNLIMITED = {
    "siftd.team_server.limits.PER_MINUTE": {kind: [10**6, 10**6] for kind in ("search", "write", "read", "webhook")},
    "siftd.team_server.limits.STRANGERS_PER_MINUTE": [10**6, 10**6],
}
"""So that what is tried is the feed and not the limits."""
END_SECONDS = 120
"""Within which a device finishes. For what never comes."""


@dataclass(frozen=True)
class Outcome:
    """What became of it. The first figures say that there was work."""

    rows: int
    tombstones: int
    head: int
    kills: int
    missed: int
    """Changes that stand in the feed and that a follower does not have."""
    doubled: int
    """Places of the feed that a follower was told twice, or out of order."""
    untold: int
    """What writers have that the server does not, or has otherwise."""

    @property
    def is_right(self) -> bool:
        return (self.missed, self.doubled, self.untold) == (0, 0, 0)


class Crowd:
    """The devices of one team, each a process on a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, Path] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def add(self, name: str, service: Service, database: TeamDatabase) -> None:
        member = join(service, database, name, role="writer" if name.startswith("write") else "reader")
        self.files[name] = self._folder / f"{name}.sqlite"
        url = f"http://127.0.0.1:{service.port}"
        prepare(self.files[name], url, member.token, member.project, member.joined.epoch, name)

    def start(self, name: str) -> None:
        kind = "write" if name.startswith("write") else "follow"
        self.processes[name] = subprocess.Popen(
            [sys.executable, SUPPORT / "team_worker.py", kind, self.files[name]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].communicate()

    def finish(self, kind: str) -> None:
        """Let the writers, or the followers, come to their end."""
        mine = {name: process for name, process in self.processes.items() if name.startswith(kind)}
        for process in mine.values():
            assert process.stdout is not None
            process.stdout.readline()  # it knows by now what SIGTERM asks of it
            process.send_signal(signal.SIGTERM)
        for name, process in mine.items():
            assert process.wait(END_SECONDS) == 0, f"{name} ended with {process.returncode}"

    def end(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.communicate()

    def read(self, name: str, query: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.files[name])) as store:
            return store.execute(query).fetchall()


class Server:
    """The server, always at one port."""

    def __init__(self, dsn: str, stack: ExitStack) -> None:
        self._dsn = dsn
        self._stack = stack
        self.port = _free_port()
        self.service = self._start()

    def _start(self) -> Service:
        return self._stack.enter_context(team_service(self._dsn, "--port", str(self.port), patches=UNLIMITED))

    def kill_and_start(self) -> None:
        self.service.process.kill()
        self.service.process.wait()
        self.service = self._start()


def torture(postgres: Postgres, *, kills: int, devices: int, seed: int) -> Outcome:
    """Run `devices` writers and as many followers through so many kills of one of them and of the server."""
    drawn = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="siftd-team-") as folder,
        _database(postgres) as database,
        ExitStack() as stack,
    ):
        server, crowd = Server(database.app, stack), Crowd(Path(folder))
        stack.callback(crowd.end)
        names = [f"{kind}{number}" for number in range(devices) for kind in ("write", "follow")]
        for name in names:
            crowd.add(name, server.service, database)
        for name in names:
            crowd.start(name)
        for _ in range(kills):
            _wait_for_work(database, drawn.randint(5, 60))
            name = drawn.choice(names)
            crowd.kill(name)
            server.kill_and_start()
            crowd.start(name)
        crowd.finish("write")
        crowd.finish("follow")
        return _judged(crowd, database, kills)


def _wait_for_work(database: TeamDatabase, places: int) -> None:
    """Wait until the feed has grown by so much: a moment that nobody chose, in the middle of everybody's work."""
    with psycopg.connect(database.superuser, autocommit=True) as connection:

        def head() -> int:
            row = connection.execute("SELECT coalesce(max(head), 0) FROM siftd.projects").fetchone()
            return int(row[0]) if row else 0

        wanted = head() + places
        wait_until("the feed grows", lambda: head() >= wanted, END_SECONDS)


def _judged(crowd: Crowd, database: TeamDatabase, kills: int) -> Outcome:
    with psycopg.connect(database.superuser) as connection:
        rows = connection.execute("SELECT seq, id::text, encode(hash, 'hex') FROM siftd.memories").fetchall()
        gone = connection.execute("SELECT seq, id::text FROM siftd.tombstones WHERE was_shared").fetchall()
        (head,) = connection.execute("SELECT max(head) FROM siftd.projects").fetchone() or (0,)
    feed = {(seq, "put", identity, text) for seq, identity, text in rows}
    feed |= {(seq, "forget", identity, None) for seq, identity in gone}
    missed = doubled = 0
    told: dict[str, str] = {}
    for name in crowd.files:
        if name.startswith("follow"):
            seen = crowd.read(name, "SELECT seq, op, id, hash FROM seen ORDER BY rowid")
            missed += len(feed - set(seen))
            doubled += sum(later[0] <= earlier[0] for earlier, later in itertools.pairwise(seen))
        else:
            assert crowd.read(name, "SELECT count(*) FROM dirty") == [(0,)], name
            told |= dict(crowd.read(name, "SELECT id, json_extract(item, '$.hash') FROM own WHERE item IS NOT NULL"))
    there = {identity: text for _, identity, text in rows}
    untold = len(set(told.items()) ^ set(there.items()))
    return Outcome(len(rows), len(gone), head, kills, missed, doubled, untold)


@contextmanager
def _database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    try:
        yield database
    finally:
        drop_database(database)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> int:
    """Torture one version and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int)
    parser.add_argument("--devices", type=int, default=8, help="so many writers, and so many followers")
    parser.add_argument("--postgres", type=int, default=18, choices=(16, 18))
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no device is left behind
    print(f"seed {chosen.seed}", flush=True)
    started = time.monotonic()
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),  # the server's log, which a test shows
        running(chosen.postgres) as postgres,
    ):
        outcome = torture(postgres, kills=chosen.kills, devices=chosen.devices, seed=chosen.seed)
    print(f"PostgreSQL {chosen.postgres}, {time.monotonic() - started:.0f} s: {outcome}")
    return 0 if outcome.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
