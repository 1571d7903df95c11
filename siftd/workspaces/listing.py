"""The workspaces that have a memory in a home, as their files tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from siftd.errors import StoreError
from siftd.store import event_views, meta
from siftd.store.access import DatabaseError
from siftd.store.connection import open_reader, translate
from siftd.workspace.identity import path_from_text
from siftd.workspace.paths import Home, WorkspacePaths


@dataclass(frozen=True, slots=True)
class Known:
    """A workspace's memory; what its database does not tell is None, and `problem` says why."""

    key: str
    root: str | None
    root_commit: str | None
    events: int | None
    problem: str | None

    @property
    def is_orphaned(self) -> bool:
        """Whether the folder it remembers is gone: moved, or removed. What a scrub took of its path is not known."""
        return self.root is not None and "[REDACTED:" not in self.root and not Path(path_from_text(self.root)).exists()


def iter_known(home: Home) -> Iterator[Known]:
    """Yield every workspace that has a folder in the home, in the order of the keys."""
    for folder in sorted(Path(home.workspaces).glob("*/")):
        if "." not in folder.name:
            yield describe(home.for_workspace(folder.name))


def describe(paths: WorkspacePaths) -> Known:
    """Return what a workspace's database tells of it."""
    try:
        connection = open_reader(paths.database)
        try:
            return Known(
                paths.key,
                meta.get(connection, "root"),
                meta.get(connection, "root_commit"),
                event_views.counts(connection)["events"],
                None,
            )
        except DatabaseError as error:
            raise translate(error) from error
        finally:
            connection.close()
    except StoreError as error:
        return Known(paths.key, None, None, None, error.message)
