"""Fuzzing: frames that are random, broken or odd go through the decoders in this process and to a real daemon on a
throw-away home; each reader of files is given broken ones.

A frame's fault may cost its connection, never the daemon: after each round the same process has to answer `hello`,
nothing may have failed inside it, and at the end the database has to be whole. The seed makes a run repeatable:
round N of seed S sends the same bytes each time. The exit status is 1 when something broke.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from bench_stand import Bench, ask, bench

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from broken import Breaker, Decoders, Readers  # noqa: E402 - shared with the suite, which runs a little of it

ROUND_FRAMES = 2000
FRAMES_PER_CONNECTION = 50
ANSWER_SECONDS = 120
INNER_FAULTS = ("request_failed", "capture_failed", "group_failed", "receipt_undelivered")


class Fuzz:
    """Rounds of broken frames against one daemon."""

    def __init__(self, running: Bench, seed: int) -> None:
        self._running = running
        self._seed = seed
        self.answers: Counter[str] = Counter()
        self.failures: list[str] = []
        assert running.daemon is not None
        self._pid = running.daemon.pid

    def round(self, number: int, count: int) -> None:
        breaker = Breaker(random.Random(f"{self._seed}/{number}"), str(self._running.workspace))
        for start in range(0, count, FRAMES_PER_CONNECTION):
            frames = [breaker.frame() for _ in range(min(FRAMES_PER_CONNECTION, count - start))]
            try:
                self._exchange(frames)
            except OSError as error:
                self.failures.append(f"round {number}: {type(error).__name__} at frame {start}")
        with self._running.connect() as connection:
            connection.settimeout(ANSWER_SECONDS)
            if ask(connection, {"kind": "hello"})["pid"] != self._pid:
                self.failures.append(f"round {number}: another daemon answers")

    def _exchange(self, frames: list[bytes]) -> None:
        """Send frames on one connection; one that ends it has the rest sent on another."""
        waiting = frames
        while waiting:
            with self._running.connect() as connection:
                connection.settimeout(ANSWER_SECONDS)
                sender = threading.Thread(target=_send, args=(connection, b"".join(waiting)))
                sender.start()
                answered = self._read(connection)
                sender.join()
            waiting = waiting[max(answered, 1) :]

    def _read(self, connection: socket.socket) -> int:
        """Read until the daemon ends the connection; return how many frames it has dealt with."""
        from siftd.wire.frames import FrameBuffer

        buffer, answered = FrameBuffer(), 0
        while data := _received(connection):
            for message in buffer.feed(data):
                answer = json.loads(message)
                if "progress" in answer:
                    continue
                answered += 1
                self.answers["ok" if answer["ok"] else answer["error"]["code"]] += 1
                if not answer["ok"] and answer["error"]["code"] in ("internal", "error"):
                    self.failures.append(f"an answer tells of a fault inside: {answer['error']['message']}")
        return answered

    def look_inside(self) -> None:
        """Add what the daemon's own log and the database say."""
        home = Path(self._running.environment["SIFTD_HOME"]) / "default"
        for file in (home / "logs").glob("*.ndjson*"):
            for line in file.read_bytes().splitlines():
                told = json.loads(line)
                if told["event"] in INNER_FAULTS or told.get("level") == "error":
                    self.failures.append(f"{told['event']}: {told.get('error')} {told.get('trace', [''])[-1:]}")
        for database in (home / "workspaces").glob("*/db.sqlite"):
            connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                self.failures.append("the database is damaged")
            connection.close()


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the daemon has ended the connection, as it may


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 18)
    except ConnectionError:
        return b""


def fuzz_daemon(count: int, seed: int) -> list[str]:
    with bench() as running:
        fuzz = Fuzz(running, seed)
        started = time.monotonic()
        for number, start in enumerate(range(0, count, ROUND_FRAMES)):
            fuzz.round(number, min(ROUND_FRAMES, count - start))
            if fuzz.failures or running.daemon is None or running.daemon.poll() is not None:
                break
            if number % 25 == 24:
                print(f"{start + ROUND_FRAMES:,} frames, {time.monotonic() - started:.0f} s", flush=True)
        sent = min(count, (number + 1) * ROUND_FRAMES)
        print(f"{sent:,} frames in {time.monotonic() - started:.0f} s: {dict(fuzz.answers.most_common())}", flush=True)
        fuzz.look_inside()
    return fuzz.failures


def fuzz_decoders(count: int, seed: int) -> list[str]:
    """Take frames the way that a connection does, up to where they would be kept."""
    failures: list[str] = []
    taken: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="siftd-fuzz-") as folder:
        breaker = Breaker(random.Random(seed), "/src/demo")
        decoders = Decoders(Path(folder))
        for number in range(count):
            try:
                taken.update(decoders.take(breaker.frame()))
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                failures.append(f"frame {number}: {type(error).__name__}")
    print(f"{count:,} frames through the decoders: {dict(taken.most_common())}", flush=True)
    return failures


def fuzz_readers(count: int, seed: int) -> list[str]:
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="siftd-fuzz-") as folder:
        readers = Readers(random.Random(seed), Path(folder))
        for number in range(count):
            try:
                readers.read_something_broken()
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                failures.append(f"file {number}: {type(error).__name__} in {readers.last}")
    print(f"{count:,} broken files: {dict(readers.read)}", flush=True)
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Broken frames for a daemon, broken files for the readers.")
    parser.add_argument(
        "--count", type=int, default=1_000_000, help="frames (default: 1,000,000); a tenth as many files"
    )
    parser.add_argument("--daemon", type=int, metavar="N", help="frames to a real daemon (default: as many)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"fuzz: {options.count:,} frames, seed {options.seed}", flush=True)
    failures = fuzz_readers(max(1, options.count // 10), options.seed)
    failures += fuzz_decoders(options.count, options.seed)
    failures += fuzz_daemon(options.count if options.daemon is None else options.daemon, options.seed)
    for failure, times in Counter(failures).most_common(20):
        print(f"BAD  {failure} ({times} times)")
    print("nothing broke" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
