"""Databases that are set aside: damaged, another's, or to be rebuilt. None is deleted before it is looked through."""

from __future__ import annotations

import json
from pathlib import Path

import structlog

from siftd.store import events, meta
from siftd.store.access import Database
from siftd.store.rescue import Rescued, rescue
from siftd.store.tombstones import Tombstones
from siftd.workspace.paths import WorkspacePaths

log = structlog.get_logger()

COPIES_MAX = 2
"""Databases that stay set aside at most: the newest, once what only they had is taken over."""
_LOOKED_THROUGH = "looked_through"


def set_database_aside(paths: WorkspacePaths, now_ms: int) -> None:
    """Move the database out of the way; nothing of it is deleted.

    Its own log first: left behind alone, SQLite would take it for that of the database which comes in its place.
    """
    name = name_aside(paths, now_ms)
    for suffix in ("-wal", "-shm", ""):
        file = Path(f"{paths.database}{suffix}")
        if file.exists():
            file.rename(f"{name}{suffix}")


def name_aside(paths: WorkspacePaths, now_ms: int) -> str:
    """Return a name under which nothing was set aside before."""
    while any(Path(paths.folder).glob(f"{Path(paths.database).name}.damaged-{now_ms}*")):
        now_ms += 1
    return f"{paths.database}.damaged-{now_ms}"


def take_over(connection: Database, tombstones: Tombstones, paths: WorkspacePaths, now_ms: int) -> None:
    """Take over what only the databases that were set aside have, each once, and keep the newest of them."""
    files = list_set_aside(paths)
    looked_through = meta.get(connection, _LOOKED_THROUGH) or ""
    found = Rescued()
    for file in files:
        if file.name > looked_through:
            found.add(rescue(connection, str(file), tombstones))
    if files and files[0].name > looked_through:
        meta.put(connection, _LOOKED_THROUGH, files[0].name)
    if found:
        log.warning("events_rescued", events=found.events, rest=found.rest, left=found.left)
        note = {"ts": now_ms, "events": found.events, "rest": found.rest, "left": found.left}
        meta.put(connection, "rescued", json.dumps(note))
        if found.events or found.rest:
            events.note_alone(connection)
    for old in files[COPIES_MAX:]:
        for each in old.parent.glob(f"{old.name}*"):
            each.unlink(missing_ok=True)


def list_set_aside(paths: WorkspacePaths) -> list[Path]:
    """Return the databases that were set aside, newest first."""
    return sorted(Path(paths.folder).glob("db.sqlite.damaged-*[0-9]"), reverse=True)
