"""Endurance: mixed work on a real daemon, on a throw-away home, and what creeps while it lasts.

Captures arrive as hooks bring them, each on a connection of its own; beside them somebody searches, recalls, looks
around, remembers and now and then forgets. Once a second the daemon's resident memory and its descriptors are read
from outside. The exact vector index is data that is meant to be in memory (1.5 KB a summary), so it is taken off
before a line is laid through the rest. The exit status is 1 when something creeps.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_stand import Bench, ask, bench, framed, read_frame

from siftd.starting import ALLOCATOR

WARM_UP = 1 / 3
"""The part of the run in which caches fill and numpy is imported; nothing of it is judged."""
INDEX_BYTES = 384 * 4
"""One vector of the built-in embedder."""
RESIDENT_MB_PER_HOUR_MAX = 20.0
DESCRIPTORS_MAX = 4
DRIFT_MAX = 2.0
WORDS = "token session cache login parser index socket retry schema branch deploy timeout queue vector config".split()
MB = 1024 * 1024


@dataclass
class Measured:
    """What was seen: (seconds since the start, value) each."""

    resident: list[tuple[float, float]] = field(default_factory=list)
    descriptors: list[tuple[float, float]] = field(default_factory=list)
    captures: list[tuple[float, float]] = field(default_factory=list)
    searches: list[tuple[float, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Soak:
    """One run: who works, who looks on, and when it is over."""

    def __init__(self, running: Bench, *, seconds: float, rate: float, seed: int) -> None:
        self._running = running
        self._seed = seed
        self._seconds = seconds
        self._rate = rate
        self._started = time.monotonic()
        self._vectors = 0
        self.measured = Measured()

    def run(self) -> None:
        workers = [threading.Thread(target=each) for each in (self._capture, self._ask, self._watch)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    @property
    def now(self) -> float:
        return time.monotonic() - self._started

    def _is_over(self) -> bool:
        return self.now > self._seconds or bool(self.measured.failures)

    def _capture(self) -> None:
        frames = capture_frames(random.Random(self._seed))
        for number in itertools.count():
            if self._is_over():
                return
            time.sleep(max(0.0, number / self._rate - self.now))
            frame = next(frames)
            started = time.perf_counter()
            try:
                with self._running.connect() as connection:
                    connection.settimeout(30)
                    connection.sendall(frame)
                    answer = json.loads(read_frame(connection))
            except (OSError, ValueError) as error:
                self.measured.failures.append(f"capture {number}: {type(error).__name__}")
                return
            self.measured.captures.append((self.now, (time.perf_counter() - started) * 1000))
            if not answer["ok"]:
                self.measured.failures.append(f"capture {number}: {answer['error']['code']}")

    def _ask(self) -> None:
        """Twice a second one question after the other, most of them searches."""
        chance = random.Random(self._seed + 1)
        with self._running.connect() as connection:
            connection.settimeout(120)
            for number in itertools.count():
                if self._is_over():
                    return
                time.sleep(max(0.0, number / 2 - self.now))
                request = question(chance, number)
                started = time.perf_counter()
                try:
                    answer = ask(connection, request)
                except (OSError, ValueError) as error:
                    self.measured.failures.append(f"{request['kind']}: {type(error).__name__}")
                    return
                if request["kind"] == "search":
                    self.measured.searches.append((self.now, (time.perf_counter() - started) * 1000))
                if request["kind"] == "info":
                    self._vectors = answer["counts"]["embeddings"]
                if not answer["ok"] and answer["error"]["message"] != "there is nothing with this id":
                    self.measured.failures.append(f"{request['kind']}: {answer['error']['code']}")

    def _watch(self) -> None:
        assert self._running.daemon is not None
        process = Path(f"/proc/{self._running.daemon.pid}")
        page = os.sysconf("SC_PAGE_SIZE")
        for second in itertools.count(1):
            if self._is_over():
                return
            time.sleep(max(0.0, second - self.now))
            try:
                resident = int((process / "statm").read_text().split()[1]) * page
                descriptors = sum(1 for each in (process / "fd").iterdir() if not is_connection(each))
            except OSError as error:
                self.measured.failures.append(f"the daemon is gone ({type(error).__name__})")
                return
            self.measured.resident.append((self.now, (resident - self._vectors * INDEX_BYTES) / MB))
            self.measured.descriptors.append((self.now, descriptors))
            if second % 60 == 0:
                self._tell(second // 60, resident / MB)

    def _tell(self, minute: int, resident_mb: float) -> None:
        since = (minute - 1) * 60.0
        captures = [value for at, value in self.measured.captures if at > since]
        searches = [value for at, value in self.measured.searches if at > since]
        print(
            f"minute {minute:3}: resident {resident_mb:6.1f} MB ({self.measured.resident[-1][1]:5.1f} beside the vectors),"
            f" {self.measured.descriptors[-1][1]:.0f} descriptors, {len(captures)} captures {spread(captures)},"
            f" {len(searches)} searches {spread(searches)}",
            flush=True,
        )


def is_connection(descriptor: Path) -> bool:
    """Whether it is a socket: those come and go with the clients."""
    try:
        return os.readlink(descriptor).startswith("socket:")
    except OSError:
        return True


def capture_frames(chance: random.Random) -> Iterator[bytes]:
    """Yield hook frames as an agent's day brings them: calls, failures, prompts, turn ends; some large."""
    for number in itertools.count():
        session = f"soak-{number // 2000}"
        file = f"/src/demo/{chance.choice(WORDS)}_{chance.randrange(200)}.py"
        common = {"session_id": session, "cwd": "/src/demo", "prompt_id": f"p{number // 40}"}
        match number % 40:
            case 0:
                told = {
                    "hook_event_name": "UserPromptSubmit",
                    "prompt": f"why does {sentence(chance)} fail? ({number})",
                }
            case 39:
                told = {"hook_event_name": "Stop", "last_assistant_message": f"Mended {sentence(chance)} in {file}."}
            case kind:
                told = tool_call(chance, number, kind, file)
        header = {"client": "claude-code", "frameUid": f"{number:032x}", "root": "/", "ts": time.time_ns() // 1_000_000}
        head = json.dumps(header).encode()
        yield framed(b"\x01" + len(head).to_bytes(2, "big") + head + json.dumps(common | told).encode())


def tool_call(chance: random.Random, number: int, kind: int, file: str) -> dict[str, Any]:
    called: dict[str, Any]
    if kind % 3 == 0:
        called = {
            "tool_name": "Read",
            "tool_input": {"file_path": file},
            "tool_response": {"content": text(chance, 80)},
        }
    elif kind % 3 == 1:
        edit = {
            "file_path": file,
            "old_string": text(chance, 3),
            "new_string": f"def {chance.choice(WORDS)}_{number}(): ...",
        }
        called = {"tool_name": "Edit", "tool_input": edit, "tool_response": {"filePath": file}}
    else:
        lines = 2000 if number % 1000 == 5 else 20
        output = {"stdout": text(chance, lines), "stderr": "", "interrupted": False}
        called = {"tool_name": "Bash", "tool_input": {"command": f"pytest -q {file}"}, "tool_response": output}
    called |= {"hook_event_name": "PostToolUse", "tool_use_id": f"toolu_{number}"}
    if number % 17 == 0:
        called |= {"hook_event_name": "PostToolUseFailure", "error": f"exit 1: {sentence(chance)}"}
    return called


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=5))


def text(chance: random.Random, lines: int) -> str:
    return "\n".join(f"{sentence(chance)} {chance.randrange(10_000)}" for _ in range(lines))


def question(chance: random.Random, number: int) -> dict[str, Any]:
    if number % 600 == 599:
        return {"kind": "forget", "ids": [f"e{chance.randrange(1, 1000)}"], "dryRun": False}
    if number % 60 == 30:
        return {"kind": "remember", "text": f"{sentence(chance)} was decided ({number})"}
    match number % 10:
        case 9:
            return {"kind": "recall", "prompt": f"why does {sentence(chance)} fail?"}
        case 8:
            return {"kind": "timeline", "before": 20}
        case 7:
            return {"kind": "show", "id": f"e{chance.randrange(1, 1000)}"}
        case 6:
            return {"kind": "info"}
    filters = {"tool": "Bash"} if number % 4 == 0 else {}
    return {"kind": "search", "query": sentence(chance), "k": 10, "filters": filters}


def spread(values: list[float]) -> str:
    if len(values) < 2:
        return "-"
    cuts = statistics.quantiles(values, n=100)
    return f"{cuts[49]:.1f}/{cuts[98]:.1f} ms"


def slope(points: list[tuple[float, float]]) -> float:
    """Return how much the value grows in an hour: the line of least squares through the points."""
    line = statistics.linear_regression([at for at, _ in points], [value for _, value in points])
    return line.slope * 3600


def judge(measured: Measured, seconds: float) -> Iterator[tuple[str, bool]]:
    """Yield what there is to say, and whether it is well."""
    for failure in measured.failures:
        yield failure, False
    warm = [(at, value) for at, value in measured.resident if at > seconds * WARM_UP]
    if len(warm) < 2:
        yield "too short to judge", False
        return
    grows = slope(warm)
    yield (
        f"resident memory beside the vectors, after warm-up: {warm[0][1]:.1f} -> {warm[-1][1]:.1f} MB, highest"
        f" {max(value for _, value in warm):.1f}, {grows:+.1f} MB an hour (at most {RESIDENT_MB_PER_HOUR_MAX:g})",
        grows <= RESIDENT_MB_PER_HOUR_MAX,
    )
    held = [value for at, value in measured.descriptors if at > seconds * WARM_UP]
    yield (
        f"descriptors beside connections: {held[0]:.0f} -> {held[-1]:.0f}, lowest {min(held):.0f}, highest {max(held):.0f}",
        held[-1] - held[0] <= DESCRIPTORS_MAX,
    )
    for name, points in (("capture", measured.captures), ("search", measured.searches)):
        first = [value for at, value in points if at < seconds / 3]
        last = [value for at, value in points if at > seconds * 2 / 3]
        drift = statistics.median(last) / statistics.median(first)
        bound = f"at most {DRIFT_MAX:g}" if name == "capture" else "it grows with the store, which is no leak"
        yield (
            f"{name}, median/99th of 100: first third {spread(first)}, last third {spread(last)}: {drift:.2f} times ({bound})",
            name != "capture" or drift <= DRIFT_MAX,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=50.0, help="captures a second (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"soak: {options.minutes:g} minutes, {options.rate:g} captures a second, seed {options.seed}", flush=True)
    seconds = options.minutes * 60
    with bench(**ALLOCATOR) as running:
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
