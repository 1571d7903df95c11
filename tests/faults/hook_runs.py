"""The worst a hook does to an agent: `scripts/torture hooks N` runs N of them under load, whatever the daemon does.

The daemon is up, stopped (SIGSTOP), or down and held, in turns; two clients load it meanwhile. Each hook is timed as
its agent sees it, beside a bare `python3 -I -S -c pass` that is started at the same moment: what delays both is the
machine's doing, and is taken off. The exit status is 1 when a hook took more than 300 ms beyond that.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from daemons import HOOK, Place, RawClient, tool_call

from siftd.wire.frames import encode_json

STATES = ("up", "hung", "down")
RUNS_A_STATE = 200
BEYOND_MS_MAX = 300
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
HOOKED = [sys.executable, "-I", "-S", str(HOOK)]


@dataclass
class Times:
    """Of one state: the milliseconds of each hook, and of the bare interpreter beside it."""

    hooks: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)

    @property
    def beyond(self) -> list[float]:
        return sorted(hook - bare for hook, bare in zip(self.hooks, self.bare, strict=True))


def time_a_pair(place: Place, envelope: bytes, times: Times) -> None:
    """Run a hook and a bare interpreter at the same time. Raises AssertionError unless both are well and silent."""
    stdin, said = place.root / "stdin", place.root / "said"
    stdin.write_bytes(envelope)
    env = place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)}
    began: dict[int, float] = {}
    is_hook: dict[int, bool] = {}
    with stdin.open("rb") as read, said.open("ab") as written:
        actions = [(os.POSIX_SPAWN_DUP2, read.fileno(), 0)]
        actions += [(os.POSIX_SPAWN_DUP2, written.fileno(), number) for number in (1, 2)]
        for command in random.sample([BARE, HOOKED], 2):
            now = time.monotonic()
            pid = os.posix_spawn(command[0], command, env, file_actions=actions)
            began[pid], is_hook[pid] = now, command is HOOKED
    while began:
        pid, status = os.wait()
        if pid in began:  # else a daemon that was stopped
            assert status == 0
            took = (time.monotonic() - began.pop(pid)) * 1000
            (times.hooks if is_hook[pid] else times.bare).append(took)
    assert said.stat().st_size == 0


def load(place: Place, is_over: threading.Event) -> None:
    """Keep the daemon busy as long as it answers."""
    payload = {"tool_input": {"command": "make"}, "tool_response": {"stdout": "a line\n" * 300}}
    message = encode_json({"kind": "capture", "sessionId": "load", "tool": "Bash", "payload": payload, "ts": 1})
    while not is_over.is_set():
        with contextlib.suppress(OSError, AssertionError, TimeoutError), RawClient(place.paths, timeout=0.5) as client:
            while not is_over.is_set():
                client.send(message * 8)
                if any(client.answer() is None for _ in range(8)):
                    break
                is_over.wait(0.02)


def run_state(place: Place, state: str, first: int, count: int, times: Times) -> None:
    """Run hooks while the daemon is in a state."""
    if state == "down":
        place.stop(hold=True)
    elif place.pid() is None:
        Path(place.paths.hold).unlink(missing_ok=True)
        place.start()
    daemon = place.pid()
    is_over = threading.Event()
    clients = [threading.Thread(target=load, args=(place, is_over)) for _ in range(2 if state == "up" else 0)]
    for client in clients:
        client.start()
    if state == "hung":
        assert daemon is not None
        os.kill(daemon, signal.SIGSTOP)
    try:
        for number in range(first, first + count):
            if random.random() < 0.1:  # so that a hung one is waited for again and again
                place.wait_again()
            envelope = json.dumps(tool_call(number, tool_use_id=f"toolu_{number:09}")).encode()
            time_a_pair(place, envelope, times)
    finally:
        is_over.set()
        for client in clients:
            client.join()
        if state == "hung" and daemon is not None:
            os.kill(daemon, signal.SIGCONT)
        place.wait_for_couriers()


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/torture hooks", description="Time hooks under load.")
    parser.add_argument("runs", type=int)
    runs = parser.parse_args().runs
    place = Place()
    times = {state: Times() for state in STATES}
    began = time.monotonic()
    try:
        place.start()
        for number in range(0, runs, RUNS_A_STATE):
            state = STATES[number // RUNS_A_STATE % len(STATES)]
            run_state(place, state, number, min(RUNS_A_STATE, runs - number), times[state])
            print(f"{number + RUNS_A_STATE:,} runs, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        with contextlib.redirect_stdout(None):
            place.end()
    print(f"{runs:,} hooks, each with status 0 and without a word; milliseconds")
    print(
        f"{'daemon':<8}{'runs':>7}{'median':>9}{'worst':>9}{'bare median':>13}{'bare worst':>12}"
        f"{'beyond, 99.9 %':>16}{'worst':>9}"
    )
    worst = 0.0
    for state, told in times.items():
        if told.hooks:
            beyond = told.beyond
            worst = max(worst, beyond[-1])
            print(
                f"{state:<8}{len(beyond):>7}{statistics.median(told.hooks):>9.1f}{max(told.hooks):>9.1f}"
                f"{statistics.median(told.bare):>13.1f}{max(told.bare):>12.1f}"
                f"{beyond[int(len(beyond) * 0.999)]:>16.1f}{beyond[-1]:>9.1f}"
            )
    print(f"the worst hook took {worst:.0f} ms beyond the interpreter beside it (at most {BEYOND_MS_MAX})")
    return 0 if worst <= BEYOND_MS_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
