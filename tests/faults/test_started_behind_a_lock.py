"""A daemon that starts while a person holds the database's lock keeps what it is told, as a running one does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from daemons import Place

pytestmark = pytest.mark.slow
CALM = ("--set", "memory.consolidator.tickMs=3600000")


@contextmanager
def locked(place: Place) -> Iterator[None]:
    """Hold the write lock as a person with a shell of SQL does: another process, until the block ends."""
    program = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", program, place.paths.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as person:
        assert person.stdout is not None
        assert person.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            person.communicate()


def test_a_daemon_starts_and_keeps_captures_while_a_person_holds_the_lock(place: Place) -> None:
    """Its database has all that the log has, so nothing need be written before it serves."""
    place.start(*CALM)
    first = place.capture(1)["id"]
    place.stop()
    with locked(place):
        place.start(*CALM)
        second = place.capture(2)["id"]
        assert place.rows("SELECT count(*) FROM events") == [(1,)]
    place.ask("drain")
    assert [f"e{number}" for (number,) in place.rows("SELECT id FROM events ORDER BY id")] == [first, second]


def test_what_was_paused_stays_so_when_the_daemon_starts_behind_a_lock(place: Place) -> None:
    place.start(*CALM)
    place.capture(1)
    place.ask("pause")
    place.stop()
    with locked(place):
        place.start(*CALM)
        assert place.capture(2)["id"] is None
        assert place.ask("info")["pausedSince"] is not None
    assert place.count_events() == 1


def test_captures_kept_behind_a_lock_from_the_start_outlive_a_kill(place: Place) -> None:
    """The next daemon waits for the lock to go: before it serves, the database has to have what the log has."""
    place.start(*CALM)
    place.capture(1)
    place.stop()
    with locked(place):
        place.start(*CALM)
        second = place.capture(2)["id"]
        place.kill()
    place.start(*CALM)
    assert place.rows("SELECT id FROM events WHERE id = ?", int(second.removeprefix("e"))) != []
    assert place.count_events() == 2
