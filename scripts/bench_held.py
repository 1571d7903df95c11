"""How long a message of 16 MiB keeps others waiting: a process of its own says hello every two milliseconds.

The yardstick is the same greeting of the same daemon just before, with nothing to do.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from bench_stand import Bench, ask, bench, framed, read_frame

MESSAGE_BYTES = 16 * 1024 * 1024 - 4_096
PAUSE_SECONDS = 0.002
REST_SECONDS = 0.5


def filled(unit: bytes, between: bytes = b"") -> bytes:
    return between.join([unit] * (MESSAGE_BYTES // (len(unit) + len(between))))


BODIES: dict[str, Callable[[], bytes]] = {
    "text": lambda: b'"' + filled(b"a line of a build\\n") + b'"',
    "one character": lambda: b'"' + filled(b"a") + b'"',
    "two-byte letters": lambda: b'"' + filled("é".encode()) + b'"',
    "lone surrogates": lambda: b'"' + filled(b"\\ud800") + b'"',
    "empty lists": lambda: b"[" + filled(b"[]", b",") + b"]",
    "numbers": lambda: b"[" + filled(b"1", b",") + b"]",
    "short strings": lambda: b"[" + filled(b'"ab"', b",") + b"]",
    "secrets": lambda: b'"' + filled(b"--password hunter2x ") + b'"',
    "brackets": lambda: filled(b"["),
    "no JSON": lambda: filled(b"x"),
}


def figures() -> Iterator[dict[str, Any]]:
    """Yield a row for each kind of message."""
    with bench() as running:
        for number, (name, body) in enumerate(BODIES.items()):
            head = {"kind": "capture", "sessionId": "held", "tool": "Bash", "ts": number}
            message = json.dumps(head).encode()[:-1] + b',"payload":{"tool_response":' + body() + b"}}"
            yield {"what": f"hello while 16 MiB of {name} are taken in", "goal": "≤ 20 ms", **waiting(running, message)}


def waiting(running: Bench, message: bytes) -> dict[str, Any]:
    """Return the longest and the middle wait of a greeting, and the longest while nothing was to be done."""
    ours, theirs = multiprocessing.Pipe()
    greeter = multiprocessing.Process(target=greet, args=(running, theirs))
    greeter.start()
    try:
        time.sleep(REST_SECONDS)
        ours.send("idle")
        idle = ours.recv()
        with running.connect() as connection:
            connection.settimeout(300)
            connection.sendall(framed(message))
            read_frame(connection)
        ours.send("stop")
        busy = ours.recv()
    finally:
        greeter.join(5)
        greeter.kill()
    busy.sort()
    return {
        "ms": max(busy) * 1000,
        "yardstick_ms": max(idle) * 1000,
        "p99_ms": busy[int(len(busy) * 0.99)] * 1000,
        "median_ms": statistics.median(busy) * 1000,
    }


def greet(running: Bench, told: Connection) -> None:
    """Say hello again and again; at each word, tell how long the answers took since the last."""
    waits: list[float] = []
    with running.connect() as connection:
        assert isinstance(connection, socket.socket)
        word = ""
        while word != "stop":
            started = time.perf_counter()
            ask(connection, {"kind": "hello"})
            waits.append(time.perf_counter() - started)
            time.sleep(PAUSE_SECONDS)
            if told.poll():
                word = told.recv()
                told.send(waits)
                waits = []
