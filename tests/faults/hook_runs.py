"""The worst a hook does to an agent: `scripts/torture hooks N` runs N of them under load, whatever the daemon does.

The daemon is up, stopped (SIGSTOP), or down and held, in turns; two clients load it meanwhile. Each hook is timed as
its agent sees it, in turns with a bare `python3 -I -S -c pass`, because a machine under load delays both.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from daemons import HOOK, Place, RawClient, tool_call

from siftd.frames import encode_json

STATES = ("up", "hung", "down")
RUNS_A_STATE = 40


def seconds_of(command: list[str], place: Place, stdin: bytes) -> float:
    """Return how long a process took, its end included. Raises AssertionError unless it is silent and well."""
    began = time.monotonic()
    done = subprocess.run(
        command,
        env=place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)},
        input=stdin,
        cwd=place.folder,
        capture_output=True,
        check=False,
    )
    took = time.monotonic() - began
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return took


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


def run_state(place: Place, state: str, first: int, count: int) -> tuple[list[float], list[float]]:
    """Run hooks while the daemon is in a state; return (their seconds, a bare interpreter's)."""
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
    hooks, bare = [], []
    try:
        for number in range(first, first + count):
            if random.random() < 0.1:  # so that a hung one is waited for again and again
                Path(place.paths.slow).unlink(missing_ok=True)
            envelope = json.dumps(tool_call(number, tool_use_id=f"toolu_{number:09}")).encode()
            bare.append(seconds_of([sys.executable, "-I", "-S", "-c", "pass"], place, b""))
            hooks.append(seconds_of([sys.executable, "-I", "-S", str(HOOK)], place, envelope))
    finally:
        is_over.set()
        for client in clients:
            client.join()
        if state == "hung" and daemon is not None:
            os.kill(daemon, signal.SIGCONT)
        place.wait_for_couriers()
    return hooks, bare


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/torture hooks", description="Time hooks under load.")
    parser.add_argument("runs", type=int)
    runs = parser.parse_args().runs
    place = Place()
    times: dict[str, tuple[list[float], list[float]]] = {state: ([], []) for state in STATES}
    try:
        place.start()
        for number in range(0, runs, RUNS_A_STATE):
            state = STATES[number // RUNS_A_STATE % len(STATES)]
            hooks, bare = run_state(place, state, number, min(RUNS_A_STATE, runs - number))
            times[state][0].extend(hooks)
            times[state][1].extend(bare)
    finally:
        with contextlib.redirect_stdout(None):
            place.end()
    print(f"{runs:,} hooks, each with status 0 and without a word; milliseconds")
    print(f"{'daemon':<8}{'runs':>7}{'median':>9}{'99.9 %':>9}{'worst':>9}{'bare worst':>12}{'beyond':>9}")
    for state, (hooks, bare) in times.items():
        if hooks:
            ranked = sorted(each * 1000 for each in hooks)
            worst_bare = max(bare) * 1000
            figures = ranked[len(ranked) // 2], ranked[int(len(ranked) * 0.999)], ranked[-1]
            print(
                f"{state:<8}{len(ranked):>7}{figures[0]:>9.1f}{figures[1]:>9.1f}{figures[2]:>9.1f}"
                f"{worst_bare:>12.1f}{figures[2] - worst_bare:>9.1f}"
            )


if __name__ == "__main__":
    main()
