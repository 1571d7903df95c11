"""`mem top` at a real terminal: what happens is seen, and the terminal is given back as it was, however it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from daemons import Place
from live_terminals import LiveProgram
from terminals import MEM

from siftd.cli.columns import width_of
from siftd.cli.live.terminal import ENTER, LEAVE

pytestmark = pytest.mark.slow
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[1;1H\u202eevil\u200b\r部署手順"
FAILING = """
import sys
import siftd.cli.live.watching as watching
def fail(*_): raise RuntimeError("it broke")
watching.lines_of = fail
from siftd.cli import main
sys.argv = ["mem", "top"]
main()
"""


def top(place: Place, *, columns: int = 80, lines: int = 24) -> LiveProgram:
    return LiveProgram([str(MEM), "top"], place.env, place.folder, columns=columns, lines=lines)


def capture(place: Place, number: int, **fields: object) -> None:
    place.capture(number, **{"ts": time.time_ns() // 1_000_000, **fields})


def test_a_capture_that_happens_is_seen_and_q_gives_the_terminal_back(place: Place) -> None:
    place.start()
    with top(place) as program:
        program.wait_for_text("nothing yet")
        capture(place, 7)
        frame = program.wait_for_text("make target-7")
        assert any("1 stored, 1 in the last hour" in line for line in frame)
        assert program.attributes()[3] != program.before[3], "keys arrive at once"
        place.ask("search", query="target")
        program.wait_for_text("1 since the daemon started")
        program.press("q")
        assert program.ended() == 0
        assert program.attributes() == program.before
        assert program.shown.startswith(ENTER)
        assert program.shown.endswith(LEAVE), "nothing is left on the screen"


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=lambda each: str(each)
)
def test_a_signal_gives_the_terminal_back(place: Place, number: signal.Signals, status: int) -> None:
    with top(place) as program:
        program.wait_for_text("captured")
        program.process.send_signal(number)
        assert program.ended() == status
        assert program.attributes() == program.before
        assert program.shown.endswith(LEAVE)


def test_a_terminal_that_hangs_up_ends_it(place: Place) -> None:
    with top(place) as program:
        program.wait_for_text("captured")
        program.hang_up()
    assert not [line for line in place.processes().values() if line.endswith("mem top")]


@pytest.mark.parametrize("key", ["\x03", "\x04", "Q"])
def test_the_keys_that_people_try_quit(place: Place, key: str) -> None:
    with top(place) as program:
        program.wait_for_text("captured")
        program.press(key)
        assert program.ended() == 0
        assert program.attributes() == program.before


def test_an_error_of_ours_gives_the_terminal_back_and_is_told(place: Place) -> None:
    with LiveProgram([sys.executable, "-c", FAILING], place.env, place.folder) as program:
        assert program.ended() == 1
        assert program.attributes() == program.before
        assert "it broke" in program.shown.partition(LEAVE)[2], "it is told on the person's own screen"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with job control")
def test_ctrl_z_stops_it_with_the_terminal_as_it_was_and_fg_goes_on(place: Place) -> None:
    shell = [str(shutil.which("bash")), "--norc", "--noediting", "-i"]
    with LiveProgram(shell, place.env | {"PS1": "shell> "}, place.folder) as program:
        program.wait_for("the prompt", lambda it: "shell> " in it.shown)
        cooked = program.attributes()
        program.press(f"{MEM} top\n")
        program.wait_for_text("captured")
        program.press("\x1a")
        program.wait_for("it is stopped", lambda it: "Stopped" in it.shown)
        assert program.attributes() == cooked
        left = len(program.shown)
        program.press("fg\n")
        program.wait_for("it is drawn again", lambda it: "captured" in it.shown[left:] and ENTER in it.shown[left:])
        program.press("q")
        program.wait_for("it has left", lambda it: it.shown.count(LEAVE) == 2)
        program.press("exit\n")
        assert program.ended() == 0


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50), (40, 10), (20, 3)])
def test_nothing_is_wider_or_higher_than_the_terminal_and_hostile_text_is_only_shown(
    place: Place, columns: int, lines: int
) -> None:
    place.start()
    for number in range(60):
        payload = {"tool_input": {"command": f"{HOSTILE} " * 9}, "tool_response": {"stdout": HOSTILE}}
        capture(place, number, tool=f"mcp__{HOSTILE}", sessionId=HOSTILE, payload=payload)
    with top(place, columns=columns, lines=lines) as program:
        frame = program.wait_for_text("mem top  /")
        assert len(frame) == lines
        assert max(map(width_of, frame)) <= columns
        drawn = "\n".join(frame)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", drawn)
        assert "]0;owned\x07" not in program.shown
        assert "\x1b[2J" not in program.shown
        if lines > 20:
            assert any("部署手順" in line for line in frame), "what is no control is shown"


def test_another_size_is_taken_at_once(place: Place) -> None:
    with top(place) as program:
        program.wait_for_text("captured")
        program.resize(120, 40)
        program.wait_for("forty lines", lambda it: len(it.frame()) == 40)


def test_it_starts_no_daemon_and_goes_on_by_itself_when_one_runs(place: Place) -> None:
    with top(place) as program:
        frame = program.wait_for_text("no daemon runs")
        assert any("`mem start`" in line for line in frame)
        assert place.pid() is None
        assert not place.home.exists(), "looking makes nothing"
        place.start()
        capture(place, 3)
        program.wait_for_text("make target-3")
        program.wait_for_text("up ")
        place.stop()
        program.wait_for_text("no daemon runs")
        assert any("make target-3" in line for line in program.frame()), "what is stored is seen all the same"
        assert place.pid() is None


def test_a_daemon_that_does_not_answer_is_busy_and_q_is_heard_all_the_same(place: Place) -> None:
    daemon = place.start()
    capture(place, 3)
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        with top(place) as program:
            frame = program.wait_for_text("the daemon is busy")
            assert any("`mem doctor`" in line for line in frame)
            program.press("q")
            assert program.ended() == 0
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


def test_a_daemon_of_another_version_is_named_with_the_remedy(place: Place) -> None:
    place.start(patches={"siftd.__version__": "9.9.9"})
    with top(place) as program:
        frame = program.wait_for_text("the daemon is of version 9.9.9")
        assert any("`mem stop`, then `mem start`" in line for line in frame)


def test_where_nothing_can_be_drawn_it_is_one_look(place: Place) -> None:
    place.start()
    capture(place, 5)
    done = subprocess.run(
        [str(MEM), "top"], cwd=place.folder, env=place.env, capture_output=True, text=True, check=True
    )
    assert "make target-5" in done.stdout
    assert "\x1b" not in done.stdout
    assert "no terminal that can be drawn on" in done.stderr
    with LiveProgram([str(MEM), "top"], place.env | {"TERM": "dumb"}, place.folder) as program:
        assert program.ended() == 0
        assert "\x1b" not in program.shown
        assert "make target-5" in program.shown
        assert "no terminal that can be drawn on" in program.shown


def test_programs_get_one_look_as_json(place: Place) -> None:
    place.start()
    capture(place, 5)
    done = subprocess.run([str(MEM), "top", "--json"], cwd=place.folder, env=place.env, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert [each["tool"] for each in found["events"]] == ["Bash"]
    assert sum(found["byMinute"]) == 1
    assert found["state"]["daemon"]["running"]
