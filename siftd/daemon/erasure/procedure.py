"""The one way by which text leaves a workspace's files, for whoever takes any out: forgetting, scrubbing, hiding.

    rows (and all that hangs on them) -> log segments -> the codebase's snapshot -> files set aside
    -> names in the daemon's log -> notes -> what lies free in the database's pages, and SQLite's own log -> snapshots

Whoever asks has said so in the log before; only the last step says that it is done. Any crash between leaves it
pending, and everything is done again, which changes nothing that is clean. What others hold, a reader of the database
or whoever has a file of notes, is told, and waited for by itself. Out of reach: files made by `mem backup` and `mem
export`, the clients' own transcripts, and what git has committed of notes in a work tree.

Every holder of text is in `HOLDERS`, with the files that it covers: a test fails for a file of a workspace, or a column
of its database, that is in none.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from siftd.daemon import hot_context, saved_brief
from siftd.daemon.erasure import snapshot_file
from siftd.daemon.logs import unname
from siftd.notes.erasing import rewrite, unfinished
from siftd.store import erasing, notes, snapshots, team_replica
from siftd.store.access import Database
from siftd.workspace.paths import GLOBAL, WorkspacePaths

_SET_ASIDE = ("db.sqlite.damaged-*", "db.sqlite.new", ".*.new", "spool/*.bad", "brief", "brief.*")
_LEFTOVER_SECONDS = 60
"""A half-written spool file older than this is a dead courier's: a living one has ended long before."""


class Removal(Protocol):
    """What is to be taken out, asked of for each holder in turn."""

    def from_rows(self, connection: Database) -> None:
        """Take it out of the database, with all that was derived from it."""

    def from_log(self, connection: Database) -> None:
        """Take it out of the log's records. The rows are done."""

    def renewed_note(self, connection: Database, text: str) -> str:
        """Return what a text of the notes becomes."""

    def note_renewed(self, files: int) -> None:
        """Count the files of notes that were changed."""

    def stays(self, connection: Database, session: str | None, tool: str | None) -> bool:
        """Whether a session's id, or a tool's name, may stay in the daemon's own log."""

    @property
    def is_of_all(self) -> bool:
        """Whether files that nobody reads any more go whole, and names are looked for in the daemon's log: else what is
        taken out is known to be in neither."""

    @property
    def is_by_rules(self) -> bool:
        """Whether it is whatever today's rules find: what can be fetched again goes whole, and comes back by them."""

    def is_done(self, connection: Database) -> None:
        """Note that nothing of it is in any file of ours."""


class Holder(NamedTuple):
    """Something that holds text, and what takes it out of there."""

    name: str
    files: tuple[str, ...]
    """Globs below the workspace's folder."""
    take_out: Callable[[WorkspacePaths, Database, Removal], None]


def _from_rows(_: WorkspacePaths, connection: Database, removal: Removal) -> None:
    notes.clear(connection)  # made again of their files
    removal.from_rows(connection)


def _from_log(_: WorkspacePaths, connection: Database, removal: Removal) -> None:
    removal.from_log(connection)


def _from_brief(paths: WorkspacePaths, _: Database, __: Removal) -> None:
    saved_brief.remove(paths)  # it is written again


def _from_hot_context(paths: WorkspacePaths, _: Database, __: Removal) -> None:
    if paths.key == GLOBAL:  # nothing of one project is in it
        hot_context.empty(paths.home)


def _from_snapshot(paths: WorkspacePaths, connection: Database, removal: Removal) -> None:
    snapshot_file.take_out(paths, connection, lambda text: removal.renewed_note(connection, text))


def _from_set_aside(paths: WorkspacePaths, _: Database, removal: Removal) -> None:
    """Remove the copies that nobody reads any more, whole: nobody can tell what they hold."""
    if not removal.is_of_all:
        return
    folder = Path(paths.folder)
    for pattern in _SET_ASIDE:
        for each in folder.glob(pattern):
            each.unlink(missing_ok=True)
    for each in folder.glob("spool/.*.new"):
        if time.time() - each.stat().st_mtime > _LEFTOVER_SECONDS:
            each.unlink(missing_ok=True)
    shutil.rmtree(paths.quarantine, ignore_errors=True)


def _from_replica(paths: WorkspacePaths, _: Database, removal: Removal) -> None:
    """What a workspace has itself is in no row of its team's replica, and what others tell is theirs to forget: their
    devices' tombstones take it out here."""
    if removal.is_by_rules:
        team_replica.erase(paths.team_replica)


def _from_daemon_log(paths: WorkspacePaths, connection: Database, removal: Removal) -> None:
    if removal.is_of_all:
        unname(
            paths.daemon_log,
            lambda session: removal.stays(connection, session, None),
            lambda tool: removal.stays(connection, None, tool),
        )


HOLDERS = (
    Holder("database", ("db.sqlite", "db.sqlite-wal", "db.sqlite-shm"), _from_rows),
    Holder("log", ("wal.ndjson", "wal-*.ndjson", "wal-*.ndjson.gz"), _from_log),
    Holder("brief", ("brief", "brief.*"), _from_brief),
    Holder("hot context", (), _from_hot_context),
    Holder("snapshot of the codebase", ("knowledge.json", ".knowledge.json.*.new"), _from_snapshot),
    Holder("set aside", (*_SET_ASIDE, "spool/.*.new", "quarantine/*"), _from_set_aside),
    Holder("team's replica", ("team.db", "team.db-wal", "team.db-shm"), _from_replica),
    Holder("daemon's log", (), _from_daemon_log),
)
"""In the order in which it is taken out. The files of notes, which lie elsewhere (`siftd.notes.erasing`), the
database's pages and its snapshots come behind all of them."""
SNAPSHOTS = ("snapshots/*",)
WITHOUT_TEXT = {
    "secret": "a random key",
    "secret.copy": "the same",
    "new-secret": "the same",
    "spool/*.json": "waits to be taken in, and what is taken in is asked for first",
    "at-work": "ids (`siftd.crash_guard`)",
    "suspects.json": "ids",
    "rebuild": "a mark",
    "team.token": "a random key",
}
"""What else lies in a workspace's folder, and why nothing is taken out of it."""


class Erasure:
    """Takes text out of one workspace's files. One call at a time, in any thread, never in the event loop."""

    def __init__(self, paths: WorkspacePaths) -> None:
        self._paths = paths
        self._waits_for_others: object = None
        self._is_clean = False
        self._noted: set[str] = set()
        """Projects whose notes still hold something."""

    def take_out(self, what: object, removal: Removal, *, is_resumed: bool = False) -> list[str]:
        """Take it out of every holder; return what still holds something, empty when it is done.

        `what` names it: one that waited for others alone, a reader of the database or whoever holds notes, goes on from
        there. `is_resumed` by a new process, maybe from the log alone, which knows every wish that there ever was: then
        those notes alone are looked at that were announced and not done, since people may have written a line again.
        Raises SiftdError or OSError.
        """
        with erasing.erasing(self._paths.database) as connection:
            goes_on = what == self._waits_for_others
            self._is_clean = self._is_clean and goes_on
            for holder in () if goes_on else HOLDERS:
                holder.take_out(self._paths, connection, removal)
            only = self._noted if goes_on else unfinished(self._paths) if is_resumed else None
            held = self._from_notes(connection, removal, only)
            if not self._is_clean:
                self._is_clean = erasing.clean_pages(connection, self._paths.database)
                if self._is_clean:
                    renew_snapshots(self._paths)
                else:
                    held += self._readers()
            if held:
                self._waits_for_others = what
                return held
            removal.is_done(connection)
        self._waits_for_others = None
        return []

    def is_waiting_for_others(self, what: object) -> bool:
        """Whether all of it is done but what a reader of the database, or of notes, holds."""
        return self._waits_for_others is not None and what == self._waits_for_others

    def _from_notes(self, connection: Database, removal: Removal, only: set[str] | None) -> list[str]:
        """Take it out of the notes; return what still holds something."""
        done = rewrite(
            self._paths, lambda text: removal.renewed_note(connection, text), only=only, is_lasting=removal.is_of_all
        )
        removal.note_renewed(done.files)
        self._noted = done.projects
        return done.pending

    def _readers(self) -> list[str]:
        programs = erasing.holders(self._paths.database) or ["another program"]
        return [f"a reader of the database: {each}" for each in programs]


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
