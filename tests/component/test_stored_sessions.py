"""Sessions that a client keeps in a database: one source each, read beside their owner, whatever has become of it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from both_ways import read_files
from opencode_database import make_database
from opened_store import OpenedStore

from siftd import foreign_database
from siftd.backfill import BackfillResult
from siftd.backfill.sources import find_sources
from siftd.clients.registry import CLIENTS
from siftd.foreign_database import open_database
from siftd.workspace.identity import find_workspace

CLIENT = CLIENTS["opencode"]
MAIN, AGENT = "ses_df1438af9ffeYP4KCF7Z5n12Uv", "ses_df143489effekb5dkMmUofFvHo"
WRITE = "prt_20ebcab1a001pvTjEThILjWD0e"
"""The part of a call."""


class Place:
    def __init__(self, folder: Path, store: OpenedStore) -> None:
        self.root = folder / "work"
        self.root.mkdir()
        self.folder = folder / "opencode"
        self.path = self.folder / "opencode.db"
        self.store = store

    async def fill(self) -> BackfillResult:
        return await read_files(self.store, CLIENT, self.folder, str(self.root))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with OpenedStore(tmp_path / "home") as store:
        yield Place(tmp_path, store)


def found(place: Place) -> list[tuple[str, str | None, str | None]]:
    sources = find_sources(
        CLIENT,
        [],
        folder=str(place.folder),
        workspace=find_workspace(str(place.root)),
        any_workspace=False,
        is_excluded=lambda _: False,
    )
    return [(each.key, each.head.session_id, each.head.agent_id) for each in sources.transcripts]


async def test_each_session_is_a_source_and_a_subagent_s_follows_its_own(place: Place) -> None:
    make_database(place.path, place.root)
    assert found(place) == [(MAIN, MAIN, None), (AGENT, MAIN, AGENT)]


async def test_a_database_is_read_once_and_left_as_it_was(place: Place) -> None:
    make_database(place.path, place.root)
    before = place.path.read_bytes()
    first, again = await place.fill(), await place.fill()
    assert (first.errors, first.sessions, again.captured, again.errors) == (0, 1, 0, 0)
    assert first.captured == again.skipped_duplicate > 10
    assert [each.name for each in place.folder.iterdir()] == ["opencode.db"]
    assert place.path.read_bytes() == before


async def test_what_its_owner_has_not_checkpointed_is_read_too(place: Place) -> None:
    owner = make_database(place.path, place.root, has_log=True)
    try:
        assert (place.folder / "opencode.db-wal").stat().st_size > 0
        result = await place.fill()
        assert (result.errors, result.sessions) == (0, 1)
        owner.execute("UPDATE session SET title = 'it writes on'")
        owner.commit()
    finally:
        owner.close()


async def test_what_came_since_is_added_alone(place: Place) -> None:
    make_database(place.path, place.root)
    await place.fill()
    with sqlite3.connect(place.path) as owner:
        owner.execute("UPDATE part SET data = json_set(data, '$.state.status', 'running') WHERE id = 'none'")
        owner.execute(
            "INSERT INTO part SELECT 'prt_zzz', message_id, session_id, time_created + 1, time_updated + 1,"
            " json_set(data, '$.callID', 'call_new', '$.state.input.command', 'make') FROM part"
            ' WHERE data LIKE \'%"tool": "bash"%\' LIMIT 1'
        )
    owner.close()
    assert (await place.fill()).captured == 1


@pytest.mark.parametrize(
    "broken", ["{", "\x00", '"text"', "[1]", "null", '{"type":"tool","state":{"status":"completed"}}']
)
async def test_one_broken_row_costs_itself_alone(place: Place, broken: str) -> None:
    make_database(place.path, place.root)
    whole = (await place.fill()).captured
    async with OpenedStore(place.folder.parent / "other") as store:
        place.store = store
        with sqlite3.connect(place.path) as owner:
            owner.execute("UPDATE part SET data = ? WHERE id = ?", (broken, WRITE))
        owner.close()
        result = await place.fill()
    assert result.captured == whole - 1
    assert result.errors <= 1


async def test_a_row_of_a_later_version_tells_nothing(place: Place) -> None:
    make_database(place.path, place.root)
    whole = (await place.fill()).captured
    with sqlite3.connect(place.path) as owner:
        owner.execute(
            "INSERT INTO part SELECT 'prt_zz1', message_id, session_id, 1, 1, '{\"type\":\"dream\"}' FROM part LIMIT 1"
        )
        owner.execute("ALTER TABLE part ADD COLUMN mood TEXT")
    owner.close()
    assert (await place.fill()).skipped_duplicate == whole


@pytest.mark.parametrize("how", ["no tables", "other columns", "a view", "no database", "cut", "a link", "a pipe"])
async def test_what_is_no_database_of_the_client_s_is_an_error_and_no_more(place: Place, how: str) -> None:
    make_database(place.path, place.root)
    match how:
        case "no tables" | "other columns" | "a view":
            place.path.unlink()
            with sqlite3.connect(place.path) as other:
                if how == "other columns":
                    other.executescript("CREATE TABLE session(a); CREATE TABLE part(b); CREATE TABLE message(c)")
                elif how == "a view":
                    other.executescript(
                        "CREATE TABLE secret(id, parent_id, directory, time_updated, time_created);"
                        "CREATE VIEW session AS SELECT * FROM secret; CREATE TABLE part(id, session_id, time_updated);"
                    )
            other.close()
        case "no database":
            place.path.write_text("{}" * 4096)
        case "cut":
            os.truncate(place.path, place.path.stat().st_size // 2)
        case "a link":
            place.path.rename(place.folder.parent / "elsewhere.db")
            place.path.symlink_to(place.folder.parent / "elsewhere.db")
        case "a pipe":
            place.path.unlink()
            os.mkfifo(place.path)
    result = await place.fill()
    assert result.errors >= 1
    assert place.store.rows() == [] or how == "cut"


async def test_a_log_that_is_a_link_is_not_followed(place: Place) -> None:
    make_database(place.path, place.root)
    (place.folder / "opencode.db-wal").symlink_to(place.root)
    assert (await place.fill()).first_error == "opencode.db: it is not a regular file"


def test_a_statement_reads_named_tables_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as owner:
        owner.executescript("CREATE TABLE told(x); CREATE TABLE kept(x); INSERT INTO told VALUES ('a')")
    owner.close()
    for statement in ("SELECT x FROM kept", "DELETE FROM told", "SELECT randomblob(9) FROM told", "ATTACH 'b.db' AS b"):
        with pytest.raises(OSError, match="cannot be read"), open_database(str(path), ["told"]) as database:
            database.execute(statement)
    monkeypatch.setattr(foreign_database, "STEPS_MAX", 1_000)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(OSError, match="cannot be read"), open_database(str(path), ["told", "n"]) as database:
        database.execute(endless).fetchone()
    assert not (tmp_path / "b.db").exists()


def test_a_database_that_changes_under_the_reader_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as owner:
        owner.execute("CREATE TABLE told(x)")
    with pytest.raises(OSError, match="changed while it was read"), open_database(str(path), ["told"]):
        owner.executescript("INSERT INTO told VALUES (hex(zeroblob(9000)))")
    owner.close()
