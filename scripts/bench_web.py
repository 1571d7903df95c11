"""What `mem web` costs: its start, a search by HTTP, captures while pages listen, its memory."""

from __future__ import annotations

import http.client
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote

from bench_stand import PYTHON, Bench, ask, bench, fill, in_turns, resident_kb

PAGES = 3
ROUNDS = 6
EVENTS = 6_000
MANY = 100_000
DAYS = 60
DRAWINGS = 7
VIEWS = ("search", "sessions", "memories", "why", "given", "privacy", "storage", "health")
_DRAWN = """() => document.querySelector("h1") && !document.querySelector(".waiting, [aria-busy=true]")
    && performance.now()"""
"""Since the navigation began; asked at each frame that is drawn."""
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
    yield from views()


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


def views() -> Iterator[dict[str, Any]]:
    """Draw each view of a large store, from a navigation that has everything but the cache of files before it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no view was drawn: playwright is not installed", file=sys.stderr)
        return
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("no view was drawn: chromium is missing", file=sys.stderr)
        return
    with bench(memory__consolidator__tickMs=600_000) as up:
        with up.connect() as connection:
            fill(connection, MANY)
            ask(connection, {"kind": "drain"})
        up.stop()
        with sqlite3.connect(up.database) as database:
            database.execute(f"UPDATE events SET ts = ts - (({MANY} - id) * {DAYS} / {MANY}) * 86400000")
        up.start()
        with served(up) as process, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            tab = _logged_in(browser, process)
            took = {view: statistics.median(_draw(tab, process, view) for _ in range(DRAWINGS)) for view in VIEWS}
            browser.close()
    yield {
        "what": f"first view ({VIEWS[0]}) drawn after navigation, {MANY:,} events",
        "goal": "≤ 500 ms",
        "ms": took[VIEWS[0]],
    }
    for view in VIEWS[1:]:
        yield {"what": f"  {view}", "goal": "", "ms": took[view]}


def _logged_in(browser: Any, process: Served) -> Any:
    web = http.client.HTTPConnection("127.0.0.1", process.port)
    web.request("POST", "/api/codes", headers=process.headers | {"Content-Type": "application/json"})
    code = json.loads(web.getresponse().read())["code"]
    web.close()
    tab = browser.new_page()
    tab.goto(f"http://127.0.0.1:{process.port}/")
    tab.fill("#code", code)
    tab.click("button.main")
    tab.wait_for_selector("nav", state="attached")
    return tab


def _draw(tab: Any, process: Served, view: str) -> float:
    """Return how many milliseconds it took from the navigation until nothing of a view was loading."""
    tab.evaluate("(address) => { location.hash = address; }", f"#/{process.key}/{view}")
    tab.reload(wait_until="commit")
    return float(tab.wait_for_function(_DRAWN, polling="raf", timeout=60_000).json_value())
