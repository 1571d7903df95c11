"""A team's feed becomes rows that search reads like its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from siftd.store import team_replica
from siftd.store.access import Database
from siftd.store.team_replica import Placed
from siftd.team.items import Put, content_hash, document_id
from siftd.team.protocol import Changed, Person

PROJECT = uuid.UUID("10000000-0000-4000-8000-000000000001")
ANA = Person(id=uuid.UUID("20000000-0000-4000-8000-000000000002"), name="Ana")
DEVICE = uuid.UUID("30000000-0000-4000-8000-000000000003")
NOW = 1_790_000_000_000


def put(ref: str, text: str, source: str = "memory", rev: int = 1, **fields: Any) -> Put:
    made = Put(
        id=document_id(PROJECT, source, ref),  # type: ignore[arg-type]
        rev=rev,
        hash="0" * 64,
        source=source,  # type: ignore[arg-type]
        source_ref=ref,
        text=text,
        ts=NOW,
        **fields,
    )
    return Put(**{name: getattr(made, name) for name in made.__struct_fields__} | {"hash": content_hash(made)})


def placed(item: Put, seq: int = 1, *, is_own: bool = False) -> Placed:
    return Placed(Changed(seq=seq, item=item, author=ANA, device=DEVICE), item.text.lower(), is_own)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "team.db")


@pytest.fixture
def replica(path: str) -> Iterator[Database]:
    connection = team_replica.open_replica(path, str(PROJECT), NOW)
    yield connection
    connection.close()


def apply(replica: Database, *items: Placed, gone: tuple[str, ...] = (), seq: int = 9, is_head: bool = True) -> None:
    after = team_replica.read_cursor(replica)
    assert team_replica.apply(replica, items, gone, after=after, seq=seq, is_head=is_head)


def numbers(replica: Database) -> list[int]:
    return [row[0] for row in replica.execute("SELECT number FROM team_items ORDER BY 1")]


def test_a_memory_is_a_fact_and_a_story_a_summary_with_numbers_of_one_sequence(replica: Database) -> None:
    apply(
        replica,
        placed(put("a", "Okapis sleep in the east barn.", metadata={"type": "decision", "tags": ["zoo"]})),
        placed(put("b", "Moved the okapis.", "summary", metadata={"session": "s1", "scope": "session"})),
    )
    assert replica.execute("SELECT id, category, text, tags FROM facts").fetchall() == [
        (1, "decision", "Okapis sleep in the east barn.", '["memory", "zoo"]')
    ]
    found = "SELECT s.id, s.event_id, e.session_id, s.scope, s.text FROM summaries s JOIN events e ON e.id = s.event_id"
    assert replica.execute(found).fetchall() == [(2, 2, "s1", "session", "Moved the okapis.")]
    found = "SELECT number, source, author_name, owner_kind, is_own FROM team_items ORDER BY 1"
    assert replica.execute(found).fetchall() == [(1, "memory", "Ana", "fact", 0), (2, "summary", "Ana", "summary", 0)]


def test_words_of_both_kinds_are_found(replica: Database) -> None:
    apply(replica, placed(put("a", "okapis")), placed(put("b", "zebras", "summary")))
    for table, number in (("facts_fts", 1), ("summaries_fts", 2)):
        word = {"facts_fts": "okapis", "summaries_fts": "zebras"}[table]
        sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
        assert replica.execute(sql, (word,)).fetchall() == [(number,)]


def test_said_again_it_keeps_its_number_and_loses_its_old_words(replica: Database) -> None:
    apply(replica, placed(put("a", "west barn")))
    apply(replica, placed(put("a", "east barn", rev=2), 2))
    assert replica.execute("SELECT id, text FROM facts").fetchall() == [(1, "east barn")]
    assert replica.execute("SELECT count(*) FROM facts_fts WHERE facts_fts MATCH 'west'").fetchone() == (0,)


def test_what_the_own_store_has_has_a_number_and_no_row(replica: Database) -> None:
    apply(replica, placed(put("a", "mine"), is_own=True))
    assert numbers(replica) == [1]
    assert replica.execute("SELECT count(*) FROM facts").fetchone() == (0,)
    assert team_replica.count_by_source(replica) == {"memory": (1, 1)}


def test_a_tombstone_takes_the_rows_and_the_session_that_is_empty_then(replica: Database) -> None:
    story = put("b", "Moved.", "summary", metadata={"session": "s1"})
    apply(replica, placed(put("a", "okapis")), placed(story))
    apply(replica, gone=(str(story.id), str(document_id(PROJECT, "memory", "a"))))
    for table in ("facts", "events", "summaries", "sessions", "team_items"):
        assert replica.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def test_a_successor_that_comes_later_is_linked_when_it_is_there(replica: Database) -> None:
    newer = put("b", "east barn")
    apply(replica, placed(put("a", "west barn", superseded_by=newer.id, valid_to=NOW)))
    assert replica.execute("SELECT status, superseded_by FROM facts").fetchall() == [("superseded", None)]
    apply(replica, placed(newer))
    assert replica.execute("SELECT status, superseded_by FROM facts WHERE id = 1").fetchone() == ("superseded", 2)
    apply(replica, placed(put("b", "east barn, by the river", rev=2)))
    assert replica.execute("SELECT superseded_by FROM facts WHERE id = 1").fetchone() == (2,)


def test_nobody_speaks_there_as_this_person_nor_stands_in_every_session(replica: Database) -> None:
    said = {"saidBy": "person", "pinned": True, "importance": 99, "type": "no such", "confidence": "much"}
    apply(replica, placed(put("a", "Do it.", metadata=said)), placed(put("7", "A bug.", "issue", metadata=said)))
    rows = replica.execute("SELECT said_by, pinned, waits, importance, category, confidence FROM facts ORDER BY id")
    assert rows.fetchall() == [("agent", 0, 0, 3, "fact", None), ("outside", 0, 0, 3, "fact", None)]


def test_another_epoch_keeps_numbers_and_takes_what_is_no_more_once_all_is_pulled(replica: Database) -> None:
    first, second = put("a", "okapis"), put("b", "zebras")
    apply(replica, placed(first), placed(second), seq=2)
    team_replica.restart(replica, "another")
    assert team_replica.read_cursor(replica)[:2] == ("another", 0)
    apply(replica, seq=0, is_head=False)
    assert numbers(replica) == [1, 2], "it stays readable meanwhile"
    apply(replica, placed(second), seq=1)
    assert numbers(replica) == [2]
    assert team_replica.read_cursor(replica)[:2] == ("another", 1)


def test_a_page_that_fails_leaves_rows_and_cursor_as_they_were(replica: Database) -> None:
    with pytest.raises(AttributeError):
        apply(replica, placed(put("a", "okapis")), Placed(None, "", is_own=False))  # type: ignore[arg-type]
    assert team_replica.read_cursor(replica)[:2] == (None, 0)
    assert replica.execute("SELECT count(*) FROM team_items").fetchone() == (0,)


def test_a_page_that_comes_behind_another_is_left(replica: Database) -> None:
    """Two pulls at once: the older page has the older texts."""
    before = team_replica.read_cursor(replica)
    apply(replica, placed(put("a", "east barn", rev=2), 2), seq=2)
    late = [placed(put("a", "west barn"))]
    assert not team_replica.apply(replica, late, (), after=before, seq=1, is_head=False)
    assert replica.execute("SELECT text FROM facts").fetchall() == [("east barn",)]
    assert team_replica.read_cursor(replica).seq == 2


def test_a_damaged_replica_and_that_of_another_project_are_made_anew(path: str, replica: Database) -> None:
    apply(replica, placed(put("a", "okapis")))
    replica.close()
    other = team_replica.open_replica(path, "another", NOW)
    assert team_replica.read_cursor(other)[:2] == (None, 0)
    assert other.execute("SELECT count(*) FROM facts").fetchone() == (0,)
    other.close()
    Path(path).write_bytes(b"no database" * 999)
    team_replica.open_replica(path, "another", NOW).close()
