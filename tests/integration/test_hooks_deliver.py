"""Real hooks against a daemon that is up, down, held, hung or unable to start: no agent notices, nothing is lost.

Promises: exit 0 and silence always; a frame is stored, spooled or counted; one daemon, at most 8 couriers.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import runpy
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import HOOK, Place, recorded_envelopes, session_start, tool_call, wait_until

from siftd.wire.environment import ALLOCATOR, PASSED_ON, PATH
from siftd.wire.frames import encode_hook
from siftd.workspace.home import ensure_workspace

SECRET = "ghp_" + "a8Kq2LmN7pRtVw3XyZ5bCd6EfGh9JkM1nPqS"
HOOK_SECONDS = 1.5
"""A hook's own bound is some 0.3 s; processes on a busy machine take longer to start."""

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def most_couriers(place: Place) -> Iterator[list[int]]:
    """Watch how many couriers live at once; the list ends with the most."""
    most = [0]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.01):
            most.append(max(most[-1], len(place.couriers())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        is_over.set()
        watcher.join()


def test_a_recorded_session_becomes_rows_under_the_hooks_frame_uids(place: Place) -> None:
    place.start()
    for envelope in recorded_envelopes():
        run = place.hook(envelope)
        is_listening = b'"SessionStart"' in envelope or b'"UserPromptSubmit"' in envelope
        assert run.is_silent or (is_listening and (run.status, run.err) == (0, b""))
    rows = place.rows("SELECT frame_uid, tool, outcome FROM events ORDER BY id")
    assert len(rows) == len({frame_uid for frame_uid, _, _ in rows}) > 10
    assert all(len(frame_uid) == 32 for frame_uid, _, _ in rows)
    assert {tool for _, tool, _ in rows} >= {"UserPromptSubmit", "Stop", "Bash"}
    assert set(place.rejections()) == {"unhandled_event"}, "PreToolUse and SubagentStart are not asked for"
    sessions = place.rows("SELECT count(*), count(ended_ts) FROM sessions")
    assert sessions == [(2, 2)]


def test_a_rejected_envelope_is_counted_with_its_reason_and_the_hook_stays_silent(place: Place) -> None:
    place.start()
    assert place.hook(b"this is no JSON").is_silent
    assert place.hook(tool_call(session_id="")).is_silent
    assert place.hook(b'{"session_id": "half').is_silent
    wait_until("what was refused is counted", lambda: place.rejections() == {"not_json": 2, "no_session": 1})
    assert [line["reason"] for line in place.log_lines("capture_rejected")] == ["not_json", "no_session", "not_json"]
    assert place.couriers() == []
    assert place.count_events() == 0


def test_a_burst_of_hooks_on_a_cold_home_starts_one_daemon_and_loses_nothing(place: Place) -> None:
    with most_couriers(place) as most:
        runs = place.hooks([tool_call(number) for number in range(20)])
        assert all(run.is_silent for run in runs)
        assert place.settle() == 20
    assert most[-1] <= 8
    assert len(place.log_lines("daemon_started")) == 1
    assert place.dropped() == 0
    commands = {
        json.loads(payload)["tool_input"]["command"] for (payload,) in place.rows("SELECT payload_json FROM events")
    }
    assert commands == {f"make target-{number}" for number in range(20)}


def test_a_daemon_that_was_only_starting_does_not_count_as_slow(place: Place) -> None:
    place.configure(memory__backend="none")
    place.hook(session_start())  # makes the home; no daemon can start so
    place.wait_for_couriers()
    place.configure()
    Path(place.paths.slow).touch()
    place.start()
    assert not Path(place.paths.slow).exists()


def test_a_daemon_that_a_hook_starts_keeps_named_variables_only_and_dumps_no_core(place: Place) -> None:
    place.hook(tool_call(), env={"AWS_SECRET_ACCESS_KEY": "nobody-asked-for-this", "LC_ALL": "C.UTF-8"})
    pid = wait_until("the daemon answers", place.pid)
    names = {
        item.partition(b"=")[0].decode() for item in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if item
    }
    assert names == {"HOME", "LC_ALL", "PATH", "SIFTD_HOME", "SIFTD_NS", *({"LANG", "TZ"} & {*place.env}), *ALLOCATOR}
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert re.search(r"^Umask:\s+0077$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert re.search(r"^Max core file size\s+0\s+0\s", Path(f"/proc/{pid}/limits").read_text(), re.MULTILINE)


def test_hook_and_command_line_hand_on_the_same_variables() -> None:
    courier = runpy.run_path(str(Path(__file__).parents[2] / "hooks" / "courier.py"))
    assert (courier["PASSED_ON"], courier["PATH"], courier["ALLOCATOR"]) == (PASSED_ON, PATH, ALLOCATOR)


def test_after_a_held_stop_hooks_spool_until_a_session_starts(place: Place) -> None:
    place.start()
    place.stop(hold=True)
    with most_couriers(place) as most:
        assert all(run.is_silent for run in place.hooks([tool_call(number) for number in range(20)]))
        place.wait_for_couriers()
    assert most[-1] <= 8
    assert place.pid() is None
    assert len(place.spool_files()) == 20
    assert place.dropped() == 0

    assert place.hook(session_start()).is_silent
    wait_until("the spool is taken in", lambda: place.pid() and not place.spool_files())
    assert not Path(place.paths.hold).exists()
    assert place.count_events() == 20
    spooled = place.ask("info")["captures"]["spooled"]
    assert spooled in (20, 21), "the start's own frame too, where the daemon took long to begin"


def test_a_courier_that_a_busy_machine_held_up_for_long_still_spools(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six programs at once on two processors: to start a process and to redact took longer than the 5 s there were."""
    monkeypatch.syspath_prepend(str(HOOK.parent))
    courier = importlib.import_module("courier")
    ensure_workspace(place.paths)
    monkeypatch.chdir(place.paths.home.run)
    header = {"client": "claude-code", "frameUid": "0" * 32, "root": str(place.folder), "ts": 1_760_000_000_000}
    frame = encode_hook(json.dumps(header).encode(), json.dumps(tool_call(0)).encode())
    starved = courier.Courier(frame, place.paths.home.run, place.paths.key, str(place.folder), place.env)
    starved.born -= 10
    starved.deliver_or_spool(0)
    assert place.dropped() == 0
    assert len(place.spool_files()) == 1


def test_a_hung_daemon_costs_one_wait_and_no_event(place: Place) -> None:
    daemon = place.start()
    assert place.hook(tool_call(0)).is_silent
    os.kill(daemon.pid, signal.SIGSTOP)
    first = place.hook(tool_call(1))
    assert first.is_silent
    assert first.seconds < HOOK_SECONDS
    assert Path(place.paths.slow).exists()
    later = place.hooks([tool_call(number) for number in range(2, 20)])
    assert all(run.is_silent for run in later)
    place.wait_for_couriers()
    assert place.dropped() == 0
    assert len(place.spool_files()) >= 19  # a courier too busy to say that it took a frame: both keep it

    os.kill(daemon.pid, signal.SIGCONT)
    place.ask("drain")
    assert place.spool_files() == []
    frames = place.rows("SELECT count(*), count(DISTINCT frame_uid), count(DISTINCT uid) FROM events")
    assert frames == [(20, 20, 20)]
    assert place.pid() == daemon.pid


def test_what_a_busy_daemon_keeps_at_last_is_not_counted_as_dropped(place: Place) -> None:
    """It has the frame whole and needs longer than a courier tries; meanwhile the spool can keep nothing."""
    daemon = place.start()
    assert place.hook(tool_call(0)).is_silent
    assert place.settle() == 1
    place.wait_again()
    spool = Path(place.paths.spool)
    shutil.rmtree(spool, ignore_errors=True)
    spool.touch()
    os.kill(daemon.pid, signal.SIGSTOP)
    assert place.hook(tool_call(1)).is_silent

    def is_spooling() -> bool:
        return any(" spool " in line for line in place.processes().values())

    wait_until("the courier turns to the spool", is_spooling)
    wait_until("the spool has kept nothing", lambda: not is_spooling())
    os.kill(daemon.pid, signal.SIGCONT)
    place.wait_for_couriers()
    wait_until("what the log has is in the store too", lambda: place.count_events() == 2)
    assert place.dropped() == 0
    spool.unlink()
    spool.mkdir(mode=0o700)


def test_while_a_daemon_counts_as_slow_hooks_do_not_wait_for_it(place: Place) -> None:
    daemon = place.start()
    Path(place.paths.slow).touch()
    os.kill(daemon.pid, signal.SIGSTOP)
    quickest = min(place.hook(tool_call(number)).seconds for number in range(5))
    assert quickest < 0.25, "the wait for an answer alone takes this long"
    os.kill(daemon.pid, signal.SIGCONT)
    wait_until("every call is a row or in the spool", lambda: place.count_events() + len(place.spool_files()) >= 5)
    place.wait_for_couriers()


@pytest.mark.parametrize("problem", ["wrong setting", "newer schema"])
def test_a_daemon_that_cannot_start_leaves_a_reason_and_no_storm(place: Place, problem: str) -> None:
    if problem == "wrong setting":
        place.configure(memory__backend="nonsense")
    else:
        place.start()
        place.stop()
        with contextlib.closing(sqlite3.connect(place.paths.database)) as database, database:
            database.execute("INSERT INTO migrations VALUES (999, '0999_later', '', 0)")
    assert place.hook(tool_call(0)).is_silent
    place.wait_for_couriers()
    failures, at_ms, reason = Path(place.paths.start).read_text().split(" ", 2)
    assert failures == "1"
    assert abs(int(at_ms) / 1000 - time.time()) < 30
    assert reason.startswith("ended with status 1: ")
    assert ("nonsense" if problem == "wrong setting" else "schema 999") in reason
    [told] = map(json.loads, Path(place.paths.home.hook_failures).read_bytes().splitlines())
    assert (told["hook"], told["error"]) == ("courier", "DaemonNotStarted")

    Path(place.paths.start).write_text(f"9 {int(time.time() * 1000)} {reason}")  # the back-off lasts for minutes
    with most_couriers(place) as most:
        assert all(run.is_silent for run in place.hooks([tool_call(number) for number in range(1, 12)]))
        place.wait_for_couriers()
    assert most[-1] <= 8
    assert Path(place.paths.start).read_text().startswith("9 "), "nobody tried again"
    assert place.dropped() == 0
    assert len(place.spool_files()) == 12
    run = place.hook(session_start())
    assert json.loads(run.out).keys() == {"systemMessage"}, "the person is told in one line, the agent nothing"
    assert b"`mem doctor`" in run.out


def test_a_daemon_that_starts_after_all_forgets_the_back_off(place: Place) -> None:
    place.configure(memory__backend="nonsense")
    place.hook(tool_call(0))
    place.wait_for_couriers()
    place.configure()
    Path(place.paths.start).write_text("3 0 ended with status 1: long ago\n")
    place.hook(tool_call(1))
    assert place.settle() == 2
    assert Path(place.paths.start).read_text() == ""


def test_a_large_envelope_goes_by_courier_and_the_hook_does_not_wait(place: Place) -> None:
    place.start()
    run = place.hook(tool_call(0, tool_response={"stdout": "word " * 60_000, "stderr": ""}))
    assert run.is_silent
    assert place.settle() == 1
    assert place.dropped() == 0


def test_an_input_too_large_for_a_frame_is_counted_and_nothing_of_it_is_kept(place: Place) -> None:
    huge = json.dumps(tool_call(0, tool_response={"stdout": SECRET + "x" * 20_000_000})).encode()
    place.start()
    assert place.hook(huge).is_silent
    wait_until("what was refused is counted", lambda: place.rejections() == {"payload_too_large": 1})
    assert place.count_events() == 0
    place.stop(hold=True)
    assert place.hook(huge).is_silent
    place.wait_for_couriers()
    assert [json.loads(file.read_bytes())["reason"] for file in place.spool_files()] == ["payload_too_large"]
    Path(place.paths.hold).unlink()
    place.start()
    wait_until("the spool is taken in", lambda: not place.spool_files())
    wait_until("what was refused is counted", lambda: place.rejections() == {"payload_too_large": 2})
    assert place.dropped() == 0


def test_no_byte_of_a_secret_reaches_the_disk_by_any_way(place: Place) -> None:
    def leak(number: int) -> dict[str, object]:
        return tool_call(number, tool_input={"command": f"curl -H 'Authorization: token {SECRET}' {number}"})

    place.hooks([leak(0), leak(1)])  # cold
    assert place.settle() == 2
    place.hook(leak(2))  # up
    place.hook(b'{"session_id": "s", "prompt": "' + SECRET.encode())  # rejected
    place.hook(tool_call(3, tool_response={"stdout": f"{SECRET} {'word ' * 60_000}"}))  # large
    place.wait_for_couriers()
    place.stop(hold=True)
    place.hook(leak(4))  # spooled
    place.wait_for_couriers()
    spooled = [file.read_bytes() for file in place.spool_files()]
    assert spooled  # more than this one, where the daemon was too busy to answer a courier
    assert SECRET.encode() not in place.bytes_at_rest()
    assert all(b"[REDACTED:github-token:" in each for each in spooled)
    place.start()
    wait_until("the spool is taken in", lambda: not place.spool_files())
    place.ask("drain")
    place.stop()
    assert place.count_events() == 5
    at_rest = place.bytes_at_rest()
    assert SECRET.encode() not in at_rest
    assert at_rest.count(b"[REDACTED:github-token:") > 5


def test_the_spool_is_taken_in_at_a_tick_too_and_twice_is_once(place: Place) -> None:
    place.start("--set", "memory.consolidator.tickMs=100")
    place.stop(hold=True)
    place.hooks([tool_call(number) for number in range(3)])
    place.wait_for_couriers()
    copies = [(file, file.read_bytes()) for file in place.spool_files()]
    assert len(copies) == 3
    place.start("--set", "memory.consolidator.tickMs=100")
    wait_until("the spool is taken in at the start", lambda: not place.spool_files())
    for file, data in copies:
        file.write_bytes(data)
    wait_until("the spool is taken in at a tick", lambda: not place.spool_files())
    assert place.count_events() == 3
    captures = place.ask("info")["captures"]
    assert (captures["spooled"], captures["duplicates"]) == (6, 3)


def test_spooled_events_are_taken_in_the_order_in_which_they_happened(place: Place) -> None:
    place.start()
    place.stop(hold=True)
    for number in range(6):
        place.hook(tool_call(number))
    place.wait_for_couriers()
    place.start()
    wait_until("the spool is taken in", lambda: not place.spool_files())
    payloads = [json.loads(payload) for (payload,) in place.rows("SELECT payload_json FROM events ORDER BY id")]
    assert [payload["tool_input"]["command"] for payload in payloads] == [f"make target-{n}" for n in range(6)]


def test_one_poisoned_frame_in_the_spool_costs_no_other(place: Place) -> None:
    """`siftd spool` gets several frames at once; one that cannot be read is a counted rejection of its own."""
    place.start()
    place.stop(hold=True)
    place.hooks([tool_call(0), b"\xff\x00 no JSON", b"[" * 100_000, tool_call(1)])
    place.wait_for_couriers()
    assert place.dropped() == 0
    kinds = sorted(json.loads(file.read_bytes()).get("reason", "kept") for file in place.spool_files())
    assert kinds == ["kept", "kept", "not_json", "too_deep"]


def test_hooks_agree_with_the_frame_codec_about_the_frame(place: Place) -> None:
    """What the hook packs by hand, `siftd.wire.frames` packs alike: both are taken by the same daemon."""
    place.start()
    header = {"client": "claude-code", "frameUid": "ab" * 16, "root": str(place.folder), "ts": 1_760_000_000_000}
    raw = json.dumps(tool_call(7)).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place.paths.socket)
        connection.sendall(encode_hook(json.dumps(header).encode(), raw))
        assert b'"ok":true' in connection.recv(4096)
    assert place.hook(tool_call(7)).is_silent
    assert place.rows("SELECT frame_uid FROM events") == [("ab" * 16,)], "the same call by another frame is one row"


def test_off_means_off(place: Place) -> None:
    assert place.hook(tool_call(), env={"SIFTD_OFF": "1"}).is_silent
    assert place.processes() == {}
    assert not place.home.exists()


def test_a_session_with_siftd_off_is_not_brought_in_by_a_backfill(place: Place) -> None:
    """Its start leaves no more than that it was off: without a daemon in the spool, and none is started for it."""
    off = {"SIFTD_OFF": "1"}
    assert place.hook(session_start(), env={**off, "SIFTD_BACKEND": "1"}).is_silent
    assert not place.home.exists(), "an agent that siftd itself runs as a summariser is none of a person's"
    assert place.hook(session_start() | {"session_id": "cold"}, env=off).is_silent
    place.wait_for_couriers()
    assert place.pid() is None
    (file,) = place.spool_files()
    assert set(json.loads(file.read_bytes())) == {"version", "kind", "session_id", "ts"}
    place.start()
    assert place.hook(session_start() | {"session_id": "warm"}, env=off).is_silent
    place.ask("drain")
    transcripts = place.root / "transcripts"
    transcripts.mkdir()
    for session in ("cold", "warm", "kept"):
        line = {
            "type": "user", "message": {"role": "user", "content": f"Mend the {session} parser."}, "uuid": session,
            "sessionId": session, "cwd": "/src/demo", "timestamp": "2099-01-01T00:00:00.000Z", "promptId": session,
        }  # fmt: skip
        (transcripts / f"{session}.jsonl").write_text(json.dumps(line) + "\n")
    place.ask("backfill", paths=[str(each) for each in transcripts.iterdir()], anyWorkspace=True)
    assert place.rows("SELECT session_id FROM events") == [("kept",)]
