"""What befalls a daemon besides kills: rivals, odd locks, a home that moves, a clock that is set back, orphans."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from daemons import Place, session_start, tool_call, wait_until
from torture import Torture

from siftd.errors import DaemonUnreachable
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home

pytestmark = pytest.mark.slow


def test_of_two_daemons_started_at_once_one_serves_fifty_times_over() -> None:
    torture = Torture(1)
    place = torture.place
    try:
        ensure_workspace(place.paths)
        for number in range(50):
            rivals = {torture.spawn(), torture.spawn()}
            pid = wait_until("one answers", place.pid)
            [other] = rivals - {pid}
            torture.wait_for_end(other)
            assert place.capture(number)["eventId"] == number + 1
            torture.kill(pid)
            assert Path(place.paths.socket).is_socket(), "the next two find a stale one"
        torture.start()
        assert place.count_events() == 50
        place.stop()
    finally:
        torture.close()


def test_no_pid_in_a_lock_is_believed(place: Place) -> None:
    """A dead daemon's lock file may name any pid, also one that lives again as something else."""
    ensure_workspace(place.paths)
    Path(place.paths.lock).write_text(f"{os.getpid()}\n")
    place.start()
    place.kill()
    place.start()


def test_what_was_acknowledged_moves_with_a_home_that_is_moved_while_a_daemon_runs(place: Place) -> None:
    """It ends by itself at its next tick, as its database is gone from its path; that may come at any moment here."""
    daemon = place.start()
    acknowledged = [place.capture(0)["eventId"]]
    moved = place.root / "moved"
    place.home.rename(moved)
    old, place.paths = place.paths, Home(str(moved)).for_workspace(place.paths.key)
    with contextlib.suppress(DaemonUnreachable):
        acknowledged.append(place.capture(1)["eventId"])
    daemon.kill()
    daemon.wait()
    place.home = moved
    place.start()
    assert [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")] == acknowledged
    assert not Path(old.folder).exists()


def test_a_daemon_whose_database_is_deleted_ends_and_the_next_one_has_everything(place: Place) -> None:
    """It would look well, and `sqlite3` and every new reader would find nothing."""
    place.start("--set", "memory.consolidator.tickMs=100")
    before = [place.capture(number)["eventId"] for number in range(3)]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{place.paths.database}{suffix}").unlink(missing_ok=True)
    wait_until("it has ended", lambda: not place.processes())
    assert [line["hint"] for line in place.log_lines("database_gone")]
    place.start()
    assert [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")] == before
    assert place.ask("info")["recovery"]["databaseMadeAnewTs"]


def test_a_clock_that_is_set_back_holds_no_hook_back(place: Place) -> None:
    """Marks of a time that has not come: the back-off of a start, a daemon that was slow."""
    ensure_workspace(place.paths)
    tomorrow = time.time() + 86_400
    Path(place.paths.start).write_text(f"9 {int(tomorrow * 1000)} ended with status 1: long ago\n")
    assert place.hook(tool_call(0)).is_silent
    assert place.settle() == 1
    Path(place.paths.slow).touch()
    os.utime(place.paths.slow, (tomorrow, tomorrow))
    assert place.hook(tool_call(1)).is_silent
    has_waited = Path(place.paths.slow).stat().st_mtime < tomorrow - 3600  # in vain, on a busy machine
    assert has_waited or place.couriers() == [], "the daemon took it"
    assert place.settle() == 2
    assert place.capture(2, ts=1)["eventId"] == 3, "an event may be older than the one before it"


def serve_an_agent(place: Place) -> subprocess.Popen[bytes]:
    """Start the MCP server; it answers once it is ready, and asks the daemon for the search behind that."""
    server = subprocess.Popen(
        [sys.executable, "-I", "-m", "siftd", "mcp"],
        env=place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)},
        cwd=place.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = {"name": "search", "arguments": {"query": "target"}}
    assert server.stdin is not None
    for number, (method, params) in enumerate([("initialize", hello), ("tools/call", asked)]):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        if number == 0:
            server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    server.stdin.flush()
    return server


def others(place: Place) -> list[str]:
    """Return the command lines of what runs beside daemons."""
    return [line for line in place.processes().values() if " run --" not in line]


KILLED = ["courier", "daemon", "client", "server"]
ORDERS = (
    list(itertools.permutations(KILLED))
    if "SIFTD_TEST_KILLS" in os.environ
    else [tuple(KILLED[start:] + KILLED[:start]) for start in range(4)]
)
"""Each of the four in every place; every order where many kills are asked for."""


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_nothing_is_left_in_whichever_order_all_are_killed(place: Place, order: tuple[str, ...]) -> None:
    place.configure(daemon__idleExitMs=500)  # for those that server and courier start
    daemon = place.spawn("--set", "daemon.idleExitMs=1800000")
    server = serve_an_agent(place)
    wait_until("the daemon answers", place.pid)
    place.ask("drain")
    assert server.stdout is not None
    assert b"serverInfo" in server.stdout.readline()
    os.kill(daemon.pid, signal.SIGSTOP)
    client = subprocess.Popen(
        [str(Path(sys.executable).with_name("mem")), "info"],
        env=place.env,
        cwd=place.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert place.hook(session_start()).is_silent
    couriers = wait_until("a courier waits", place.couriers)
    pids = {"daemon": [daemon.pid], "client": [client.pid], "courier": couriers, "server": [server.pid]}
    for each in order:
        for pid in pids[each]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    client.wait()
    server.communicate()
    wait_until("nothing is left but a daemon that one of them started at the last moment", lambda: not others(place), 5)
    wait_until("nor that, once it is idle", lambda: not place.processes())


def test_the_server_of_an_agent_that_was_killed_ends_by_itself(place: Place) -> None:
    """Its standard input ends with the agent; a daemon that hangs keeps nobody."""
    daemon = place.start()
    server = serve_an_agent(place)
    assert server.stdout is not None
    assert b"serverInfo" in server.stdout.readline()
    os.kill(daemon.pid, signal.SIGSTOP)
    assert server.stdin is not None
    server.stdin.close()
    wait_until("it has ended, long before its request would", lambda: server.poll() is not None, 15)
    server.stdout.close()
    os.kill(daemon.pid, signal.SIGCONT)
