"""A workspace's database, read without a daemon."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from siftd.cli.context import Context
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import open_reader, translate
from siftd.store.migrate import check_not_newer

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
