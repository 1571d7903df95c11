"""Where a project's news comes from: its workspace's store; where that has none of it, clients' session files.

Session files are read for a project whose workspace has no store, where `--transcript` or `notes.sources` names them,
and then only of sessions that the store does not know. A project that is the workspace's folder has all of it; one
that is a folder in there has the sessions that ran in it, or below.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siftd.backfill.sources import Transcript, find_sources
from siftd.capture.intake import Intake
from siftd.clients.registry import CLIENTS, DEFAULT
from siftd.config import is_excluded
from siftd.notes import cursors
from siftd.notes.cursors import Cursors, Offset
from siftd.notes.digest import Digest, make_digest
from siftd.notes.layout import Bookkeeping, Project
from siftd.notes.surroundings import Surroundings
from siftd.notes.transcripts import end_of, read_on
from siftd.store import note_sources
from siftd.store.connection import hold_snapshot, reading
from siftd.store.note_sources import CapturedEvent, Place
from siftd.workspace.identity import find_workspace


class News(NamedTuple):
    """What is new, as a digest, and how far its sources are then read."""

    digest: Digest
    cursors: Cursors
    problems: list[str]
    """Session files that could not be read, and why; they are read another time."""


class Backlog(NamedTuple):
    """What waits for a distil."""

    size: int
    """In bytes."""
    latest_ts: int | None
    has_changed: bool
    """Whether the store holds anything that it did not then: a fact that was taken since counts too."""


def read_news(project: Project, around: Surroundings, intake: Intake, transcript: str | None = None) -> News:
    """Return what is new since the last distil."""
    books = Bookkeeping(around.home, project.id)
    at = cursors.load(books)
    offsets = dict(at.transcripts)
    problems: list[str] = []
    place, stamp = at.store, at.stamp

    def events() -> Iterator[CapturedEvent]:
        nonlocal place, stamp
        known: set[str] = set()
        database = around.home.for_workspace(project.workspace).database
        if Path(database).exists():
            with reading(database) as connection:
                hold_snapshot(connection)
                yield from note_sources.iter_new(
                    connection, note_sources.find_place(connection, place), within(project)
                )
                place, stamp = note_sources.end(connection), note_sources.stamp(connection)
                known = note_sources.list_sessions(connection)
        for each in _transcripts(project, around, transcript):
            if each.head.session_id in known:
                continue
            try:
                news, offset = read_on(each, offsets.pop(each.name, Offset()), intake, around.clock.now_ms())
            except OSError as error:
                problems.append(f"{each.path}: {error.strerror or type(error).__name__}")
                continue
            offsets[each.name] = offset
            yield from news

    digest = make_digest(events(), around.settings.notes_digest_chars)
    return News(digest, Cursors(place, offsets, stamp), problems)


def present_end(project: Project, around: Surroundings) -> Cursors:
    """Return cursors behind all that is there now: a new project's notes begin with what comes."""
    database = around.home.for_workspace(project.workspace).database
    place = Place()
    if Path(database).exists():
        with reading(database) as connection:
            place = note_sources.end(connection)
    offsets = {}
    for each in _transcripts(project, around, None):
        try:
            offsets[each.name] = end_of(each)
        except OSError:
            continue
    return Cursors(place, offsets)


def backlog(project: Project, around: Surroundings) -> Backlog:
    """Return how much waits for a distil, and when the latest of it happened."""
    at = cursors.load(Bookkeeping(around.home, project.id))
    database = around.home.for_workspace(project.workspace).database
    size, latest, has_changed = 0, None, False
    known: set[str] = set()
    if Path(database).exists():
        with reading(database) as connection:
            place = note_sources.find_place(connection, at.store)
            size, latest = note_sources.backlog(connection, place, within(project))
            known = note_sources.list_sessions(connection)
            has_changed = note_sources.stamp(connection) != at.stamp
    for each in _transcripts(project, around, None):
        left = each.size - at.transcripts.get(each.name, Offset()).offset
        if each.head.session_id not in known and left > 0:
            size += left
            latest = max(latest or 0, each.modified_ns // 1_000_000)
    return Backlog(size, latest, has_changed)


def within(project: Project) -> str | None:
    """Return the folder in which a session must have run; None for a project that is the whole workspace."""
    return None if find_workspace(project.path).root == project.path else project.path


def _transcripts(project: Project, around: Surroundings, named: str | None) -> list[Transcript]:
    workspace = find_workspace(project.path)
    paths = [(DEFAULT, named)] if named else []
    for name in (project.id, project.name, project.path):
        for pattern in around.settings.notes_sources.get(name, []):
            owner, _, files = pattern.partition(":")
            owner, files = (owner, files) if owner in CLIENTS and files else (DEFAULT, pattern)
            paths += [(owner, path) for path in sorted(glob.glob(str(Path(files).expanduser()), recursive=True))]  # noqa: PTH207
    found: dict[str, Transcript] = {}
    has_store = Path(around.home.for_workspace(project.workspace).database).exists()
    for name, client in CLIENTS.items():
        asked = [path for owner, path in paths if owner == name]
        folder = client.files.folder(around.environ, around.user_home)
        groups = [(asked, True)] if asked else []
        if not has_store and folder is not None:
            groups.append(([], False))
        for files_named, is_named in groups:
            sources = find_sources(
                client,
                files_named,
                folder=folder,
                workspace=workspace,
                any_workspace=is_named,
                is_excluded=lambda root: is_excluded(root, around.settings),
                own=is_named,
            )
            found |= {each.name: each for each in sources.transcripts if is_named or _is_of(each, project)}
    return [each for each in found.values() if not each.head.agent_id]


def _is_of(transcript: Transcript, project: Project) -> bool:
    folder = within(project)
    cwd = transcript.head.cwd
    return folder is None or (cwd is not None and project.covers(os.path.realpath(cwd)))
