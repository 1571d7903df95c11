"""A workspace's database, read without a daemon."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from siftd.cli.context import Context
from siftd.store.connection import open_reader, translate
from siftd.store.migrate import check_not_newer

T = TypeVar("T")


def read_store(context: Context, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """Return what `work` reads; None where there is no database. Raises StoreError."""
    if not Path(context.paths.database).exists():
        return None
    with contextlib.closing(open_reader(context.paths.database)) as connection:
        try:
            check_not_newer(connection)
            return work(connection)
        except sqlite3.Error as error:
            raise translate(error) from error
