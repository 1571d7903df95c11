"""A daemon that is short of descriptors or threads: what it cannot take now it takes later, and it still ends."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place, is_alive, tool_call, wait_until
from few_threads import few_threads

from siftd.errors import RequestRefused

pytestmark = pytest.mark.slow
if not hasattr(resource, "prlimit"):
    pytest.skip("only Linux lets the limits of another process be set", allow_module_level=True)
CALM = ("--set", "memory.consolidator.tickMs=3600000")
WRITE = {
    "tool_name": "Write",
    "tool_input": {"file_path": "/src/demo/a.py", "content": "def first():\n    pass\n"},
    "tool_response": {"type": "create"},
}


@contextlib.contextmanager
def limited(pid: int, which: int, most: int) -> Iterator[None]:
    before = resource.prlimit(pid, which)
    resource.prlimit(pid, which, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, which, before)


def descriptors_for(pid: int, more: int) -> int:
    """Return the limit that leaves a process so many more descriptors."""
    used = {int(each) for each in os.listdir(f"/proc/{pid}/fd")}
    return [number for number in range(1024) if number not in used][more - 1] + 1


@pytest.mark.parametrize("more", [1, 2, 3])
def test_hooks_are_spooled_while_descriptors_are_short_and_none_is_lost(place: Place, more: int) -> None:
    """One descriptor is enough for the connection, and not for a module that is imported late."""
    daemon = place.start(*CALM)
    with limited(daemon.pid, resource.RLIMIT_NOFILE, descriptors_for(daemon.pid, more)):
        for number in range(3):
            assert place.hook(tool_call(number, **WRITE)).is_silent
        place.wait_for_couriers()
    wait_until("it answers again", lambda: place.pid() == daemon.pid)
    assert place.settle() == 3
    assert place.dropped() == 0
    assert place.rejections() == {}


@pytest.mark.parametrize("most", range(7))
def test_a_daemon_without_threads_ends_with_its_reason_or_answers_everything(
    place: Place, tmp_path: Path, most: int
) -> None:
    """It must not stay behind as one that says hello, takes nothing and cannot be stopped."""
    daemon = place.spawn(*CALM, env=few_threads(tmp_path, most))
    wait_until("it serves or has ended", lambda: daemon.poll() is not None or place.log_lines("daemon_started"))
    if daemon.poll() is not None:
        assert daemon.returncode == 1
        assert daemon.stderr is not None
        assert b"no thread can be started" in daemon.stderr.read()
        return
    large = {"tool_input": {"command": "make"}, "tool_response": {"stdout": "word " * 20_000}}
    for payload in ({"prompt": "x"}, large):
        with contextlib.suppress(RequestRefused):
            place.capture(1, payload=payload)
    for kind, fields in (("remember", {"text": "The queue is drained"}), ("drain", {}), ("info", {})):
        with contextlib.suppress(RequestRefused):
            place.ask(kind, **fields)
    place.ask("stop")
    wait_until("it has ended", lambda: not is_alive(daemon.pid))
