"""`/siftd:mem`, as the hook answers it: in the project's memory, by no shell, and nothing else that is typed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_hook_cost import Stand, is_silent, stand, wait_for_couriers

from siftd.cli import answer

__all__ = ["stand"]

MEM = Path(sys.executable).with_name("mem")


def envelope(typed: str) -> bytes:
    """Return what the client gives the hook, without spaces, as it writes it."""
    document = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": typed}
    return json.dumps(document, separators=(",", ":")).encode()


def answered(stand: Stand, typed: str, **env: str) -> str:
    done = stand.run(envelope(typed), env=stand.env | env)
    assert (done.returncode, done.stderr) == (0, b"")
    said: dict[str, Any] = json.loads(done.stdout)
    assert (said["decision"], said["hookSpecificOutput"]["hookEventName"]) == ("block", "UserPromptSubmit")
    reason: str = said["reason"]
    return reason


@pytest.fixture
def kept(stand: Stand) -> Stand:
    """A project with a memory, and no daemon held down."""
    (stand.home / "default" / "run" / f"{stand.key}.hold").unlink()
    (stand.home / "default" / "config.json").unlink()
    subprocess.run(
        [MEM, "remember", "The frobnicator says hello"],
        env=stand.env,
        cwd=stand.folder,
        check=True,
        capture_output=True,
    )
    return stand


def test_what_is_asked_is_answered_and_not_captured(kept: Stand) -> None:
    for typed in ("/siftd:mem search frobnicator", "/siftd:mem\tsearch\nfrobnicator $(id) `id`"):
        assert "The frobnicator says hello" in answered(kept, typed)
    assert "events      0:" in answered(kept, "/siftd:mem")
    wait_for_couriers(kept.home)


def test_an_answer_is_about_the_project_whatever_its_settings_say(kept: Stand) -> None:
    other = kept.root / "other"
    other.mkdir()
    assert f"workspace   {kept.folder} " in answered(kept, "/siftd:mem info", SIFTD_WORKSPACE=str(other))
    done = subprocess.run(
        [MEM, "slash"], input=b"info", env=kept.env | {"SIFTD_WORKSPACE": str(other)}, cwd=kept.folder,
        capture_output=True, check=False,
    )  # fmt: skip
    assert f"workspace   {kept.folder} ".encode() in done.stdout
    wait_for_couriers(kept.home)


def test_a_pasted_megabyte_is_a_question_like_any(kept: Stand) -> None:
    assert "no match" in answered(kept, "/siftd:mem search " + "zebra " * 200_000)
    wait_for_couriers(kept.home)


def test_what_is_no_command_of_it_is_told(stand: Stand) -> None:
    assert "this is not a command of /mem" in answered(stand, "/siftd:mem install")


@pytest.mark.parametrize(
    "typed", ["/siftd:memory", "/siftd:memx", ' "prompt":"/siftd:mem info"', "see /siftd:mem info"]
)
def test_anything_else_is_a_prompt(stand: Stand, typed: str) -> None:
    assert is_silent(stand.run(envelope(typed)))


def test_what_takes_too_long_or_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would give up on the hook and send the text to the model."""
    monkeypatch.setattr(answer, "run_mem", lambda _: signal.raise_signal(signal.SIGALRM))
    assert "the daemon goes on with it" in answer.answer(envelope("/siftd:mem drain"))
    monkeypatch.setattr(answer, "run_mem", lambda _: [][0])
    assert "it failed (IndexError)" in answer.answer(envelope("/siftd:mem info"))
    assert "it failed (JSONDecodeError)" in answer.answer(b"{")
