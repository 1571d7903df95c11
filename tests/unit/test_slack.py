"""What lies beside the content of a database's pages is overwritten, and nothing else is touched."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from siftd.store import slack
from siftd.store.slack import NotUnderstood, overwrite_slack


def change(path: Path, seed: int, page: int) -> None:
    """Insert, lengthen and delete rows of all sizes, as SQLite does it by default: nothing is overwritten."""
    drawn = random.Random(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {page}")
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, text TEXT)")
        connection.execute("CREATE INDEX by_text ON t (text)")
        connection.execute("CREATE TABLE w (text TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID")
        connection.execute("CREATE VIRTUAL TABLE f USING fts5 (text)")
        for number in range(600):
            word = f"zanzibar{number}" if number % 3 else f"madrid{number}"
            text = f"{word} " * drawn.choice((1, 2, 9, 60, 400 if number % 50 == 0 else 3))
            connection.execute("INSERT INTO t VALUES (?, 'raw', ?)", (number, text))
            connection.execute("INSERT INTO w VALUES (?, ?)", (text, number))
            connection.execute("INSERT INTO f (rowid, text) VALUES (?, ?)", (number, text))
        connection.execute("UPDATE t SET kind = 'summarized'")
        for number in drawn.sample(range(600), 600):
            if number % 3:
                for table, column in (("t", "id"), ("w", "n"), ("f", "rowid")):
                    connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
        connection.execute("INSERT INTO f (f) VALUES ('optimize')")


def rows(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM f WHERE f MATCH 'zanzibar1'").fetchone() == (0,)
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in ("t", "w", "f")]


@pytest.mark.slow
@pytest.mark.parametrize("page", [512, 4096, 8192, 65536])
@pytest.mark.parametrize("seed", range(3))
def test_no_byte_of_what_was_deleted_is_left_and_every_row_is_as_it_was(tmp_path: Path, seed: int, page: int) -> None:
    path = tmp_path / "some.sqlite"
    change(path, seed, page)
    before = rows(path)
    assert b"zanzibar" in path.read_bytes()
    assert overwrite_slack(str(path)) > 0
    assert b"zanzibar" not in path.read_bytes()
    assert rows(path) == before
    assert overwrite_slack(str(path)) == 0, "there is nothing left to do"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO t SELECT id + 1000, kind, text FROM t")  # and SQLite goes on with it
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("content", [b"x" * 8192, b"SQLite format 3\0" + b"\x10\x00" + b"\xff" * 8174])
def test_a_file_that_is_not_understood_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.sqlite"
    path.write_bytes(content)
    with pytest.raises(NotUnderstood):
        overwrite_slack(str(path))
    assert path.read_bytes() == content


def test_it_runs_as_a_program_of_its_own_beside_an_open_connection(tmp_path: Path) -> None:
    """It knows nothing of siftd, so that it needs no environment; and it takes no lock of the caller's away."""
    path = tmp_path / "some.sqlite"
    change(path, 1, 4096)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        subprocess.run([sys.executable, "-I", "-S", slack.__file__, str(path)], check=True)
        other = sqlite3.connect(path, isolation_level=None, timeout=0)
        with closing(other), pytest.raises(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
    assert b"zanzibar" not in path.read_bytes()
