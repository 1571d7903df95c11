"""A workspace's database, and that of the memories for every project, read without a daemon."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from siftd.cli.context import Context
from siftd.errors import StoreError
from siftd.store import facts
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import open_reader, translate
from siftd.store.migrate import check_not_newer
from siftd.workspace.paths import GLOBAL

T = TypeVar("T")


def read_store(context: Context, work: Callable[[Database], T]) -> T | None:
    """Return what `work` reads; None where there is no database. Raises StoreError."""
    if not Path(context.paths.database).exists():
        return None
    with contextlib.closing(open_reader(context.paths.database)) as connection:
        try:
            check_not_newer(connection)
            return work(connection)
        except DatabaseError as error:
            raise translate(error) from error


def read_both_stores(context: Context, work: Callable[[Database, Database | None], T]) -> T | None:
    """As `read_store`; `work` is handed the store of the memories for every project too, where that can be read."""
    with contextlib.ExitStack() as opened:
        shared = _open_shared(context.home.for_workspace(GLOBAL).database)
        if shared is not None:
            opened.enter_context(contextlib.closing(shared))
        return read_store(context, lambda connection: work(connection, shared))


def _open_shared(database: str) -> Database | None:
    if not Path(database).exists():
        return None
    with contextlib.suppress(StoreError, DatabaseError):
        connection = open_reader(database)
        # As the daemons do: until its own daemon has brought it up to date nothing tells what a person let stand.
        if facts.shows_waiting(connection):
            return connection
        connection.close()
    return None
