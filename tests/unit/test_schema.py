"""The schema: where migrations end, what of it is a contract, and what they do when something is wrong."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_forms import GOLDEN, PICTURE, STORES, fresh, fresh_picture, picture

from siftd.errors import MigrationFailed, SchemaTooNew
from siftd.store import migrate as migrate_module
from siftd.store.migrate import Migration, known_migrations, migrate

CONTRACT = {
    "events": "id INTEGER, ts INTEGER!, session_id TEXT!, tool TEXT!, input_hash TEXT!, payload_json TEXT!,"
    " status TEXT!='raw', tokens_est INTEGER!=0, uid TEXT, frame_uid TEXT, outcome TEXT, attempts INTEGER!=0,"
    " last_error TEXT",
    "summaries": "id INTEGER, event_id INTEGER!, ts INTEGER!, model TEXT!, prompt_hash TEXT!, text TEXT!,"
    " tokens_in INTEGER, tokens_out INTEGER, confidence REAL",
    "summary_embeddings": "summary_id INTEGER, dim INTEGER!, vec BLOB!, embedder TEXT",
    "embeddings": "owner_kind TEXT, owner_id INTEGER, embedder TEXT, dim INTEGER, vec BLOB",
    "sessions": "session_id TEXT, cwd TEXT, started_ts INTEGER!, last_ts INTEGER!, ended_ts INTEGER, source TEXT",
    "summary_supersedes": "newer_id INTEGER, older_id INTEGER, cosine REAL, ts INTEGER",
    "summary_cache": "cache_key TEXT, text TEXT!, tokens_in INTEGER, tokens_out INTEGER, confidence REAL, ts INTEGER!",
    "provenance_edges": "id INTEGER, src_kind TEXT, src_id INTEGER, dst_kind TEXT, dst_id INTEGER, edge TEXT,"
    " ts INTEGER",
    "facts": "id INTEGER, ts INTEGER, updated_ts INTEGER, category TEXT, text TEXT, tags TEXT, project TEXT,"
    " importance INTEGER, confidence REAL, valid_from INTEGER, valid_to INTEGER, session_id TEXT, source TEXT,"
    " pinned INTEGER, uid TEXT",
    "memories": "id INTEGER, ts INTEGER, updated_ts INTEGER, type TEXT, text TEXT, tags TEXT, project TEXT,"
    " importance INTEGER, confidence REAL, valid_from INTEGER, valid_to INTEGER, session_id TEXT, source TEXT,"
    " pinned INTEGER, uid TEXT",
    "memory_links": "from_id INTEGER, to_id INTEGER, relation TEXT, ts INTEGER",
    "fact_links": "from_id INTEGER, to_id INTEGER, relation TEXT, ts INTEGER",
}
"""Columns in their order: name, type, ! for not null, = for the default."""

GOOD = Migration(1, "0001_good", "CREATE TABLE a (x);\nINSERT INTO a VALUES (1);\n")


@pytest.fixture
def store() -> Iterator[sqlite3.Connection]:
    with fresh() as connection:
        yield connection


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        yield connection


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


# The schema


def test_from_nothing_the_migrations_end_at_the_picture() -> None:
    """`python tests/support/kept_forms.py` draws it anew."""
    drawn = PICTURE.read_text(encoding="utf-8").partition("\n\n")[2]
    assert fresh_picture() == drawn


@pytest.mark.parametrize("table", CONTRACT)
def test_the_contract_s_columns_keep_their_names_types_and_order(table: str) -> None:
    with fresh() as connection:
        rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    columns = {row[1]: (row[2], bool(row[3]), row[4]) for row in rows}
    wanted = [column.split() for column in CONTRACT[table].split(",")]
    assert [row[1] for row in rows][: len(wanted)] == [name for name, _ in wanted]
    for name, spelled in wanted:
        kind, _, default = spelled.partition("=")
        assert columns[name][0] == kind.rstrip("!"), name
        if kind.endswith("!"):
            assert columns[name][1], name
        if default:
            assert columns[name][2] == default, name


def test_status_and_outcome_hold_nothing_else(store: sqlite3.Connection) -> None:
    insert = (
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json, {}) VALUES (1, 's', 't', 'h', '{{}}', ?)"
    )
    for column, good in (("status", ("raw", "summarized", "skipped")), ("outcome", ("ok", "failed", "interrupted"))):
        for value in good:
            store.execute(insert.format(column), (value,))
        with pytest.raises(sqlite3.IntegrityError):
            store.execute(insert.format(column), ("claimed",))


def test_identities_are_unique_and_ids_are_never_given_twice(store: sqlite3.Connection) -> None:
    insert = (
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json, {}) VALUES (1, 's', 't', 'h', '{{}}', ?)"
    )
    for column in ("uid", "frame_uid"):
        store.execute(insert.format(column), ("one",))
        store.execute(insert.format(column), (None,))
        with pytest.raises(sqlite3.IntegrityError):
            store.execute(insert.format(column), ("one",))
    ((highest,),) = store.execute("SELECT max(id) FROM events").fetchall()
    store.execute("DELETE FROM events")
    store.execute(insert.format("uid"), ("two",))
    assert store.execute("SELECT id FROM events").fetchone()[0] > highest


# Migrations


def test_the_files_are_numbered_without_a_gap_and_say_first_why_they_are() -> None:
    known = known_migrations()
    assert [each.number for each in known] == list(range(1, len(known) + 1))
    assert all(each.sql.startswith("-- ") for each in known)


def test_migrating_twice_changes_nothing(store: sqlite3.Connection) -> None:
    before = picture(store), store.execute("SELECT * FROM migrations").fetchall()
    migrate(store, 2)
    assert (picture(store), store.execute("SELECT * FROM migrations").fetchall()) == before


def test_a_database_of_a_newer_siftd_is_left_alone(database: sqlite3.Connection) -> None:
    migrate(database, 1)
    newest = known_migrations()[-1].number
    database.execute("INSERT INTO migrations VALUES (?, 'later', 'x', 1)", (newest + 1,))
    before = picture(database)
    with pytest.raises(SchemaTooNew) as refused:
        migrate(database, 2)
    assert str(newest + 1) in refused.value.message
    assert "newer" in refused.value.hint
    assert picture(database) == before


@pytest.mark.parametrize(
    "bad",
    [
        "CREATE TABLE b (x);\nINSERT INTO nowhere VALUES (1);\n",
        "CREATE TABLE b (x);\nCREATE TABLE",
        "CREATE TABLE b (x);\nINSERT INTO a VALUES (1)\n-- no end",
    ],
    ids=["the second statement", "not whole", "without its semicolon"],
)
def test_a_migration_leaves_everything_or_nothing(database: sqlite3.Connection, bad: str) -> None:
    migrate(database, 1, [GOOD])
    migration = Migration(2, "0002_bad", bad)
    try:
        migrate(database, 2, [GOOD, migration])
    except MigrationFailed:
        assert tables(database) == {"migrations", "a"}
        assert database.execute("SELECT number FROM migrations").fetchall() == [(1,)]
    else:
        assert database.execute("SELECT count(*) FROM a").fetchone() == (2,)
    assert not database.in_transaction


def test_a_failed_migration_can_be_tried_again(database: sqlite3.Connection) -> None:
    with pytest.raises(MigrationFailed):
        migrate(database, 1, [Migration(1, "0001_bad", "CREATE TABLE a (x);\nSELECT nothing;\n")])
    migrate(database, 1, [GOOD])
    assert database.execute("SELECT x FROM a").fetchall() == [(1,)]


def test_a_file_changed_after_its_release_is_detected(database: sqlite3.Connection) -> None:
    migrate(database, 1, [GOOD])
    with pytest.raises(MigrationFailed) as refused:
        migrate(database, 2, [Migration(1, "0001_good", GOOD.sql + "-- a word more\n")])
    assert "0001_good" in refused.value.message


def test_a_trigger_is_one_statement(database: sqlite3.Connection) -> None:
    sql = "CREATE TABLE a (x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM a;\n  SELECT 1;\nEND;\n-- end\n"
    assert len([each for each in migrate_module.statements(sql) if each.strip() and "-- end" not in each]) == 2
    migrate(database, 1, [Migration(1, "0001_trigger", sql)])
    database.execute("INSERT INTO a VALUES (1)")
    assert database.execute("SELECT count(*) FROM a").fetchone() == (0,)


# A kept store


@pytest.mark.parametrize("number", [each.number for each in known_migrations()])
def test_a_store_of_every_schema_is_opened_and_ends_at_the_picture(tmp_path: Path, number: int) -> None:
    connection = sqlite3.connect(tmp_path / "db.sqlite", isolation_level=None)
    connection.executescript((GOLDEN / STORES.format(number)).read_text(encoding="utf-8"))
    migrate(connection, 2)
    assert picture(connection) == fresh_picture()
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (3,)
    found = "SELECT rowid FROM summaries_fts WHERE summaries_fts MATCH 'okapi' ORDER BY 1"
    assert connection.execute(found).fetchall() == [(1,), (2,)]
    connection.execute("INSERT INTO summaries_fts (summaries_fts, rank) VALUES ('integrity-check', 1)")
    connection.close()


def test_a_memory_of_before_is_a_fact_that_was_kept_with_its_id_its_links_and_its_vector() -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, 1, known_migrations()[:6])
        connection.executescript(
            "INSERT INTO memories (id, ts, updated_ts, type, text, uid, waits) VALUES"
            " (3, 1, 1, 'decision', 'Okapis sleep in the west barn.', 'a', 0),"
            " (4, 2, 2, 'decision', 'Okapis sleep in the east barn.', 'b', 0),"
            " (5, 3, 3, 'fact', 'Okapis eat leaves.', 'c', 0), (6, 4, 4, 'fact', 'Okapis eat hay.', 'd', 1);"
            "INSERT INTO memory_links VALUES (4, 3, 'supersedes', 2), (6, 5, 'supersedes', 4);"
            "INSERT INTO memory_reads VALUES (4, 7, 9);"
            "INSERT INTO embeddings VALUES ('memory', 4, 'x', 1, x'00000000');"
            "INSERT INTO injections VALUES (1, 1, 's', 'SessionStart', 'm4', NULL, 4, 0, '{}');"
        )
        migrate(connection, 2)
        rows = connection.execute("SELECT id, category, origin, status, superseded_by, valid_to FROM facts").fetchall()
        assert rows == [
            (3, "decision", "kept", "superseded", 4, 2),
            (4, "decision", "kept", "active", None, None),
            (5, "fact", "kept", "active", None, None),  # its successor waits for a person
            (6, "fact", "kept", "active", None, None),
        ]
        found = "SELECT rowid FROM facts_fts WHERE facts_fts MATCH 'barn' ORDER BY 1"
        assert connection.execute(found).fetchall() == [(3,), (4,)]
        assert connection.execute("SELECT owner_kind, owner_id FROM embeddings").fetchall() == [("fact", 4)]
        assert connection.execute("SELECT fact_id, reads FROM fact_reads").fetchall() == [(4, 7)]
        assert connection.execute("SELECT type, text FROM memories WHERE id = 5").fetchall() == [
            ("fact", "Okapis eat leaves.")
        ]
        connection.execute("DELETE FROM facts WHERE id = 4")
        assert connection.execute("SELECT count(*) FROM injections").fetchone() == (0,)
        assert connection.execute("SELECT status, superseded_by FROM facts WHERE id = 3").fetchone() == (
            "superseded",
            None,
        )
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (0,)


def test_the_graph_reads_what_was_there_before_it() -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, 1, known_migrations()[:10])
        connection.executescript(
            "INSERT INTO facts (id, ts, updated_ts, text, uid) VALUES (3, 1, 1, 'Okapis eat hay.', 'a');"
            "INSERT INTO documents (id, path, type, title, content_hash, ingested_ts) VALUES"
            " (7, 'a.md', 'markdown', 'Okapis', 'h', 1);"
        )
        migrate(connection, 2)
        assert connection.execute("SELECT item FROM graph_queue ORDER BY 1").fetchall() == [("d7",), ("m3",)]
