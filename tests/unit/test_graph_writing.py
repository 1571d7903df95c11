"""The graph's tables: names become entities once, relations begin and end, and what no item says any more is gone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from graph_store import MARKS, entity_id, graph_store, relations, says

from siftd.graph.model import Found, Link, Named
from siftd.log.record import Record
from siftd.store import graph_items, graph_merges, graph_names, graph_writing, scrubbing
from siftd.store.access import Database
from siftd.store.connection import open_writer
from siftd.store.graph_writing import Said
from siftd.store.migrate import migrate

AUTH = ("service", "auth service")
USERS = ("service", "user service")
REDIS = ("tool", "Redis")
TEAM = ("team", "platform team")
ALICE = ("person", "Alice")


@pytest.fixture
def store() -> Iterator[Database]:
    with graph_store() as connection:
        yield connection


def names(connection: Database) -> list[tuple[str, str]]:
    return connection.execute("SELECT type, name FROM entities ORDER BY id").fetchall()


def counts(connection: Database) -> dict[str, int]:
    return dict(connection.execute("SELECT name, mention_count FROM entities").fetchall())


def picture(connection: Database) -> dict[str, list[tuple[object, ...]]]:
    tables = ("entities", "entity_aliases", "mentions", "relations", "relation_evidence", "graph_queue")
    return {each: connection.execute(f"SELECT * FROM {each} ORDER BY 1, 2").fetchall() for each in tables[:-1]}


def merge(connection: Database, src: int, dst: int, seq: int = 1) -> None:
    marks = dict(connection.execute("SELECT id, mark FROM entities").fetchall())
    record = Record(seq=seq, kind="entity_merge", uid=f"u{seq}", ts=9, payload=b"{}")
    graph_merges.apply_merge(connection, {"from": marks[src], "into": marks[dst]}, record)


def unmerge(connection: Database, seq: int = 1) -> None:
    record = Record(seq=seq + 100, kind="entity_unmerge", uid=f"v{seq}", ts=10, payload=b"{}")
    graph_merges.apply_unmerge(connection, {"merge": seq}, record)


# Names


def test_a_name_is_one_entity_however_it_is_written(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    says(store, "e2", (("service", "Auth-Service"), "DEPENDS_ON", ("service", "redis")))
    says(store, "e3", (("service", "auth"), "DEPENDS_ON", ("concept", "REDIS")))
    assert names(store) == [AUTH, REDIS]
    assert counts(store) == {"auth service": 3, "Redis": 3}
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 1, None)]
    assert store.execute("SELECT mention_count FROM relations").fetchall() == [(3,)]


def test_a_person_and_a_service_of_one_name_are_two(store: Database) -> None:
    says(store, "e1", (("person", "Carol"), "WORKS_ON", ("service", "carol")))
    assert names(store) == [("person", "Carol"), ("service", "carol")]


def test_files_are_told_apart_by_case_and_packages_are_not(store: Database) -> None:
    says(store, "e1", (("file", "a/B.py"), "IMPORTS", ("package", "My_Pkg")))
    says(store, "e2", (("file", "a/b.py"), "IMPORTS", ("package", "my-pkg")))
    assert names(store) == [("file", "a/B.py"), ("package", "My_Pkg"), ("file", "a/b.py")]


def test_what_nobody_knew_the_type_of_gets_it_once_somebody_does(store: Database) -> None:
    says(store, "e1", (AUTH, "USES", ("concept", "Blueprint")))
    says(store, "e2", (AUTH, "USES", ("tool", "Blueprint")))
    assert names(store) == [AUTH, ("tool", "Blueprint")]
    says(store, "e3", (AUTH, "USES", ("concept", "blueprint")))
    assert counts(store)["Blueprint"] == 3


def test_a_name_that_a_vector_has_found_becomes_no_second_entity_and_one_that_is_gone_is_made(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    number = entity_id(store, *REDIS)
    found = Found()
    named = Named("tool", "Redis store")
    found.name(named)
    graph_writing.put(store, "e2", found, Said(2), MARKS, known={named: number})
    assert counts(store)["Redis"] == 2
    graph_writing.put(store, "e3", found, Said(2), MARKS, known={named: 999})
    assert ("tool", "Redis store") in names(store)


# What items say


def test_putting_the_same_again_writes_nothing(store: Database) -> None:
    says(store, "d1", (AUTH, "DEPENDS_ON", REDIS), (ALICE, "WORKS_ON", TEAM), keeps_history=True)
    before, changes = picture(store), store.total_changes
    says(store, "d1", (AUTH, "DEPENDS_ON", REDIS), (ALICE, "WORKS_ON", TEAM), ts=5, keeps_history=True)
    assert picture(store) == before
    assert store.total_changes - changes <= 4, "names are looked at, nothing is changed"


def test_what_an_item_alone_has_said_goes_with_it(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    says(store, "e2", (AUTH, "DEPENDS_ON", USERS))
    graph_writing.forget_item(store, "e1")
    assert names(store) == [AUTH, USERS]
    assert relations(store) == [("auth service", "DEPENDS_ON", "user service", 1, None)]
    graph_writing.forget_item(store, "e2")
    assert all(not rows for rows in picture(store).values())
    assert store.execute("SELECT count(*) FROM entities_fts").fetchone() == (0,)


def test_the_rows_of_events_facts_and_documents_take_what_they_say_along(store: Database) -> None:
    store.executescript(
        "INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json) VALUES (1, 1, 's', 't', 'h', '{}');"
        "INSERT INTO facts (id, ts, updated_ts, text, uid) VALUES (2, 1, 1, 'x', 'a');"
        "INSERT INTO documents (id, path, type, title, content_hash, ingested_ts) VALUES (3, 'a', 'text', 'a', 'h', 1);"
    )
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    says(store, "m2", (AUTH, "DEPENDS_ON", USERS))
    says(store, "d3", (ALICE, "WORKS_ON", TEAM))
    store.execute("DELETE FROM events WHERE id = 1")
    assert REDIS not in names(store)
    store.execute("UPDATE facts SET text = 'y' WHERE id = 2")
    assert USERS not in names(store)
    store.execute("DELETE FROM documents WHERE id = 3")
    assert names(store) == []


# Time


def test_what_a_document_says_no_longer_ends_and_stays_as_history(store: Database) -> None:
    says(store, "d1", (AUTH, "DEPENDS_ON", REDIS), ts=10, keeps_history=True)
    says(store, "d1", (AUTH, "DEPENDS_ON", USERS), ts=20, keeps_history=True)
    assert relations(store) == [
        ("auth service", "DEPENDS_ON", "Redis", 10, 20),
        ("auth service", "DEPENDS_ON", "user service", 20, None),
    ]
    says(store, "d1", (AUTH, "DEPENDS_ON", REDIS), ts=30, keeps_history=True)
    assert relations(store) == [
        ("auth service", "DEPENDS_ON", "Redis", 10, 20),
        ("auth service", "DEPENDS_ON", "user service", 20, 30),
        ("auth service", "DEPENDS_ON", "Redis", 30, None),
    ]
    graph_writing.forget_item(store, "d1")
    assert relations(store) == []
    assert names(store) == [], "no name of a document that was forgotten stays"


def test_a_relation_holds_while_one_item_says_so(store: Database) -> None:
    says(store, "d1", (AUTH, "DEPENDS_ON", REDIS), ts=10, keeps_history=True)
    says(store, "d2", (AUTH, "DEPENDS_ON", REDIS), ts=5, keeps_history=True)
    says(store, "d1", ts=20, keeps_history=True)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 5, None)]
    says(store, "d2", ts=30, keeps_history=True)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 5, 30)]
    graph_writing.forget_item(store, "d2")
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, 20)]


def test_a_fact_that_another_one_has_replaced_was_true_until_then(store: Database) -> None:
    says(store, "m1", (AUTH, "DEPENDS_ON", REDIS), ts=10)
    says(store, "m1", (AUTH, "DEPENDS_ON", REDIS), ts=10, until=40)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, 40)]
    says(store, "m1", (AUTH, "DEPENDS_ON", REDIS), ts=10)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, None)]


def test_an_item_can_say_that_something_holds_no_longer(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS), ts=10)
    found = Found()
    found.end(Named("service", "auth service"), "DEPENDS_ON", Named("tool", "Redis"))
    graph_writing.put(store, "e2", found, Said(20), MARKS)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, 20)]
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS), ts=10)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, 20)], "read again, it stays ended"
    says(store, "e3", (AUTH, "DEPENDS_ON", REDIS), ts=30)
    assert relations(store)[-1] == ("auth service", "DEPENDS_ON", "Redis", 30, None)


# One of two


def test_what_was_renamed_is_found_by_both_names_and_counts_as_one(store: Database) -> None:
    says(store, "e1", (("file", "old.py"), "IMPORTS", ("package", "numpy")), ts=1)
    found = Found()
    found.alias(Named("file", "new.py"), "old.py")
    graph_writing.put(store, "e2", found, Said(2), MARKS)
    says(store, "e3", (("file", "old.py"), "RENAMED_TO", ("file", "new.py")), ts=2)
    new = entity_id(store, "file", "new.py")
    assert store.execute("SELECT aliases FROM entities WHERE id = ?", (new,)).fetchone() == ('["old.py"]',)
    assert ("new.py", "IMPORTS", "numpy", 1, None) in relations(store)
    assert ("old.py", "RENAMED_TO", "new.py", 2, None) in relations(store)
    graph_writing.forget_item(store, "e3")
    assert ("old.py", "IMPORTS", "numpy", 1, None) in relations(store), "nobody says that it was renamed any more"


def test_what_was_renamed_back_is_itself_again(store: Database) -> None:
    says(store, "e1", (("file", "a.py"), "RENAMED_TO", ("file", "b.py")), ts=1)
    says(store, "e2", (("file", "b.py"), "RENAMED_TO", ("file", "a.py")), ts=2)
    says(store, "e3", (("file", "b.py"), "IMPORTS", ("package", "numpy")), ts=3)
    assert ("a.py", "IMPORTS", "numpy", 3, None) in relations(store)


def test_a_persons_merge_counts_two_as_one_and_can_be_taken_back_to_the_last_row(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS), ts=1)
    says(store, "e2", (("service", "login service"), "DEPENDS_ON", REDIS), ts=2)
    says(store, "e3", (("service", "login service"), "USES", USERS), ts=3)
    before = picture(store)
    login, auth = entity_id(store, "service", "login service"), entity_id(store, *AUTH)
    merge(store, login, auth)
    assert relations(store) == [
        ("auth service", "DEPENDS_ON", "Redis", 1, None),
        ("auth service", "USES", "user service", 3, None),
    ]
    assert counts(store)["auth service"] == 3
    assert graph_names.canonical(store, login) == auth
    says(store, "e4", (("service", "login service"), "USES", REDIS), ts=4)
    assert ("auth service", "USES", "Redis", 4, None) in relations(store)
    graph_writing.forget_item(store, "e4")
    unmerge(store)
    after = picture(store)
    for table in ("entities", "mentions", "entity_aliases"):
        assert after[table] == before[table]
    assert sorted(row[1:] for row in after["relations"]) == sorted(row[1:] for row in before["relations"])
    assert graph_merges.list_merges(store)[0].undone_ts == 10


def test_a_merge_outlives_that_everything_is_read_again(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    says(store, "e2", (("service", "login service"), "DEPENDS_ON", USERS))
    merge(store, entity_id(store, "service", "login service"), entity_id(store, *AUTH))
    graph_writing.clear(store)
    assert names(store) == []
    says(store, "e2", (("service", "login service"), "DEPENDS_ON", USERS))
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    assert {row[0] for row in relations(store)} == {"auth service"}


def test_two_that_are_merged_into_each_other_stay_one_of_them(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", USERS))
    auth, users = entity_id(store, *AUTH), entity_id(store, *USERS)
    merge(store, auth, users, 1)
    merge(store, users, auth, 2)
    assert graph_names.canonical(store, auth) == users
    assert graph_names.canonical(store, users) == users


def test_a_name_that_nobody_says_any_more_goes_also_where_others_were_merged_into_it(store: Database) -> None:
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS))
    says(store, "e2", (("service", "login service"), "DEPENDS_ON", REDIS))
    merge(store, entity_id(store, "service", "login service"), entity_id(store, *AUTH))
    graph_writing.forget_item(store, "e1")
    assert names(store) == [REDIS, ("service", "login service")]
    assert relations(store) == [("login service", "DEPENDS_ON", "Redis", 1, None)]


def manifest(connection: Database, item: str, ts: int, *names: str) -> None:
    found = Found()
    src = Named("package", "app")
    found.complete.add(src)
    for each in names:
        found.link(Link(src, "DEPENDS_ON", Named("package", each), "manifest"))
    graph_writing.put(connection, item, found, Said(ts), MARKS)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 1, 2)])
def test_manifests_end_each_other_in_whichever_order_they_are_read(store: Database, order: tuple[int, ...]) -> None:
    listed = {1: ("a", "b"), 2: ("a",), 3: ("a", "c")}
    for ts in order:
        manifest(store, f"e{ts}", ts, *listed[ts])
    assert set(relations(store)) == {
        ("app", "DEPENDS_ON", "a", 1, None),
        ("app", "DEPENDS_ON", "b", 1, 2),
        ("app", "DEPENDS_ON", "c", 3, None),
    }


def test_a_scrub_of_a_reading_that_waits_takes_the_secret_out_of_it(store: Database) -> None:
    store.executescript(
        "INSERT INTO documents (id, path, type, title, content_hash, ingested_ts) VALUES (3, 'a', 'text', 'a', 'h', 1);"
        "INSERT INTO document_texts VALUES (3, 'one');"
    )
    graph_items.keep_unread(store, 3)
    assert scrubbing.text_columns(store)["graph_unread"] == ["text"]
    store.execute("DELETE FROM documents")
    assert store.execute("SELECT count(*) FROM graph_unread").fetchone() == (0,)


def test_who_name_the_same_at_once_get_one_entity(tmp_path: Path) -> None:
    path = str(tmp_path / "db.sqlite")
    with closing(open_writer(path)) as connection:
        migrate(connection, 1)

    def name(worker: int) -> set[int]:
        found = Found()
        for number in range(40):
            found.name(Named("service", f"{'Auth' if worker % 2 else 'auth'} {number} service"))
        with closing(open_writer(path)) as connection:
            connection.execute("PRAGMA busy_timeout = 20000")
            connection.execute("BEGIN IMMEDIATE")
            graph_writing.put(connection, f"e{worker}", found, Said(worker), MARKS)
            connection.execute("COMMIT")
            return {row[0] for row in connection.execute("SELECT id FROM entities")}

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(name, range(4)))
    assert all(each == seen[0] for each in seen)
    assert len(seen[0]) == 40


def test_a_file_is_named_once_by_what_it_imports_and_a_name_in_words_each_time(store: Database) -> None:
    found = Found()
    for each in ("numpy", "httpx"):
        found.link(Link(Named("file", "a.py"), "IMPORTS", Named("package", each), "code"))
        found.link(Link(Named("service", "auth"), "USES", Named("tool", each), "prose"))
    graph_writing.put(store, "d1", found, Said(1), MARKS)
    assert (counts(store)["a.py"], counts(store)["auth"]) == (1, 2)


def test_a_merge_of_much_is_done_in_pieces_and_parted_in_pieces(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_merges, "PIECE", 7)
    for number in range(12):
        says(store, f"e{number}", (AUTH, "DEPENDS_ON", ("tool", f"Tool {number}")), (AUTH, "USES", REDIS), ts=number)
    says(store, "e90", (("service", "login service"), "DEPENDS_ON", REDIS), ts=90)
    before = picture(store)
    login, auth = entity_id(store, "service", "login service"), entity_id(store, *AUTH)
    merge(store, auth, login)
    assert graph_merges.has_queued(store), "the rest waits"
    steps = 0
    while graph_merges.settle_queued(store):
        steps += 1
    assert steps > 2
    assert {row[0] for row in relations(store)} == {"login service"}
    assert counts(store)["login service"] == 13 + 12
    unmerge(store)
    while graph_merges.settle_queued(store):
        pass
    after = picture(store)
    assert (after["entities"], after["mentions"]) == (before["entities"], before["mentions"])
    assert sorted(row[1:] for row in after["relations"]) == sorted(row[1:] for row in before["relations"])


def ends(connection: Database, item: str, ts: int) -> None:
    found = Found()
    found.end(Named(*AUTH), "DEPENDS_ON", Named(*REDIS))  # type: ignore[arg-type]
    graph_writing.put(connection, item, found, Said(ts), MARKS)


def test_what_ended_has_ended_in_whichever_order_it_is_read_and_not_once_nobody_says_so(store: Database) -> None:
    ends(store, "m9", 20)
    says(store, "e1", (AUTH, "DEPENDS_ON", REDIS), ts=10)
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, 20)]
    says(store, "e2", (AUTH, "DEPENDS_ON", REDIS), ts=30)
    assert relations(store)[-1] == ("auth service", "DEPENDS_ON", "Redis", 30, None)
    graph_writing.forget_item(store, "e2")
    graph_writing.forget_item(store, "m9")
    assert relations(store) == [("auth service", "DEPENDS_ON", "Redis", 10, None)]
    assert store.execute("SELECT count(*) FROM graph_ends").fetchone() == (0,)
