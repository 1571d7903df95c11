"""Copies that a workspace's files leave behind: what was set aside, half-written files, snapshots."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from siftd.store import snapshots
from siftd.workspace.paths import WorkspacePaths

_SET_ASIDE = ("db.sqlite.damaged-*", "db.sqlite.new", ".*.new", "spool/*.bad", "brief")
_LEFTOVER_SECONDS = 60
"""A half-written spool file older than this is a dead courier's: a living one has ended long before."""


def remove_set_aside(paths: WorkspacePaths) -> None:
    """Remove the copies that nobody reads any more, whole: nobody can tell what they hold."""
    folder = Path(paths.folder)
    for pattern in _SET_ASIDE:
        for each in folder.glob(pattern):
            each.unlink(missing_ok=True)
    for each in folder.glob("spool/.*.new"):
        if time.time() - each.stat().st_mtime > _LEFTOVER_SECONDS:
            each.unlink(missing_ok=True)
    shutil.rmtree(paths.quarantine, ignore_errors=True)


def renew_snapshots(paths: WorkspacePaths) -> None:
    """Replace the snapshots by one of the database as it is now. The old ones go only when that is safe."""
    folder = paths.snapshots
    snapshots.remove_leftovers(folder)
    if not (old := snapshots.list_snapshots(folder)):
        return
    fresh = snapshots.make_snapshot(paths.database, folder)
    for each in old:
        if each.path != fresh.path:
            each.path.unlink(missing_ok=True)
