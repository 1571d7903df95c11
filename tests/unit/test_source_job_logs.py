"""A job's log becomes what a person would read first: the step that failed and how it ended."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from siftd.team.sources.job_log import SHOWN_CHARS, WINDOW_CHARS, last_moment, shortened, tools, window
from siftd.team.sources.line import parse_moment

DATA = Path(__file__).parents[1] / "data" / "sources"


def log(name: str) -> str:
    return (DATA / name).read_bytes().decode()


def short(text: str) -> str:
    return shortened(window(text))


def test_of_actions_the_failed_step_comes_first_without_times_and_colours() -> None:
    assert short(log("actions.log")) == (
        "Failed step: python -m pytest -q\n"
        "Run python -m pytest -q\n"
        "python -m pytest -q\n"
        "collecting 100%\n"
        "FAILED tests/test_login.py::test_expired - AssertionError: expired token accepted\n"
        "1 failed, 41 passed in 5.02s\n"
        "Error: Process completed with exit code 1.\n"
        "Post job cleanup.\n"
        "Cleaning up orphan processes"
    )


def test_of_gitlab_the_script_comes_first_and_its_failure_after_it() -> None:
    kept = short(log("gitlab-job.log"))
    assert kept.startswith("Failed step: step_script\n")
    assert "$ python -m pytest -q\nFAILED tests/test_login.py::test_expired\n1 failed, 41 passed in 5.02s" in kept
    assert "ERROR: Job failed: exit code 1" in kept
    assert "\x1b" not in kept
    assert "section_" not in kept


def test_what_gh_prints_has_the_steps_names_before_each_line() -> None:
    lines = ["unit\tCheckout\t2026-11-20T10:06:01.1Z HEAD is now at 1", "unit\tTest\t2026-11-20T10:06:02.1Z 1 failed"]
    lines += ["unit\tTest\t2026-11-20T10:06:02.2Z ##[error]Process completed with exit code 1."]
    lines += ["unit\tUpload\t2026-11-20T10:06:03.1Z nothing to do"]
    assert short("\n".join(lines)) == (
        "Failed step: Test\n1 failed\nError: Process completed with exit code 1.\n\nnothing to do"
    )


def test_a_log_that_did_not_fail_is_its_end() -> None:
    assert short("2026-11-20T10:06:01Z built\nJob succeeded\n") == "built\nJob succeeded"


def test_a_log_is_bounded_whatever_it_is() -> None:
    for text in ("x" * 1_000_000, "error: x\n" * 200_000, "\x1b[" * 300_000, "\r" * 500_000, "a\tb\t" * 200_000):
        assert all(len(part) <= WINDOW_CHARS for part in window(text))
        assert len(short(text)) <= SHOWN_CHARS + 400


def test_the_tail_of_the_failed_step_is_what_stays_of_a_long_one() -> None:
    text = (
        "##[group]Run make\n"
        + "compiling\n" * 9_000
        + "ld: undefined symbol\n##[error]Process completed with exit code 2."
    )
    kept = short(text)
    assert kept.startswith("Failed step: make\n")
    assert kept.endswith("ld: undefined symbol\nError: Process completed with exit code 2.")


def test_a_log_costs_little_more_than_its_own_bytes() -> None:
    for unit in ("\n", "##[group]Run a\n##[group]Run b\n"):
        text = unit * (150_000 // len(unit))
        tracemalloc.start()
        short(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2_000_000, unit


@pytest.mark.parametrize(
    ("begins", "moment"),
    [
        ("2026-11-20T10:07:01.1234567Z", 1_795_169_221_123),
        ("2026-11-20T10:07:01Z 00O", 1_795_169_221_000),
        ("2026-11-20 10:07:01,5", 1_795_169_221_500),
        ("2026-11-20T12:07:01+02:00", 1_795_169_221_000),
        ("2026-11-20T12:07:01.123456789+0200", 1_795_169_221_123),
        ("unit\tTest\t2026-11-20T10:07:01.1Z", 1_795_169_221_100),
    ],
)
@pytest.mark.parametrize(
    "behind", ["", "0000-00-00 00:00:00 never\n", "2026-13-41T99:99:99Z\n", "0001-01-01 00:00:00\n"]
)
def test_the_last_moment_is_one_whatever_a_log_prints(begins: str, moment: int, behind: str) -> None:
    assert parse_moment(last_moment(f"{begins} done\n{behind}")) == moment


def test_a_log_without_a_moment_has_none() -> None:
    assert last_moment("0000-00-00 00:00:00\ndone\n") == ""


def test_the_tools_that_a_job_ran_are_named() -> None:
    assert tools(log("actions.log")) == ["actions/checkout@v4", "python"]
    assert tools(log("gitlab-job.log")) == ["pip", "python"]
    assert tools("$ (cd x)\n$ \n$ \x1b[1m./build.sh\n" + "".join(f"$ t{n}\n" for n in range(99)))[0] == "./build.sh"
