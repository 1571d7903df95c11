"""Something that kills the daemon: it dies of it twice, then leaves that out, tells, and does the rest.

The deadly daemon is the real one, but for one function that kills the process when it meets the word "arsenic".
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import Place, tool_call, wait_until

from siftd.consolidate.drain import QUARANTINED
from siftd.errors import DaemonTimedOut, DaemonUnreachable

pytestmark = pytest.mark.slow

DEADLY = """
import importlib, os, signal, sys
path, _, name = sys.argv[1].rpartition(".")
module = importlib.import_module(path)
whole = getattr(module, name)
def deadly(*arguments):
    if "arsenic" in repr(arguments[:2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(*arguments)
setattr(module, name, deadly)
from siftd.__main__ import main
sys.exit(main(["run", "--folder", sys.argv[2]]))
"""


def spawn_deadly(place: Place, function: str) -> subprocess.Popen[bytes]:
    daemon = subprocess.Popen(
        [sys.executable, "-I", "-c", DEADLY, function, str(place.folder)],
        env=place.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
    )
    place.daemons.append(daemon)
    return daemon


def count_deaths(place: Place, function: str) -> int:
    """Start daemon after daemon until one survives its first tick; return how many did not."""
    for deaths in range(6):
        daemon = spawn_deadly(place, function)
        wait_until("it answers or has died", lambda d=daemon: d.poll() is not None or place.pid() == d.pid)  # type: ignore[misc]
        with contextlib.suppress(DaemonUnreachable, DaemonTimedOut):
            place.ask("drain")
            return deaths
        assert daemon.wait(10) == -signal.SIGKILL
    raise AssertionError("it dies for ever")


def poison(place: Place, number: int) -> None:
    place.capture(number, payload={"tool_input": {"command": "echo arsenic"}, "tool_response": {"stdout": "arsenic"}})


def found(place: Place) -> list[tuple[int, str]]:
    return [(row[0], row[1]) for row in place.rows("SELECT id, status FROM events ORDER BY id")]


@pytest.mark.parametrize(
    "function",
    ["siftd.consolidate.indexing.facets_of", "siftd.consolidate.planning.as_item"],
    ids=["index", "summarise"],
)
def test_an_event_that_kills_the_daemon_is_skipped_and_told(place: Place, function: str) -> None:
    place.start("--set", "memory.consolidator.tickMs=3600000")
    place.ask("drain")
    for number in range(5):
        poison(place, number) if number == 2 else place.capture(number)
    place.kill()
    deaths = count_deaths(place, function)
    assert deaths == 2 or (deaths == 0 and "index" in function), "it may have been indexed before the kill"
    if deaths:
        assert found(place) == [(n, "skipped" if n == 3 else "summarized") for n in range(1, 6)]
        assert place.ask("info")["parked"] == [{"status": "skipped", "reason": QUARANTINED, "count": 1}]
        assert not Path(place.paths.suspects).exists(), "the innocent are acquitted"
    place.stop()
    place.start()
    place.ask("retry", id="e3")
    place.ask("drain")
    assert {status for _, status in found(place)} == {"summarized"}, "a daemon that it does not kill takes it after all"


def test_a_text_that_kills_the_embedder_is_left_out_and_told(place: Place) -> None:
    place.start("--set", "memory.consolidator.tickMs=3600000")
    place.ask("drain")
    for number in range(5):
        poison(place, number) if number == 2 else place.capture(number)
    place.kill()
    assert count_deaths(place, "siftd.consolidate.embedding.index_words") == 2
    assert place.rows("SELECT count(*) FROM summaries") == [(5,)]
    assert place.rows("SELECT count(*) FROM summary_embeddings") == [(4,)]
    [problem] = place.ask("info")["problems"]
    assert problem.startswith("left out because it cannot be worked on: text ")


def test_a_record_whose_replay_kills_the_daemon_is_quarantined_until_a_rebuild(place: Place) -> None:
    place.start()
    for number in range(3):
        place.capture(number, sessionId="arsenic" if number == 1 else "s")
    place.stop()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{place.paths.database}{suffix}").unlink(missing_ok=True)
    assert count_deaths(place, "siftd.store.events._is_stored") == 2
    assert [event_id for event_id, _ in found(place)] == [1, 3]
    assert [file.name for file in Path(place.paths.quarantine).iterdir()] == ["condemned-2"]
    assert place.ask("info")["problems"] == ["left out because it cannot be worked on: record 2"]
    assert place.capture(3)["eventId"] == 4
    place.stop()
    place.start()
    assert [event_id for event_id, _ in found(place)] == [1, 3, 4], "it stays out"
    place.stop()
    Path(place.paths.rebuild).touch()
    place.start()
    assert [event_id for event_id, _ in found(place)] == [1, 2, 3, 4], (
        "a daemon that it does not kill takes it after all"
    )
    assert place.ask("info")["problems"] == []


def test_a_record_that_no_table_takes_is_quarantined_as_well(place: Place) -> None:
    """At once, and with nothing else: an exception that it raises at this start it raises at every one."""
    place.start()
    for number in range(3):
        place.capture(number)
    place.stop()
    from siftd.log.record import Record, encode

    with Path(place.paths.wal).open("ab") as file:
        file.write(encode(Record(seq=4, kind="undo", session_id="s")))
    place.start()
    assert len(found(place)) == 3
    assert [file.name for file in Path(place.paths.quarantine).iterdir()] == ["condemned-4"]
    assert place.ask("info")["problems"] == ["left out because it cannot be worked on: record 4"]
    assert place.capture(5)["eventId"] == 5


def test_a_locked_database_at_the_start_is_blamed_on_no_record(place: Place) -> None:
    import sqlite3

    place.start()
    place.capture(1)
    with contextlib.closing(sqlite3.connect(place.paths.database, isolation_level=None)) as person:
        person.execute("BEGIN IMMEDIATE")
        assert place.capture(2)["eventId"] == 2
        place.kill()
        for _ in range(3):
            assert place.spawn().wait(10) == 1
        person.execute("ROLLBACK")
    place.start()
    assert [event_id for event_id, _ in found(place)] == [1, 2]


def test_a_spool_file_that_kills_the_daemon_is_set_aside(place: Place) -> None:
    place.start()
    place.stop(hold=True)
    place.hooks([tool_call(number, session_id="arsenic" if number == 1 else "s") for number in range(3)])
    place.wait_for_couriers()
    Path(place.paths.hold).unlink()
    assert count_deaths(place, "siftd.daemon.ingest.spool_intake.readmit") == 2
    assert place.count_events() == 2
    assert place.spool_files() == []
    assert len(list(Path(place.paths.spool).glob("*.bad"))) == 1
    assert not Path(place.paths.suspects).exists()
