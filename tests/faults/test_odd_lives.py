"""What befalls a daemon besides kills: rivals, odd locks, a home that moves, a clock that is set back, orphans."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from daemons import Place, session_start, tool_call, wait_until
from torture import Torture

from siftd.home import ensure_workspace
from siftd.paths import Home

pytestmark = pytest.mark.slow


def test_of_two_daemons_started_at_once_one_serves_fifty_times_over() -> None:
    torture = Torture(1)
    place = torture.place
    try:
        ensure_workspace(place.paths)
        for number in range(50):
            rivals = {torture._spawn(), torture._spawn()}
            pid = wait_until("one answers", place.pid)
            [other] = rivals - {pid}
            torture._wait_for_end(other)
            assert place.capture(number)["eventId"] == number + 1
            torture._kill(pid)
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
    place.start()
    place.capture(0)
    moved = place.root / "moved"
    place.home.rename(moved)
    old, place.paths = place.paths, Home(str(moved)).for_workspace(place.paths.key)
    place.capture(1)
    place.kill()
    place.home = moved
    place.start()
    assert place.count_events() == 2
    assert not Path(old.folder).exists()


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
    assert place.couriers() == [], "the daemon took it"
    assert place.count_events() == 2
    assert place.capture(2, ts=1)["eventId"] == 3, "an event may be older than the one before it"


@pytest.mark.parametrize("order", list(itertools.permutations(["courier", "daemon", "client"])), ids="-".join)
def test_nothing_is_left_in_whichever_order_all_are_killed(place: Place, order: tuple[str, ...]) -> None:
    daemon = place.start()
    place.ask("drain")
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
    pids = {"daemon": [daemon.pid], "client": [client.pid], "courier": couriers}
    for each in order:
        for pid in pids[each]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    client.wait()
    wait_until("nothing is left", lambda: not place.processes(), 5)
