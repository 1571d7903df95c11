"""Endurance: mixed work on a real daemon, on a throw-away home, and what creeps while it lasts.

Captures arrive as hooks bring them, each on a connection of its own; beside them somebody searches, recalls, looks
around, remembers and now and then forgets. Once a second the daemon's resident memory, its descriptors and the
processor time of its event loop are read from outside.

Nothing of the first third is judged: caches fill, numpy is imported, the first forget and the first superseding come.
After each third nobody asks for anything for a while, so that a tick gives back what work needed for a moment: what is
resident then, beside the index, which is data that is meant to be in memory, is what the daemon keeps, and it is judged.
What is resident at work is told: it goes up and down with what searches and forgets need, which grows with the store. A
latency is told as a ratio to the pace of the machine in the same minute: a bare process that takes a frame of the same
kind over a socket, parses and hashes it, writes it down and syncs it. The exit status is 1 when something creeps.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_stand import Bench, ask, bench, read_frame
from soak_work import capture_frames, question

WARM_UP = 1 / 3
"""The part of the run that is not judged."""
INDEX_BYTES = 384 * 4 + 2 * 384 // 8 + 4 + 8 + 4 + 24 + 24
"""A summary that can be found: the vector, two bits of each value, the length of its tail, its id and where it is, and
what ranking keeps of its event and of itself (`siftd.search.row_cache`)."""
RESIDENT_MB_PER_HOUR_MAX = 20.0
REST_SECONDS = 90
"""Two ticks that give memory back, and what there is to summarise before."""
SETTLED_SECONDS = 20
"""The end of a rest, of which the lowest reading counts."""
FORGET_SECONDS = 600
"""The longest answer: a forget writes the whole store anew, on a machine that may do other things as well."""
DESCRIPTORS_MAX = 4
DRIFT_MAX = 1.5
"""How many times as slow, measured by the machine's pace, or as costly the last third may be as the one before."""
MB = 1024 * 1024
PACE = """
import hashlib, json, os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
log = os.open(sys.argv[1] + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    connection, _ = listener.accept()
    with connection:
        data = connection.recv(int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big"), socket.MSG_WAITALL)
        told = json.loads(data[3 + int.from_bytes(data[1:3], "big"):])
        line = json.dumps(told, sort_keys=True).encode()
        os.write(log, hashlib.sha256(line).hexdigest().encode() + line)
        os.fdatasync(log)
        connection.sendall((2).to_bytes(4, "big") + b"{}")
"""


@dataclass
class Measured:
    """What was seen: (seconds since the start, value) each."""

    resident: list[tuple[float, float]] = field(default_factory=list)
    at_rest: list[tuple[float, float]] = field(default_factory=list)
    descriptors: list[tuple[float, float]] = field(default_factory=list)
    captures: list[tuple[float, float]] = field(default_factory=list)
    searches: list[tuple[float, float]] = field(default_factory=list)
    pace: list[tuple[float, float]] = field(default_factory=list)
    """What the yardstick took, in ms."""
    loop: list[tuple[float, float]] = field(default_factory=list)
    """Processor time of the daemon's event loop for one capture, in ms, second by second."""
    failures: list[str] = field(default_factory=list)


class Soak:
    """One run: who works, who looks on, and when it is over."""

    def __init__(self, running: Bench, *, seconds: float, rate: float, seed: int) -> None:
        self._running = running
        self._seed = seed
        self._seconds = seconds
        self._rate = rate
        self._started = time.monotonic()
        self._rested = 0.0
        self._resting_since: float | None = None
        self._vectors = 0
        self.measured = Measured()

    def run(self) -> None:
        work = (self._capture, self._ask, self._keep_pace, self._watch)
        workers = [threading.Thread(target=self._guarded, args=(each,)) for each in work]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Work; whatever ends it ends the run."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a thread's own traceback would not end the others
            self.measured.failures.append(f"{work.__name__}: {type(error).__name__}")

    @property
    def now(self) -> float:
        """Seconds of work so far; rests do not count."""
        return (self._resting_since or time.monotonic()) - self._started - self._rested

    def _is_over(self) -> bool:
        """Whether the work is done; comes back from a rest only."""
        while self._resting_since is not None and not self.measured.failures:
            time.sleep(0.05)
        return self.now > self._seconds or bool(self.measured.failures)

    def _capture(self) -> None:
        frames = capture_frames(random.Random(self._seed))
        for number in itertools.count():
            if self._is_over():
                return
            time.sleep(max(0.0, number / self._rate - self.now))
            frame = next(frames)
            started = time.perf_counter()
            answer = exchange(self._running.connect(), frame)
            self.measured.captures.append((self.now, (time.perf_counter() - started) * 1000))
            if not answer["ok"]:
                self.measured.failures.append(f"capture {number}: {answer['error']['code']}")

    def _ask(self) -> None:
        """Twice a second one question after the other, most of them searches."""
        chance = random.Random(self._seed + 1)
        with self._running.connect() as connection:
            connection.settimeout(FORGET_SECONDS)
            for number in itertools.count():
                if self._is_over():
                    return
                time.sleep(max(0.0, number / 2 - self.now))
                request = question(chance, number)
                started = time.perf_counter()
                answer = ask(connection, request)
                if request["kind"] == "search":
                    self.measured.searches.append((self.now, (time.perf_counter() - started) * 1000))
                if request["kind"] == "info":
                    self._vectors = answer["counts"]["embeddings"]
                if not answer["ok"] and answer["error"]["message"] != "there is nothing with this id":
                    self.measured.failures.append(f"{request['kind']}: {answer['error']['code']}")

    def _keep_pace(self) -> None:
        """Five times a second, give the yardstick a frame like those that the daemon gets."""
        frames = capture_frames(random.Random(self._seed))
        path = str(self._running.workspace.parent / "pace")
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", PACE, path]) as yardstick:
            try:
                while not Path(f"{path}.log").exists():
                    time.sleep(0.01)
                for number in itertools.count(1):
                    if self._is_over():
                        return
                    time.sleep(max(0.0, number / 5 - self.now))
                    frame = next(frames)
                    started = time.perf_counter()
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect(path)
                    exchange(connection, frame)
                    self.measured.pace.append((self.now, (time.perf_counter() - started) * 1000))
            finally:
                yardstick.kill()

    def _watch(self) -> None:
        assert self._running.daemon is not None
        pid = self._running.daemon.pid
        process = Path(f"/proc/{pid}")
        spent, captured = loop_ms(pid), 0
        rests = [self._seconds * (number + 1) / 3 for number in range(3)]
        for second in itertools.count(1):
            if rests and self.now >= rests[0]:
                self.measured.at_rest.append((rests.pop(0), self._rest(lambda: resident_bytes(pid))))
                spent, captured = loop_ms(pid), len(self.measured.captures)
            if self._is_over():
                return
            time.sleep(max(0.0, second - self.now))
            resident = resident_bytes(pid)
            descriptors = sum(1 for each in (process / "fd").iterdir() if not is_connection(each))
            spent_now, captured_now = loop_ms(pid), len(self.measured.captures)
            self.measured.resident.append((self.now, (resident - self._vectors * INDEX_BYTES) / MB))
            self.measured.descriptors.append((self.now, descriptors))
            if captured_now > captured:
                self.measured.loop.append((self.now, (spent_now - spent) / (captured_now - captured)))
            spent, captured = spent_now, captured_now
            if second % 60 == 0:
                self._tell(second // 60, resident / MB)

    def _rest(self, resident: Callable[[], int]) -> float:
        """Let nobody ask for anything for a while; return what is resident then beside the index, in MB."""
        self._resting_since = time.monotonic()
        readings = []
        for second in range(REST_SECONDS):
            time.sleep(1)
            if second >= REST_SECONDS - SETTLED_SECONDS:
                readings.append(resident())
        with self._running.connect() as connection:
            self._vectors = ask(connection, {"kind": "info"})["counts"]["embeddings"]
        settled = (min(readings) - self._vectors * INDEX_BYTES) / MB
        print(f"at rest: {min(readings) / MB:.1f} MB ({settled:.1f} beside the index of {self._vectors:,})", flush=True)
        self._rested += time.monotonic() - self._resting_since
        self._resting_since = None
        return settled

    def _tell(self, minute: int, resident_mb: float) -> None:
        since, measured = (minute - 1) * 60.0, self.measured
        captures, searches, pace = (
            [value for at, value in points if at > since]
            for points in (measured.captures, measured.searches, measured.pace)
        )
        loop = statistics.fmean(value for at, value in measured.loop if at > since)
        print(
            f"minute {minute:3}: resident {resident_mb:6.1f} MB ({measured.resident[-1][1]:5.1f} beside the index),"
            f" {measured.descriptors[-1][1]:.0f} descriptors, {len(captures)} captures {spread(captures)},"
            f" loop {loop:.2f} ms each, {len(searches)} searches {spread(searches)}, pace {spread(pace)}",
            flush=True,
        )


def exchange(connection: socket.socket, frame: bytes) -> dict[str, Any]:
    """Send a frame, return its answer, and end the connection."""
    with connection:
        connection.settimeout(30)
        connection.sendall(frame)
        answer: dict[str, Any] = json.loads(read_frame(connection))
        return answer


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def loop_ms(pid: int) -> float:
    """Return the processor time of a daemon's first thread so far: its event loop, where captures are taken in."""
    fields = Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def is_connection(descriptor: Path) -> bool:
    """Whether it is a socket: those come and go with the clients."""
    try:
        return os.readlink(descriptor).startswith("socket:")
    except OSError:
        return True


def spread(values: list[float]) -> str:
    if len(values) < 2:
        return "-"
    cuts = statistics.quantiles(values, n=100)
    return f"{cuts[49]:.1f}/{cuts[98]:.1f} ms"


def lowest_each_minute(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the lowest value of each minute: a moment's need, of a forget for instance, comes and goes."""
    minutes = itertools.groupby(points, key=lambda point: point[0] // 60)
    return [(minute * 60, min(value for _, value in values)) for minute, values in minutes]


def slope(points: list[tuple[float, float]]) -> float:
    """Return how much the value grows in an hour: the line of least squares through the points."""
    line = statistics.linear_regression([at for at, _ in points], [value for _, value in points])
    return line.slope * 3600


def judge(measured: Measured, seconds: float) -> Iterator[tuple[str, bool]]:
    """Yield what there is to say, and whether it is well."""
    for failure in measured.failures:
        yield failure, False
    if measured.failures or len(measured.at_rest) < 3:
        yield "it ended early", False
        return
    grows = slope(measured.at_rest)
    yield (
        f"resident memory at rest beside the index: {', '.join(f'{value:.1f}' for _, value in measured.at_rest)} MB,"
        f" {grows:+.1f} MB an hour of work (at most {RESIDENT_MB_PER_HOUR_MAX:g})",
        grows <= RESIDENT_MB_PER_HOUR_MAX,
    )
    warm = [(at, value) for at, value in measured.resident if at > seconds * WARM_UP]
    lowest = lowest_each_minute(warm)
    if len(lowest) > 1:
        grows = slope(lowest)
        highest = max(value for _, value in warm)
        told = f"{lowest[0][1]:.1f} -> {lowest[-1][1]:.1f} MB, {grows:+.1f} MB an hour; highest {highest:.1f}"
        yield f"at work, lowest of a minute: {told}", True
    held = [value for at, value in measured.descriptors if at > seconds * WARM_UP]
    yield (
        f"descriptors beside connections: {held[0]:.0f} -> {held[-1]:.0f}, lowest {min(held):.0f}, highest {max(held):.0f}",
        held[-1] - held[0] <= DESCRIPTORS_MAX,
    )
    for name, points in (("capture", measured.captures), ("search", measured.searches)):
        before, last = third(points, seconds, 1), third(points, seconds, 2)
        drift = relative(last, third(measured.pace, seconds, 2)) / relative(before, third(measured.pace, seconds, 1))
        bound = f"at most {DRIFT_MAX:g}" if name == "capture" else "it grows with the store, which is no leak"
        yield (
            f"{name}, median/99th of 100: second third {spread(before)}, last {spread(last)}:"
            f" by the machine's pace {drift:.2f} times ({bound})",
            name != "capture" or drift <= DRIFT_MAX,
        )
    middle_ms, last_ms = (statistics.fmean(third(measured.loop, seconds, number)) for number in (1, 2))
    yield (
        f"processor time of the event loop a capture: second third {middle_ms:.2f} ms, last {last_ms:.2f} ms:"
        f" {last_ms / middle_ms:.2f} times (at most {DRIFT_MAX:g})",
        last_ms / middle_ms <= DRIFT_MAX,
    )


def third(points: list[tuple[float, float]], seconds: float, number: int) -> list[float]:
    return [value for at, value in points if seconds * number / 3 < at <= seconds * (number + 1) / 3]


def relative(values: list[float], pace: list[float]) -> float:
    """Return how many times as long as the yardstick it took: their medians."""
    return statistics.median(values) / statistics.median(pace)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=50.0, help="captures a second (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"soak: {options.minutes:g} minutes, {options.rate:g} captures a second, seed {options.seed}", flush=True)
    seconds = options.minutes * 60
    with bench(running=True, redacts=True) as running:
        soak = Soak(running, seconds=seconds, rate=options.rate, seed=options.seed)
        soak.run()
        measured = soak.measured
        if not measured.failures:
            with running.connect() as connection:
                counts = ask(connection, {"kind": "info"})["counts"]
            print(f"{len(measured.captures):,} captures acknowledged, {len(measured.searches):,} searches; {counts}")
    findings = list(judge(measured, seconds))
    for sentence_, is_well in findings:
        print(f"{'ok  ' if is_well else 'BAD '} {sentence_}")
    return 0 if all(is_well for _, is_well in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
