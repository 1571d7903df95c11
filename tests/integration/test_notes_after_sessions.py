"""Real hooks tell a real daemon that a session ends: it brings the notes up to date while the hook is long gone."""

from __future__ import annotations

from typing import Any

import pytest
from daemons import Place, session_start, tool_call, wait_until

from siftd.notes import registry
from siftd.notes.layout import Bookkeeping, Project, project_id
from siftd.workspace.paths import Home

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
