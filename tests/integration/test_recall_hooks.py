"""Recall by real hook processes against a real daemon, and without one."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from daemons import Place, session_start, tool_call, wait_until

POSTGRES = "Production runs on Postgres 16 behind pgbouncer"


def prompt(text: str) -> dict[str, str]:
    return {"session_id": "now", "cwd": "/src/demo", "hook_event_name": "UserPromptSubmit", "prompt": text}


def context(out: bytes) -> str:
    """Return what a hook printed for the agent."""
    return str(json.loads(out)["hookSpecificOutput"]["additionalContext"])


def test_a_prompt_gets_what_bears_on_it_and_an_off_topic_one_not_a_byte(place: Place) -> None:
    place.start()
    kept = place.ask("remember", text=POSTGRES)["id"]
    run = place.hook(prompt("which postgres version is in production?"))
    assert (run.status, run.err) == (0, b"")
    assert f"#{kept} " in context(run.out)
    assert place.hook(prompt("write a haiku about the sea")).is_silent
    assert place.hook(prompt("which postgres version is in production?")).is_silent, "never twice"
    assert place.hook(tool_call()).is_silent
    assert place.hook(prompt("which postgres version is in production?") | {"session_id": "off"},
                      {"SIFTD_OFF": "1"}).is_silent  # fmt: skip
    assert len(place.ask("injections")["injections"]) == 1


def test_without_a_daemon_a_start_gets_the_kept_brief_and_a_prompt_nothing(place: Place) -> None:
    place.start()
    kept = place.ask("remember", text=POSTGRES, pin=True)["id"]
    wait_until("the brief is kept", lambda: Path(place.paths.brief).exists())
    place.stop(hold=True)
    assert place.hook(prompt("which postgres version is in production?")).is_silent
    place.wait_for_couriers()
    run = place.hook(session_start() | {"session_id": "now"})
    assert (run.status, run.err) == (0, b"")
    assert f"#{kept} " in context(run.out)
    place.wait_for_couriers()
    wait_until("the daemon that the courier has started answers", place.pid)
    noted = wait_until("what was printed is noted", lambda: place.ask("injections")["injections"])
    assert [(each["session_id"], each["piece"]) for each in noted] == [("now", kept)]
    assert place.hook(prompt("which postgres version is in production?")).is_silent, "it has it already"


def test_a_turns_end_keeps_the_brief_current(place: Place) -> None:
    place.start()
    place.hook(prompt("calibrate the frobnicator"))
    assert not Path(place.paths.brief).exists() or b"7 percent" not in Path(place.paths.brief).read_bytes()
    place.hook({"session_id": "now", "hook_event_name": "Stop", "last_assistant_message": "It is at 7 percent."})
    wait_until("the brief tells how it ended", lambda: b"7 percent" in read(place.paths.brief))
    assert os.stat(place.paths.brief).st_mode & 0o777 == 0o600


def test_a_sessions_start_warms_what_its_first_prompt_needs(place: Place) -> None:
    daemon = place.start()
    place.hook(session_start())
    maps = Path(f"/proc/{daemon.pid}/maps")
    wait_until("vectors can be compared", lambda: "numpy" in maps.read_text())


def test_a_hung_daemon_costs_a_prompt_its_wait_and_nothing_else(place: Place) -> None:
    daemon = place.start()
    place.ask("remember", text=POSTGRES, pin=True)
    daemon.send_signal(signal.SIGSTOP)
    assert place.hook(prompt("which postgres version is in production?")).is_silent
    daemon.send_signal(signal.SIGCONT)
    place.wait_for_couriers()


def test_a_workspace_that_is_excluded_has_no_brief(place: Place) -> None:
    place.start()
    place.ask("remember", text=POSTGRES, pin=True)
    wait_until("the brief is kept", lambda: Path(place.paths.brief).exists())
    place.stop()
    excluded = {"SIFTD_CAPTURE_EXCLUDE": json.dumps([str(place.folder)])}
    assert place.spawn(env=excluded).wait(10) == 6
    assert not Path(place.paths.brief).exists()


def read(path: str) -> bytes:
    return Path(path).read_bytes() if Path(path).exists() else b""
