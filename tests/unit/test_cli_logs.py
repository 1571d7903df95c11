"""`mem logs`: the last lines across a rotation, and lines as they come."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from siftd.cli.commands.logs import format_line, iter_added, list_last


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "0123456789abcdef.ndjson"


def steps(*actions: Callable[[], object]) -> Callable[[], object]:
    """Return a pause that does one thing after the other; once all are done, waiting any longer is an error."""
    left = iter(actions)
    return lambda: next(left)()


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_last_lines_reach_back_over_a_rotation(log: Path) -> None:
    log.with_name(f"{log.name}.1").write_text("one\ntwo\n")
    log.write_text("three\n")
    assert list_last(str(log), 2) == ["two", "three"]
    assert list_last(str(log), 9) == ["one", "two", "three"]
    assert list_last(str(log), 0) == []


def test_a_daemon_that_never_ran_has_no_lines(log: Path) -> None:
    assert list_last(str(log), 5) == []


def test_following_begins_at_the_end_and_waits_for_whole_lines(log: Path) -> None:
    log.write_text("before\n")
    pause = steps(lambda: append(log, "ha"), lambda: append(log, "lf\nwhole\n"))
    assert list(islice(iter_added(str(log), pause), 2)) == ["half", "whole"]


def test_following_goes_on_in_the_new_file_after_a_rotation(log: Path) -> None:
    log.write_text("")

    def rotate() -> None:
        append(log, "last of the old\n")
        log.replace(f"{log}.1")
        log.write_text("first of the new\n")

    pause = steps(rotate, lambda: append(log, "second\n"))
    assert list(islice(iter_added(str(log), pause), 3)) == ["last of the old", "first of the new", "second"]


def test_following_begins_before_the_log_exists(log: Path) -> None:
    assert list(islice(iter_added(str(log), steps(lambda: log.write_text("born\n"))), 1)) == ["born"]


def test_a_line_is_readable() -> None:
    line = {
        "event": "capture_kept",
        "event_id": 3,
        "tool": "Bash",
        "level": "info",
        "timestamp": "2026-03-01T12:00:05.1Z",
    }
    assert format_line(json.dumps(line)) == "2026-03-01 12:00:05  info     capture_kept event_id=3 tool=Bash"


def test_a_line_that_is_not_ours_stays_as_it_is() -> None:
    assert format_line("torn {") == "torn {"
    assert format_line('["list"]') == '["list"]'
