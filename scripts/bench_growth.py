"""What takes longer the more is stored: forgetting, scrubbing, moving and rebuilding a large store, and its memory.

`scripts/bench growth` measures 200,000 events of 0.6 KB in 2,000 sessions, captured and drained as usual (some ten
minutes). SIFTD_BENCH_EVENTS sets another number; SIFTD_BENCH_STORE names a folder in which the filled store is kept, for
the next run to begin from. Every step works on a copy of it, by a daemon of its own, whose peak of memory is told.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_stand import Bench, ask, framed, read_frame

SESSION_EVENTS = 100
_IN_FLIGHT = 64
_HOUR_MS = 3_600_000
_RULES = [{"name": "part-number", "pattern": "part-7[0-9]{2}9[0-9]", "example": "part-70090"}]
"""One that what is stored before does not know, and a few hundred events hold."""
_TOOLS = ("Edit", "Bash", "Read", "Grep")


def _words(seed: int, count: int) -> list[str]:
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    drawn = random.Random(seed)
    return ["".join(drawn.choices(syllables, k=drawn.randint(2, 4))) for _ in range(count)]


def iter_captures(count: int) -> Iterator[dict[str, Any]]:
    """Yield requests for `count` events of some 600 bytes: edits, commands and reads in words of one vocabulary."""
    vocabulary = _words(1, 20_000)
    shares = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    drawn = random.Random(2)
    start = time.time_ns() // 10**6 - 90 * 24 * _HOUR_MS
    for number in range(count):
        words = drawn.choices(vocabulary, shares, k=50)
        path = f"/src/{words[0]}/{words[1]}_{number % 997}.py"
        tool = _TOOLS[number % len(_TOOLS)]
        tool_input: dict[str, Any] = {
            "Edit": {"file_path": path, "old_string": " ".join(words[:8]), "new_string": " ".join(words[4:20])},
            "Bash": {"command": f"make {words[2]} part-{number % 100_000:05}", "description": " ".join(words[3:9])},
            "Read": {"file_path": path},
            "Grep": {"pattern": words[3], "path": f"/src/{words[0]}"},
        }[tool]
        yield {
            "kind": "capture",
            "sessionId": f"session-{number // SESSION_EVENTS}",
            "tool": tool,
            "payload": {"tool_input": tool_input, "tool_response": {"stdout": " ".join(words[9:])}},
            "ts": start + number * 30_000,
        }


def fill(running: Bench, count: int) -> None:
    """Capture and drain."""
    with running.connect() as connection:
        waiting = 0
        for request in iter_captures(count):
            connection.sendall(framed(json.dumps(request).encode()))
            waiting += 1
            if waiting == _IN_FLIGHT:
                for _ in range(waiting):
                    read_frame(connection)
                waiting = 0
        for _ in range(waiting):
            read_frame(connection)
    drain(running)


def drain(running: Bench) -> None:
    """Wait until everything is summarised and embedded; what is alike is looked for all the while."""
    with running.connect() as draining, running.connect() as asking:
        draining.sendall(framed(json.dumps({"kind": "drain"}).encode()))
        while True:
            counts = ask(asking, {"kind": "info"})["counts"]
            if not counts["raw"] and counts["embeddings"] == counts["summaries"] > 0:
                return
            time.sleep(0.5)


def figures() -> Iterator[dict[str, Any]]:
    """Measure each step on a copy of the filled store."""
    count = int(os.environ.get("SIFTD_BENCH_EVENTS", "200000"))
    chosen = os.environ.get("SIFTD_BENCH_STEPS", "").split() or list(_STEPS)
    with tempfile.TemporaryDirectory(prefix="siftd-growth-") as folder:
        store = Path(os.environ.get("SIFTD_BENCH_STORE", f"{folder}/filled"))
        if not store.exists():
            _make(store, count)
        for name in chosen:
            step, goal = _STEPS[name]
            with _copied(store, Path(folder) / "step") as running:
                for what, seconds in step(running, store):
                    figure = {"what": f"{what}, {count:,} events", "goal": goal, "seconds": seconds}
                    yield figure | {"mb": _peak_mb(running)}


def _make(store: Path, count: int) -> None:
    store.mkdir(parents=True)
    running = _bench(store, store)
    running.start()
    try:
        fill(running, count)
        _took(running, {"kind": "export", "path": str(store / "exported.ndjson")})
    finally:
        running.stop()


@contextmanager
def _copied(store: Path, folder: Path) -> Iterator[Bench]:
    """A copy of the filled store, of the same workspace, without a daemon yet."""
    shutil.copytree(store / "home", folder / "home", ignore=shutil.ignore_patterns("*.sock", "*.lock"))
    running = _bench(folder, store)
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder)


def _bench(folder: Path, store: Path) -> Bench:
    """A daemon of the filled store's workspace with its home in `folder`; no tick disturbs what is measured."""
    running = Bench(folder, ["-m", "siftd", "run", "--folder", str(store / "workspace")])
    running.workspace = store / "workspace"
    running.environment["SIFTD_WORKSPACE"] = str(running.workspace)
    return running


Told = Iterator[tuple[str, float]]


def _forget(running: Bench, _: Path) -> Told:
    running.start()
    _wait_for_tick(running)
    for number in (123, 77_777):
        yield "forget of one event", _took(running, {"kind": "forget", "dryRun": False, "ids": [f"e{number}"]})
    yield (
        "forget of a session of 100 events",
        _took(running, {"kind": "forget", "dryRun": False, "session": "session-7"}),
    )


def _scrub(running: Bench, _: Path) -> Told:
    running.start()
    _wait_for_tick(running)
    yield "scrub, nothing to change", _took(running, {"kind": "scrub", "dryRun": False})
    (running.run_folder.parent / "config.json").write_text(json.dumps({"redact.rules": _RULES}))
    yield "scrub by a new rule", _took(running, {"kind": "scrub", "dryRun": False})


def _rebuild(running: Bench, _: Path) -> Told:
    for each in (*running.database.parent.glob("db.sqlite*"), *running.database.parent.glob("snapshots/*")):
        each.unlink()
    started = time.perf_counter()
    running.start(120)
    yield "rebuild from the log alone, to the first answer", time.perf_counter() - started
    started = time.perf_counter()
    drain(running)
    yield "until all is summarised and embedded after it", time.perf_counter() - started


def _import(running: Bench, store: Path) -> Told:
    shutil.rmtree(running.database.parent)
    running.start()
    for what in ("import into an empty store", "the same import again"):
        yield what, _took(running, {"kind": "import", "path": str(store / "exported.ndjson")})


def _work(running: Bench, _: Path) -> Told:
    """What a day brings: searches, an export, a backup."""
    running.start()
    _wait_for_tick(running)
    yield "a search", _took(running, {"kind": "search", "query": "which part was built by make last week"})
    yield "export", _took(running, {"kind": "export", "path": f"{running.environment['HOME']}/exported.ndjson"})
    yield "backup", _took(running, {"kind": "backup", "path": f"{running.environment['HOME']}/backup.sqlite"})


_STEPS: dict[str, tuple[Callable[[Bench, Path], Told], str]] = {
    "forget": (_forget, "≤ 2 s, 250 MB"),
    "scrub": (_scrub, "≤ 10 s, 250 MB"),
    "import": (_import, "≤ 60 s, 250 MB"),
    "rebuild": (_rebuild, "≤ 60 s, 250 MB"),
    "work": (_work, "250 MB"),
}


def _took(running: Bench, request: dict[str, Any]) -> float:
    started = time.perf_counter()
    with running.connect() as connection:
        answer = ask(connection, request)
    if not answer["ok"]:
        raise SystemExit(f"{request['kind']}: {answer['error']['message']}")
    return time.perf_counter() - started


def _wait_for_tick(running: Bench) -> None:
    """Let the first tick begin and end: it looks whether everything is indexed."""
    time.sleep(1)
    _took(running, {"kind": "forget", "ids": ["e1"]})


def _peak_mb(running: Bench) -> float:
    assert running.daemon is not None
    lines = Path(f"/proc/{running.daemon.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
