"""What a team costs a capture: a workspace whose team's server hangs, in turns with one that has joined none."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from typing import Any

from bench_stand import Bench, ask, bench, hook_frame, in_turns, read_frame
from faulty_proxy import faulty_proxy
from postgres import TeamDatabase
from team_service import team_service

from siftd.team_server.operator import as_owner, ensure_project, invite

PROJECT = "captured"


def figures(database: TeamDatabase, rounds: int) -> list[dict[str, Any]]:
    """Return the ratio of two medians."""
    with (
        contextlib.redirect_stdout(io.StringIO()),  # the server's log, which its tests show
        faulty_proxy() as proxy,
        team_service(database.app, "--host", f"127.0.0.1:{proxy.port}") as service,
        bench() as alone,
        bench() as joined,
    ):
        proxy.target = ("127.0.0.1", service.port)
        with as_owner(database.operator) as owner:
            code = invite(owner, ensure_project(owner, PROJECT, "hash-384"), "ana", "writer").code
        with joined.connect() as connection:
            said = {"url": proxy.url, "project": PROJECT, "invite": code, "device": "bench"}
            answer = ask(connection, {"kind": "team_join", **said})
            if not answer["ok"]:
                raise SystemExit(answer["error"]["message"])
            proxy.hang()
            ask(connection, {"kind": "remember", "text": "Something waits to be told while nobody answers."})
        found = in_turns(_capturing(joined), _capturing(alone), rounds)
    what = "capture acknowledged while the team's server hangs ÷ without a team"
    return [{"what": what, "goal": "≤ 1.02 ×", **found}]


def _capturing(running: Bench) -> Callable[[], float]:
    connection = running.connect()
    numbers = iter(range(10**9))

    def capture() -> float:
        frame = hook_frame(next(numbers))
        started = time.perf_counter()
        connection.sendall(frame)
        read_frame(connection)
        return time.perf_counter() - started

    return capture
