"""What `mem web` costs: its start, a search by HTTP, captures while pages listen, its memory."""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote

from bench_stand import PYTHON, Bench, ask, bench, fill, in_turns, resident_kb

PAGES = 3
ROUNDS = 6
EVENTS = 6_000
QUERIES = [f"{verb} {noun} token" for verb in ("validate", "refresh", "merge", "retry") for noun in ("auth", "cache")]
_IMPORTS = "import starlette.applications, starlette.routing, starlette.websockets, uvicorn"
_LISTENER = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.sendall(sys.argv[2].encode())
    print(connection.recv(65536).split(b"\\r\\n")[0].decode(), flush=True)
    while connection.recv(65536):
        pass
"""
"""A page as far as the server sees: a stream that is read as it comes."""

CaptureRate = Callable[[Bench, int], float]


class Served:
    """A running process."""

    def __init__(self, up: Bench) -> None:
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-m", "siftd", "web"], env=up.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        self.port = json.loads(self.process.stdout.readline())["port"]
        self.token = (up.run_folder / "web.token").read_text()
        self.key = next(up.run_folder.glob("*.sock")).stem

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def served(up: Bench) -> Iterator[Served]:
    process = Served(up)
    try:
        yield process
    finally:
        process.end()


def figures(capture_rate: CaptureRate) -> Iterator[dict[str, Any]]:
    with bench() as up:
        yield start(up)
        with up.connect() as connection:
            fill(connection, EVENTS)
            ask(connection, {"kind": "drain"})
        yield search(up)
    yield captures(capture_rate)


def start(up: Bench) -> dict[str, Any]:
    def start_once() -> float:
        started = time.perf_counter()
        process = Served(up)
        took = time.perf_counter() - started
        process.end()
        return took

    def import_once() -> float:
        started = time.perf_counter()
        subprocess.run([PYTHON, "-I", "-c", _IMPORTS], env=up.environment, check=True)
        return time.perf_counter() - started

    measured = in_turns(start_once, import_once, 10)
    return {
        "what": "`mem web`, start to listening, against importing starlette and uvicorn",
        "goal": "≤ 2 ×",
        **measured,
    }


def search(up: Bench) -> dict[str, Any]:
    with served(up) as process, up.connect() as connection:
        web = http.client.HTTPConnection("127.0.0.1", process.port)
        numbers = iter(range(1_000_000))

        def next_query() -> str:
            """Return another one each time: what was asked before is answered sooner."""
            number = next(numbers)
            return f"{QUERIES[number % len(QUERIES)]} {number}"

        def by_socket() -> float:
            query = next_query()
            started = time.perf_counter()
            ask(connection, {"kind": "search", "query": query})
            return time.perf_counter() - started

        def by_http() -> float:
            query = quote(next_query())
            started = time.perf_counter()
            web.request("GET", f"/api/projects/{process.key}/memory/search?q={query}", headers=process.headers)
            json.loads(web.getresponse().read())
            return time.perf_counter() - started

        measured = in_turns(by_http, by_socket, 200)
        measured["mb"] = resident_kb(process.process.pid) / 1024
        web.close()
    return {
        "what": "search by HTTP, 6,000 events, against the socket; memory then",
        "goal": "≤ 1.3 ×; ≤ 60 MB",
        **measured,
    }


def captures(capture_rate: CaptureRate) -> dict[str, Any]:
    with bench(memory__consolidator__tickMs=600_000) as up, served(up) as process:
        numbers = iter(range(1_000_000))
        pairs = []
        for _ in range(ROUNDS):
            alone = capture_rate(up, next(numbers))
            with ExitStack() as stack:
                for _ in range(PAGES):
                    stack.enter_context(listening(process))
                watched = capture_rate(up, next(numbers))
            pairs.append((watched, alone))
        watched, alone = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        return {
            "what": f"captures a second, {PAGES} pages open, against none; memory then",
            "goal": "≥ 0.98 ×; ≤ 60 MB",
            "ratio": statistics.median(one / other for one, other in pairs),
            "rate": watched,
            "yardstick_rate": alone,
            "mb": resident_kb(process.process.pid) / 1024,
        }


@contextmanager
def listening(process: Served) -> Iterator[None]:
    said = f"GET /api/projects/{process.key}/events HTTP/1.1\r\nHost: 127.0.0.1:{process.port}\r\n"
    said += f"Authorization: Bearer {process.token}\r\n\r\n"
    page = subprocess.Popen(
        [PYTHON, "-I", "-S", "-c", _LISTENER, str(process.port), said],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert page.stdout is not None
    assert page.stdout.readline().startswith(b"HTTP/1.1 200")
    try:
        yield
    finally:
        page.kill()
        page.communicate()
