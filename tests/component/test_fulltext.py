"""Full text in few pieces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from opened_memory import opened

from siftd.store import fulltext
from siftd.store.connection import open_writer
from siftd.store.fulltext import INDEXES, merge_some
from siftd.store.migrate import migrate

EVENT = """
INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json) VALUES (?, 1, 's', 'Bash', '', '{}')
"""
SEGMENTS = "SELECT count(DISTINCT segid) FROM events_fts_idx"
WORDS = ("okapi", "zebra", "gnu", "ibex", "eland")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_writer(str(tmp_path / "store.sqlite"))
    migrate(connection, 1)
    yield connection
    connection.close()


def write(store: sqlite3.Connection, events: range) -> None:
    """One transaction an event, as single captures are."""
    for number in events:
        store.execute("BEGIN")
        store.execute(EVENT, (number,))
        text = f"{WORDS[number % 5]} {WORDS[number % 3]} number{number}"
        store.execute("INSERT INTO event_words VALUES (?, ?)", (number, text))
        store.execute("COMMIT")


def merge_all(store: sqlite3.Connection) -> int:
    """Return how many steps that took."""
    steps = 0
    while merge_some(store):
        steps += 1
    return steps


def segments(store: sqlite3.Connection) -> int:
    return int(store.execute(SEGMENTS).fetchone()[0])


def found(store: sqlite3.Connection, word: str) -> list[int]:
    rows = store.execute("SELECT rowid FROM events_fts WHERE events_fts MATCH ? ORDER BY rowid", (word,))
    return [row[0] for row in rows]


def test_what_many_captures_leave_ends_in_few_segments_and_is_found_as_before(store: sqlite3.Connection) -> None:
    write(store, range(1, 200))
    assert segments(store) > 4
    before = {word: found(store, word) for word in WORDS}
    merge_all(store)
    assert segments(store) <= 2
    assert {word: found(store, word) for word in WORDS} == before
    store.execute("INSERT INTO events_fts (events_fts, rank) VALUES ('integrity-check', 1)")


def test_a_store_in_which_nothing_was_written_is_left_alone(store: sqlite3.Connection, tmp_path: Path) -> None:
    write(store, range(1, 50))
    merge_all(store)
    log = tmp_path / "store.sqlite-wal"
    before = log.stat().st_size
    assert merge_all(store) == 0
    assert log.stat().st_size == before


def test_a_large_merge_is_made_in_many_steps(store: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "PAGES", 1)
    store.execute("INSERT INTO events_fts (events_fts, rank) VALUES ('pgsz', 64)")
    write(store, range(1, 400))
    before = found(store, "okapi")
    assert merge_all(store) > 20
    write(store, range(400, 500))
    merge_all(store)
    assert segments(store) <= 4
    assert found(store, "okapi") == before + [number for number in found(store, "okapi") if number >= 400]


def test_every_full_text_index_of_the_store_is_merged(store: sqlite3.Connection) -> None:
    virtual = store.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'").fetchall()
    assert sorted(INDEXES) == sorted(name for (name,) in virtual)


async def test_a_tick_merges_what_captures_have_left(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(40):
            await memory.capture(number)
            await memory.ask("drain")
        [[many]] = await memory.rows(SEGMENTS)
        await memory.services.maintenance.run()
        [[few]] = await memory.rows(SEGMENTS)
        assert few <= 2 < many
