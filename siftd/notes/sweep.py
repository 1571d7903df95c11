"""Every project with notes, once: those with news that is quiet are distilled, the others trimmed to their budgets.

Needs no session and no daemon. Repositories that were worked in of late and have no notes are offered, and only that:
`notes.autoScaffold` is off unless a person turns it on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siftd.config import MS_PER_DAY
from siftd.errors import SiftdError
from siftd.notes import inbox, registry, scaffold, sources
from siftd.notes.layout import Project
from siftd.notes.surroundings import Surroundings
from siftd.notes.sync import Outcome, sync
from siftd.store import note_sources
from siftd.store.connection import reading
from siftd.workspace.identity import find_git_dir, path_from_text
from siftd.workspace.paths import GLOBAL
from siftd.workspaces.listing import iter_known

SEEN_DAYS = 30


class Swept(NamedTuple):
    """What became of one project."""

    project: Project
    outcome: Outcome


def sweep(around: Surroundings) -> Iterator[Swept]:
    """Go over every project; what is wrong with one never stops the others."""
    note_offers(around)
    known = registry.load(around.home)
    for project in known.projects:
        if known.is_excluded(project.path, around.settings.notes_exclude):
            continue
        if not Path(project.path).is_dir():
            yield Swept(project, Outcome("failed", "its folder is gone; `mem notes exclude` takes it out"))
            continue
        try:
            is_due = _is_due(project, around)
        except SiftdError as error:
            yield Swept(project, Outcome("failed", error.message))
            continue
        yield Swept(project, sync(project, around, trigger="sweep", distils=is_due))


def _is_due(project: Project, around: Surroundings) -> bool:
    """Whether a project has a note in its inbox, or news after which nothing came for a while."""
    if inbox.has_any(project):
        return True
    waiting = sources.backlog(project, around)
    # The built-in distil reads facts, which are taken from events some time after these have come.
    is_news = waiting.size > 0 or (waiting.has_changed and not around.settings.notes_curate)
    if not is_news:
        return False
    quiet_since = around.clock.now_ms() - around.settings.notes_quiet_seconds * 1000
    return waiting.latest_ts is None or waiting.latest_ts <= quiet_since


def note_offers(around: Surroundings) -> None:
    """Note the repositories that were worked in within the last days and have no notes; make them where that is on."""
    seen = dict(_seen(around))
    with registry.changing(around.home) as known:
        having = {project.path for project in known.projects}
        known.offered = {
            path: ts for path, ts in sorted(seen.items()) if path not in having and not known.is_excluded(path)
        }
        offered = list(known.offered)
    if around.settings.notes_auto_scaffold:
        for path in offered:
            try:
                scaffold.init(path, around)
            except SiftdError:
                continue  # excluded by the settings, or gone since


def _seen(around: Surroundings) -> Iterator[tuple[str, int]]:
    """Yield the repositories whose workspaces have an event of the last days, with the time of the latest."""
    since = around.clock.now_ms() - SEEN_DAYS * MS_PER_DAY
    for known in iter_known(around.home):
        if known.key == GLOBAL or known.root is None or not known.events:
            continue
        root = path_from_text(known.root)
        if root == os.path.realpath(around.user_home) or find_git_dir(root) is None:
            continue
        try:
            with reading(around.home.for_workspace(known.key).database) as connection:
                latest = note_sources.end(connection).ts
        except SiftdError:
            continue
        if latest >= since:
            yield root, latest
