"""Opening the database: what refuses to open is let go of."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from siftd.errors import StoreCorrupt
from siftd.store.connection import open_reader, open_writer


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files are listed in /proc")
@pytest.mark.parametrize("open_it", [open_writer, open_reader])
def test_a_damaged_database_is_not_held_open(open_it: Callable[[str], object], tmp_path: Path) -> None:
    """It is renamed next: a handle on it would go on holding its locks and its space."""
    database = tmp_path / "db.sqlite"
    database.write_bytes(b"no database at all " * 100)
    with pytest.raises(StoreCorrupt) as caught:
        open_it(str(database))
    held = [each for each in Path("/proc/self/fd").iterdir() if each.is_symlink() and each.resolve() == database]
    assert held == [], caught.value


@pytest.mark.parametrize("open_it", [open_writer, open_reader])
def test_a_schema_that_is_not_even_text_is_damage_too(open_it: Callable[[str], object], tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE a (x)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET name = CAST(X'61CB' AS TEXT), sql = 'CREATE TABLE'")
    with pytest.raises(StoreCorrupt):
        open_it(str(database))


def test_a_new_database_has_pages_that_vectors_fill_and_an_older_one_keeps_its_own(tmp_path: Path) -> None:
    older = tmp_path / "older.sqlite"
    with contextlib.closing(sqlite3.connect(older)) as connection:
        connection.execute("CREATE TABLE a (x)")
    assert page_bytes(tmp_path / "new.sqlite") == 8192
    assert page_bytes(older) == 4096


def page_bytes(database: Path) -> int:
    with contextlib.closing(open_writer(str(database))) as connection:
        found: int = connection.execute("PRAGMA page_size").fetchone()[0]
        return found
