"""Real hooks tell a real daemon that a session ends: it brings the notes up to date while the hook is long gone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, session_start, tool_call, wait_until

from siftd.notes import registry
from siftd.notes.layout import Bookkeeping, Project, project_id
from siftd.notes.timers import cron
from siftd.notes.timers.order import order_for
from siftd.workspace.paths import Home

MEM = Path(sys.executable).with_name("mem")

pytestmark = pytest.mark.slow


@pytest.fixture
def project(place: Place) -> Project:
    """The place's folder, with notes in the home."""
    return register(place, str(place.folder))


def register(place: Place, path: str) -> Project:
    home, found = Home(str(place.home)), project_id(path)
    made = Project(found, "work", path, place.paths.key, Bookkeeping(home, found).files, 0)
    with registry.changing(home) as known:
        known.projects.append(made)
    return made


def ended(event: str, **fields: Any) -> dict[str, Any]:
    given = {name: value for name, value in session_start().items() if name in ("session_id", "cwd")}
    return given | {"hook_event_name": event, **fields}


def started(place: Place) -> list[tuple[str, str]]:
    return [(line["project"], line["trigger"]) for line in place.log_lines("notes_sync_started")]


def test_a_sessions_end_and_a_compaction_start_a_sync_and_their_hooks_say_nothing(
    place: Place, project: Project
) -> None:
    place.start()
    cwd = str(place.folder)
    assert place.hook(tool_call(1, cwd=cwd)).is_silent
    assert place.hook(ended("PreCompact", cwd=cwd, trigger="auto")).is_silent
    wait_until("a sync is started", lambda: (project.id, "pre-compact") in started(place))
    assert place.hook(ended("SessionEnd", cwd=cwd, reason="exit")).is_silent
    wait_until("another is started", lambda: (project.id, "session-end") in started(place))


def test_a_session_that_is_opted_out_or_paused_starts_none(place: Place, project: Project) -> None:
    """As a curator's own session is: it runs with SIFTD_OFF=1."""
    inner = register(place, f"{place.folder}/inner")
    place.start()
    off = {"SIFTD_OFF": "1", "SIFTD_BACKEND": "1"}
    place.hook(ended("SessionEnd", cwd=inner.path, session_id="curator"), off)
    place.ask("pause", session="", known=False)
    place.hook(ended("SessionEnd", cwd=inner.path, session_id="paused"))
    place.ask("resume", session="", known=False)
    place.hook(ended("SessionEnd", cwd=str(place.folder), session_id="captured"))
    wait_until("a sync is started", lambda: started(place))
    assert started(place) == [(project.id, "session-end")]
    place.hook(ended("SessionEnd", cwd=inner.path, session_id="captured"))
    wait_until("that of the inner project too", lambda: (inner.id, "session-end") in started(place))


def mem(place: Place, *arguments: str) -> str:
    command = [str(MEM), *arguments]
    done = subprocess.run(command, cwd=place.folder, env=place.env, capture_output=True, text=True, check=True)
    return done.stdout


def test_what_a_session_leaves_is_in_the_notes_and_in_the_next_sessions_brief(place: Place) -> None:
    """The whole way, with nothing in between: a hook, a daemon, the process that it starts, the files, the brief."""
    made = json.loads(mem(place, "notes", "init", "--json"))["project"]
    place.start()
    mem(place, "note", "The nightly build needs two keys")
    place.hook(tool_call(1, cwd=str(place.folder)))
    assert place.hook(ended("SessionEnd", cwd=str(place.folder), reason="exit")).is_silent
    state = Path(made["folder"], "state.md")
    wait_until("the note is taken in", lambda: "two keys" in state.read_text(), seconds=120)
    kept = Path(place.paths.brief)
    wait_until("the kept brief says so", lambda: kept.exists() and "(session-end)" in kept.read_text())
    [project] = json.loads(mem(place, "notes", "status", "--json"))["projects"]
    assert (project["last"]["trigger"], project["unread"], project["problem"]) == ("session-end", 0, None)


def test_a_timer_runs_the_sweep_with_no_session_no_daemon_and_nothing_of_a_shell(place: Place) -> None:
    """What cron would run, in what cron would run it with."""
    place.configure(notes__quietSeconds=0)
    made = json.loads(mem(place, "notes", "init", "--json"))["project"]
    mem(place, "note", "The nightly build needs two keys")
    order = order_for(Home(str(place.home)), str(place.root))
    command = cron.line(order).split(" ", 5)[5].replace("\\%", "%")
    environ = {"HOME": str(place.root), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    subprocess.run(["/bin/sh", "-c", command], env=environ, cwd="/", check=True)
    assert "The nightly build needs two keys" in Path(made["folder"], "state.md").read_text()
    assert place.pid() is None, "it needs no daemon, and starts none"


def test_what_a_person_decided_in_a_session_is_in_the_notes_once_it_has_ended(place: Place) -> None:
    """Facts are taken at a tick: the sync that a session's end starts waits for one, and for no timer."""
    made = json.loads(mem(place, "notes", "init", "--json"))["project"]
    place.configure(memory__consolidator__tickMs=3_600_000)
    place.start()
    cwd = str(place.folder)
    place.hook(ended("UserPromptSubmit", cwd=cwd, prompt="We use pnpm here, not npm, because of the monorepo."))
    place.hook(tool_call(1, cwd=cwd))
    place.hook(ended("Stop", cwd=cwd, last_assistant_message="Installed with pnpm."))
    place.hook(ended("SessionEnd", cwd=cwd, reason="exit"))
    decisions = Path(made["folder"], "decisions.md")
    wait_until("the decision is written down", lambda: "pnpm" in decisions.read_text(), seconds=120)
