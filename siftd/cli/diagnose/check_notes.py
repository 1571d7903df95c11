"""Whether the notes of projects are brought up to date by themselves."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from siftd.cli.context import Context
from siftd.errors import SiftdError
from siftd.finding import Finding
from siftd.notes import last, registry
from siftd.notes.layout import Bookkeeping
from siftd.notes.timers.installing import Standing, find_timer
from siftd.notes.timers.order import EVERY_MINUTES

_REMEDY = "run `mem notes install-timer`"


def check_notes(context: Context) -> Iterator[Finding]:
    """Yield how the timer stands, and which projects' notes could not be brought up to date; nothing where there is no
    timer and no project has notes."""
    try:
        projects = registry.load(context.home).projects
        standing = find_timer(context.home, context.environ, context.user_home)
    except SiftdError as error:
        yield Finding("notes", "problem", error.message, error.hint)
        return
    if standing is not None:
        yield _check_timer(standing)
    elif projects:
        message = "no timer brings the notes up to date: sessions' ends do, where a daemon hears of them"
        yield Finding("notes", "note", message, _REMEDY)
    for project in projects:
        if not Path(project.path).is_dir():
            message = f"{project.path} has notes and is gone"
            yield Finding("notes", "note", message, f"`mem notes exclude {shlex.quote(project.path)}` takes it out")
        elif problem := last.load(Bookkeeping(context.home, project.id)).problem:
            message = f"{project.name}: the last sync failed: {problem}"
            yield Finding("notes", "problem", message, f"mend that, then `mem notes sync --project {project.id}`")


def _check_timer(standing: Standing) -> Finding:
    if standing.missing:
        return Finding("notes", "problem", f"the timer names what is gone: {standing.missing[0]}", _REMEDY)
    if not standing.is_current:
        return Finding("notes", "note", "the timer is another siftd's, or was edited", _REMEDY)
    if standing.is_running is False:
        message = f"the timer is written, but {standing.kind} does not have it"
        return Finding("notes", "problem", message, f"{_REMEDY}, which says why")
    return Finding("notes", "ok", f"the timer runs every {EVERY_MINUTES} minutes ({standing.kind})")
