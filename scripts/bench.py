"""Measures siftd against yardsticks taken in the same run, because machines are noisy and ratios are not.

Every row is a ratio of medians (or a plain figure) with its goal; nothing here is a test. The two sides of a ratio
take turns. Everything runs on a throw-away home and workspace; nothing but unix sockets and files is touched.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import selectors
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from bench_stand import (
    ENVELOPE,
    GUARD,
    HOOK,
    MEM,
    PYTHON,
    Bench,
    ask,
    bench,
    fill,
    hook_frame,
    in_turns,
    processor_seconds,
    read_frame,
    resident_kb,
    seconds_of,
    wakeups,
)

from siftd.clients.claude_code.settings import format_command
from siftd.clients.registry import CLIENTS, DEFAULT
from siftd.install.launcher import format_entry, write_launcher
from siftd.workspace.paths import Home

ROWS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {}


QUICK = False
"""Whether a row that can measures less of it: `--quick`."""


def row(function: Callable[[], Iterator[dict[str, Any]]]) -> Callable[[], Iterator[dict[str, Any]]]:
    ROWS[function.__name__] = function
    return function


@row
def hook() -> Iterator[dict[str, Any]]:
    bare = [PYTHON, "-I", "-S", "-c", "pass"]
    command = [PYTHON, "-I", "-S", HOOK]
    number = 0

    def run_hook(environment: dict[str, str]) -> float:
        nonlocal number
        number += 1
        return seconds_of(command, environment, ENVELOPE.replace("toolu_{}", f"toolu_{number}").encode())

    with bench() as up:
        figures = in_turns(lambda: run_hook(up.environment), lambda: seconds_of(bare, up.environment), 100)
        yield {"what": "hook, daemon up, whole process", "goal": "≤ 1.4 ×", **figures}
    with bench() as down:
        with down.connect() as connection:
            ask(connection, {"kind": "stop", "hold": True})
        if down.daemon:
            down.daemon.wait(30)

        def courier_gone() -> None:
            while subprocess.run(["pgrep", "-f", str(down.workspace)], stdout=subprocess.DEVNULL).returncode == 0:
                time.sleep(0.02)

        figures = in_turns(
            lambda: run_hook(down.environment), lambda: seconds_of(bare, down.environment), 60, courier_gone
        )
        courier_gone()
        yield {"what": "hook, daemon down, whole process", "goal": "≤ 1.8 ×", **figures}


@row
def guard() -> Iterator[dict[str, Any]]:
    """The guard of Claude Code's own memory before an edit of another file, which is what it sees nearly always."""
    bare = [PYTHON, "-I", "-S", "-c", "pass"]
    command = [PYTHON, "-I", "-S", GUARD]
    with bench() as up:
        edit = {"file_path": f"{up.workspace}/src/auth.py", "content": "x" * 6_000}
        call = {"hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": str(up.workspace), "tool_input": edit}
        raw = json.dumps(call).encode()
        figures = in_turns(
            lambda: seconds_of(command, up.environment, raw), lambda: seconds_of(bare, up.environment), 200
        )
        yield {"what": "guard, an edit that passes, whole process", "goal": "≤ 1.1 ×", **figures}


@row
def clients() -> Iterator[dict[str, Any]]:
    """Each client's entry, run by the shell that the client starts, beside Claude Code's: the same event for all."""
    raw = ENVELOPE.replace('"toolu_{}"', "null").encode()  # no id: each delivery is a fact of its own
    with bench() as up:
        home = Home(up.environment["SIFTD_HOME"])
        write_launcher(home)
        yardstick = ["/bin/sh", "-c", format_command(PYTHON, HOOK)]
        for client in CLIENTS.values():
            if client.name == DEFAULT or client.installer is None:
                continue
            entry = ["/bin/sh", "-c", format_entry(home.launcher, client.name)]
            figures = in_turns(
                lambda entry=entry: seconds_of(entry, up.environment, raw),  # type: ignore[misc]
                lambda: seconds_of(yardstick, up.environment, raw),
                40,
            )
            yield {"what": f"hook of {client.title}, whole process", "goal": "≤ 1.05 × Claude Code's", **figures}


@row
def capture() -> Iterator[dict[str, Any]]:
    size = len(ENVELOPE)
    what = f"capture of {size} bytes acknowledged, one client"
    yield {"what": f"{what}, all rules on", "goal": "≤ 6 × write + fdatasync", **capture_figures(redacts=True)}
    yield {"what": f"{what}, without redaction", "goal": "", **capture_figures(redacts=False)}


def capture_figures(*, redacts: bool) -> dict[str, Any]:
    data = b"x" * len(ENVELOPE)
    numbers = iter(range(10**9))
    with tempfile.TemporaryDirectory(prefix="siftd-bench-") as folder, bench(redacts=redacts) as running:
        file = os.open(f"{folder}/yardstick", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def write_and_sync() -> float:
            started = time.perf_counter()
            os.write(file, data)
            os.fdatasync(file)
            return time.perf_counter() - started

        with running.connect() as connection:

            def capture_one() -> float:
                frame = hook_frame(next(numbers))
                started = time.perf_counter()
                connection.sendall(frame)
                read_frame(connection)
                return time.perf_counter() - started

            figures = in_turns(capture_one, write_and_sync, 1500)
        os.close(file)
    return figures


@row
def throughput() -> Iterator[dict[str, Any]]:
    with (
        bench(memory__consolidator__tickMs=600_000) as redacting,
        bench(memory__consolidator__tickMs=600_000, redacts=False) as bare,
    ):
        time.sleep(0.5)
        rounds = [(insert_rate(), capture_rate(redacting, n), capture_rate(bare, n)) for n in range(5)]
    inserts, captures, unredacted = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    for what, rate, goal in (
        ("all rules on", captures, "≥ 0.6 × SQLite inserts, synchronous=FULL"),
        ("without redaction", unredacted, ""),
    ):
        yield {
            "what": f"captures a second, 16 clients, {what}",
            "goal": goal,
            "ratio": rate / inserts,
            "rate": rate,
            "yardstick_rate": inserts,
        }


def insert_rate(count: int = 3000) -> float:
    with tempfile.TemporaryDirectory(prefix="siftd-bench-") as folder:
        connection = sqlite3.connect(f"{folder}/yardstick.sqlite", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, payload TEXT)")
        started = time.perf_counter()
        for _ in range(count):
            connection.execute("INSERT INTO t (payload) VALUES (?)", (ENVELOPE,))
        took = time.perf_counter() - started
        connection.close()
        return count / took


def capture_rate(running: Bench, round_number: int, count: int = 8000, clients: int = 16) -> float:
    frames = [hook_frame(10**7 * (round_number + 1) + number) for number in range(count)]
    selector = selectors.DefaultSelector()
    for _ in range(clients):
        connection = running.connect()
        selector.register(connection, selectors.EVENT_READ)
    started = time.perf_counter()
    for key in list(selector.get_map().values()):
        key.fileobj.sendall(frames.pop())  # type: ignore[union-attr]
    answered = 0
    while answered < count:
        for key, _ in selector.select():
            key.fileobj.recv(65536)  # type: ignore[union-attr]
            answered += 1
            if frames:
                key.fileobj.sendall(frames.pop())  # type: ignore[union-attr]
    took = time.perf_counter() - started
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    return count / took


@row
def start() -> Iterator[dict[str, Any]]:
    # As a daemon imports them: structlog takes `rich` wherever it is, which takes as long as the four together.
    imports = [PYTHON, "-c", "import sys; sys.modules['rich'] = None; import anyio, msgspec, sqlite3, structlog"]
    with bench(running=False) as cold:

        def start_once() -> float:
            started = time.perf_counter()
            cold.start()
            took = time.perf_counter() - started
            cold.stop()
            return took

        yield {
            "what": "daemon start to first hello",
            "goal": "≤ 1.6 × importing anyio, msgspec, sqlite3, structlog",
            **in_turns(start_once, lambda: seconds_of(imports, cold.environment), 15),
        }
    with bench() as idle:
        time.sleep(2.5)
        assert idle.daemon is not None
        before = wakeups(idle.daemon.pid)
        time.sleep(10)
        yield {
            "what": "idle daemon, resident",
            "goal": "≤ 50 MB",
            "mb": resident_kb(idle.daemon.pid) / 1024,
            "wakeups_a_second": (wakeups(idle.daemon.pid) - before) / 10,
        }


@row
def drain() -> Iterator[dict[str, Any]]:
    with bench(memory__consolidator__tickMs=600_000) as running:
        time.sleep(0.5)
        with running.connect() as connection:
            fill(connection, 5000)
            time.sleep(4)
            started = time.perf_counter()
            answer = ask(connection, {"kind": "drain"})
            took = time.perf_counter() - started
        yield {
            "what": "drain, extractive and blend-384",
            "goal": "≥ 1,500 events a second",
            "rate": answer["processed"] / took,
        }


@row
def freshness() -> Iterator[dict[str, Any]]:
    tick_seconds = 5
    with bench(memory__consolidator__tickMs=tick_seconds * 1000) as running:
        with running.connect() as connection:
            for number in range(5 * 30):
                connection.sendall(hook_frame(number))
                read_frame(connection)
                time.sleep(0.2)
        time.sleep(tick_seconds + 5)
        with closing(sqlite3.connect(running.database)) as database:
            waits = [
                (written - captured) / 1000
                for captured, written in database.execute(
                    "SELECT e.ts, s.ts FROM events e LEFT JOIN summaries s ON s.event_id = e.id"
                )
                if written is not None
            ]
    yield {
        "what": "a capture's wait for its summary, 5 captures a second",
        "goal": f"95 % within one tick ({tick_seconds} s) + 5 s",
        "p95_ms": sorted(waits)[int(len(waits) * 0.95)] * 1000,
        "summaries": len(waits),
    }


@row
def commands() -> Iterator[dict[str, Any]]:
    with bench(memory__consolidator__tickMs=600_000) as running:
        with running.connect() as connection:
            fill(connection, 10_000)
            ask(connection, {"kind": "drain"})
        environment = running.environment | {"PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}"}
        bare = [PYTHON, "-c", "pass"]
        for arguments in (["info"], ["search", "token test"]):
            asked = partial(seconds_of, [MEM, *arguments], environment)
            yield {
                "what": f"mem {arguments[0]}, whole process, daemon up",
                "goal": "≤ 3 × python3 -c pass",
                **in_turns(asked, lambda: seconds_of(bare, environment), 30),
            }


@row
def search() -> Iterator[dict[str, Any]]:
    """Searches over made-up stores of the sizes in SIFTD_BENCH_SUMMARIES."""
    import bench_search

    goals = {10_000: "≤ 5 ms", 100_000: "≤ 20 ms", 1_000_000: "≤ 100 ms, ≤ 2.5 GB"}
    for size in map(int, os.environ.get("SIFTD_BENCH_SUMMARIES", "10000,100000").split(",")):
        with bench(memory__consolidator__tickMs=86_400_000, store__keepDays=None) as running:
            running.stop()
            bench_search.fill(running.database, size)
            running.start()
            with running.connect() as connection:
                ask(connection, {"kind": "drain"})  # the new vectors are compared: nothing else is at work from now on
                while ask(connection, {"kind": "search", "query": "warm", "k": 10})["degraded"]:
                    pass
                took = [
                    ask(connection, {"kind": "search", "query": question, "k": 10})["ms"]
                    for question in bench_search.questions()
                ]
                assert running.daemon is not None
                yield {
                    "what": f"search, {size:,} summaries, in the daemon",
                    "goal": goals.get(size, ""),
                    "ms": statistics.median(took),
                    "p95_ms": sorted(took)[int(len(took) * 0.95)],
                    "mb": resident_kb(running.daemon.pid) / 1024,
                }
            running.stop()
            yield from bench_search.index_figures(running.database)
            running.start()


@row
def reembed() -> Iterator[dict[str, Any]]:
    """`mem reembed` of 100,000 made-up summaries, newest first, by the built-in embedder."""
    import bench_search

    with bench(memory__consolidator__tickMs=86_400_000, store__keepDays=None) as running:
        running.stop()
        bench_search.fill(running.database, 100_000)
        running.start()
        with running.connect() as connection:
            ask(connection, {"kind": "reembed"})  # once unmeasured: made-up rows have their words split by it too
            assert running.daemon is not None
            started, worked = time.perf_counter(), processor_seconds(running.daemon.pid)
            answer = ask(connection, {"kind": "reembed"})
            took = time.perf_counter() - started
            worked = processor_seconds(running.daemon.pid) - worked
        yield {
            "what": f"re-embedding {answer['embedded']:,} summaries, blend-384",
            "goal": "≤ 60 s",
            "seconds": took,
            "processor_seconds": worked,
        }


@row
def recall() -> Iterator[dict[str, Any]]:
    """A prompt's hook, in a store of 3,000 events, that prints what bears on it: another session each time."""
    bare = [PYTHON, "-I", "-S", "-c", "pass"]
    command = [PYTHON, "-I", "-S", HOOK]
    sessions = iter(range(10_000))
    printed = []

    def run_hook(environment: dict[str, str]) -> float:
        prompt = {"session_id": f"p{next(sessions)}", "hook_event_name": "UserPromptSubmit"}
        prompt["prompt"] = "How do amounts reach the payment gateway of the warehouse, in cents or in euros?"
        started = time.perf_counter()
        done = subprocess.run(command, env=environment, input=json.dumps(prompt).encode(), capture_output=True)
        printed.append(bool(done.stdout))
        return time.perf_counter() - started

    with bench() as up, up.connect() as connection:
        fill(connection, 3_000)
        ask(connection, {"kind": "remember", "text": "The payment gateway wants amounts in cents, never in euros."})
        ask(connection, {"kind": "drain"})
        figures = in_turns(lambda: run_hook(up.environment), lambda: seconds_of(bare, up.environment), 200)
        assert any(printed), "no hook printed anything"
        yield {
            "what": "recall hook, daemon up, 3,000 events, whole process",
            "goal": "≤ bare interpreter + 60 ms, p99 ≤ 300 ms",
            "over_ms": figures["ms"] - figures["yardstick_ms"],
            "told": f"{sum(printed)} of {len(printed)} in time",
            "p99_ms": figures["p99"],
            **{name: figures[name] for name in ("ms", "yardstick_ms")},
        }
        brief = ask(connection, {"kind": "brief"})
        yield {"what": "a brief in that store", "goal": "≤ 600 tokens", "tokens": brief["tokens"]}


@row
def mcp() -> Iterator[dict[str, Any]]:
    """From the server's start over `initialize` to its list of tools, against importing the SDK's server."""
    with bench() as up:

        def list_tools() -> float:
            hello = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }
            requests = [
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            ]
            started = time.perf_counter()
            server = subprocess.Popen(
                [PYTHON, "-I", "-m", "siftd", "mcp"], env=up.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert server.stdin is not None
            assert server.stdout is not None
            for request in requests:
                server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            while b'"id":2' not in (line := server.stdout.readline()):
                assert line, "the server ended"
            took = time.perf_counter() - started
            server.stdin.close()
            server.stdout.close()
            server.wait()
            shown.append(line)
            return took

        shown: list[bytes] = []
        imported = [PYTHON, "-I", "-c", "import mcp.server"]
        figures = in_turns(list_tools, lambda: seconds_of(imported, up.environment), 8)
        told = [
            {name: tool.get(name) for name in ("name", "description", "inputSchema")}
            for tool in json.loads(shown[-1])["result"]["tools"]
        ]
        tokens = len(json.dumps(told, separators=(",", ":"))) // 4
        yield {
            "what": "`siftd mcp`, start to its list of tools, against importing the SDK",
            "goal": "≤ 1.3 ×",
            **figures,
        }
        yield {"what": "the default tools' names, descriptions and inputs", "goal": "≤ 900 tokens", "tokens": tokens}


@row
def growth() -> Iterator[dict[str, Any]]:
    import bench_growth

    yield from bench_growth.figures()


@row
def graph() -> Iterator[dict[str, Any]]:
    """Walks over a made-up graph."""
    import bench_graph

    with bench(memory__consolidator__tickMs=86_400_000, store__keepDays=None) as running:
        with running.connect() as connection:
            fill(connection, bench_graph.EVENTS // 3)
        running.stop()
        bench_graph.fill(running.database)
        running.start()
        with running.connect() as connection:
            assert running.daemon is not None
            pid = running.daemon.pid
            ask(connection, {"kind": "drain"})  # names get their vectors meanwhile, which is not what is measured
            yield from bench_graph.figures(lambda request: ask(connection, request), lambda: processor_seconds(pid))


@row
def held() -> Iterator[dict[str, Any]]:
    import bench_held

    yield from bench_held.figures()


@row
def documents() -> Iterator[dict[str, Any]]:
    import bench_documents

    yield from bench_documents.figures()


@row
def web() -> Iterator[dict[str, Any]]:
    import bench_web

    yield from bench_web.figures(lambda running, number: capture_rate(running, number))


@row
def team() -> Iterator[dict[str, Any]]:
    """A team's store on real PostgreSQL; the recorded questions in SIFTD_BENCH_QUESTIONS, folders joined by a colon."""
    import bench_team

    yield from bench_team.figures(quick=QUICK)


def describe(figures: dict[str, Any]) -> str:
    shown = {
        "ratio": "{:.2f} ×",
        "over_ms": "bare interpreter + {:.1f} ms",
        "told": "{}",
        "seconds": "{:.1f} s",
        "processor_seconds": "({:.1f} s of the processor)",
        "ms": "{:.2f} ms",
        "processor_ms": "({:.1f} ms of the processor)",
        "yardstick_ms": "(yardstick {:.2f} ms)",
        "p95_ms": "p95 {:.2f} ms",
        "p99_ms": "p99 {:.0f} ms",
        "tokens": "{:,} tokens",
        "rate": "{:,.0f} a second",
        "yardstick_rate": "(yardstick {:,.0f})",
        "found": "{}",
        "recall": "recall@10 {:.3f} of exact",
        "mb": "{:.1f} MB",
        "wakeups_a_second": "{:.1f} wake-ups a second",
        "summaries": "{:,} summaries",
    }
    return ", ".join(text.format(figures[name]) for name, text in shown.items() if name in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="rows to measure (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="a twentieth of the row `team`: that it works, not its cost"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    chosen = parser.parse_args()
    global QUICK
    QUICK = chosen.quick
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    print(f"{time.strftime('%Y-%m-%d')} on {machine}\n\n| what | measured | goal |\n|---|---|---|")
    results = []
    for name in chosen.rows or ROWS:
        for figures in ROWS[name]():
            results.append(figures)
            print(f"| {figures['what']} | {describe(figures)} | {figures['goal']} |", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": machine, "rows": results}, indent=1))


if __name__ == "__main__":
    main()
