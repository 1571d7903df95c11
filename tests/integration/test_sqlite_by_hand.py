"""What people do with the stock `sqlite3` program while the daemon runs: read, repair, insert, hide, bring back."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, wait_until

SQLITE = shutil.which("sqlite3")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SQLITE is None, reason="the sqlite3 program is not installed; CI has it"),
]

SEED_QUERIES = [
    "SELECT id, ts, tool, status, length(payload_json) AS bytes FROM events ORDER BY id DESC LIMIT 20;",
    "SELECT count(*) FROM events WHERE status = 'raw';",
    "SELECT s.id, s.event_id FROM summaries s LEFT JOIN summary_embeddings e ON e.summary_id = s.id\n"
    " WHERE e.summary_id IS NULL ORDER BY s.id DESC LIMIT 20;",
    "SELECT * FROM summary_supersedes WHERE older_id = 7;",
]
FULL_TEXT = ("summaries_fts", "summaries_trigrams", "events_fts")
REPEATED = {"tool_input": {"command": "make okapi"}, "tool_response": {"stdout": "built"}}


@pytest.fixture
def running(place: Place) -> Iterator[Place]:
    """A daemon that compares new summaries as often as it may."""
    place.start("--set", "memory.consolidator.supersedeMs=100")
    place.ask("drain")  # waits for the tick with which a daemon begins: the next one is 30 s away
    yield place
    for table in FULL_TEXT:
        by_hand(place, f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1);")
    assert by_hand(place, "PRAGMA integrity_check;") == "ok"
    check_hashes(place)


def by_hand(place: Place, sql: str, *options: str) -> str:
    """Run the sqlite3 program as a person does: foreign keys off, default settings, a little patience."""
    assert SQLITE is not None
    done = subprocess.run(
        [SQLITE, *options, place.paths.database],
        input=f".bail on\n.timeout 5000\n{sql}\n",
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


def check_hashes(place: Place) -> None:
    rows = place.rows("SELECT payload_json, input_hash FROM events WHERE session_id <> 'by-hand'")
    assert rows
    assert all(hashlib.sha256(payload.encode()).hexdigest() == kept for payload, kept in rows)


def hits(place: Place, query: str, **filters: Any) -> list[int]:
    return [hit["eventId"] for hit in place.ask("search", query=query, k=50, filters=filters)["hits"]]


def drain_and_compare(place: Place, condition: str) -> None:
    """Drain until superseding has been due and `condition`, a query for one number, is true."""

    def is_so() -> bool:
        place.ask("drain")
        return bool(place.rows(condition)[0][0])

    wait_until(condition, is_so)


def test_the_seed_s_queries_run_verbatim(running: Place) -> None:
    for number in range(3):
        running.capture(number)
    assert len(by_hand(running, SEED_QUERIES[0]).splitlines()) == 3
    assert by_hand(running, SEED_QUERIES[1]) == "3"
    running.ask("drain")
    assert by_hand(running, SEED_QUERIES[1]) == "0"
    assert by_hand(running, SEED_QUERIES[2]) == ""
    by_hand(running, "DELETE FROM summary_embeddings WHERE summary_id = 2;")
    assert by_hand(running, SEED_QUERIES[2]) == "2|2"
    by_hand(running, "INSERT INTO summary_supersedes VALUES (1, 7, 0.97, 5);")
    assert by_hand(running, SEED_QUERIES[3]) == "1|7|0.97|5"


def test_every_index_stays_whole_whatever_is_inserted_updated_and_deleted(running: Place) -> None:
    """The fixture checks them all at the end."""
    for number in range(6):
        running.capture(number)
    running.ask("drain")
    by_hand(
        running,
        """
        INSERT INTO events (ts, session_id, tool, input_hash, payload_json)
          VALUES (1, 'by-hand', 'Bash', 'x', '{"tool_input":{"command":"saw a zebra"}}');
        INSERT INTO summaries (event_id, ts, model, prompt_hash, text) VALUES (1, 1, 'me', '', 'saw the tapir');
        UPDATE summaries SET text = 'saw a walrus' WHERE event_id = 2;
        UPDATE summaries SET id = 90 WHERE event_id = 3;
        UPDATE events SET payload_json = '{"tool_input":{"command":"heron"}}', session_id = 'by-hand' WHERE id = 4;
        UPDATE events SET tool = 'Other' WHERE id = 1;
        DELETE FROM summaries WHERE event_id = 5;
        DELETE FROM events WHERE id = 6;
        INSERT INTO summary_embeddings (summary_id, dim, vec) VALUES (90, 2, x'00')
          ON CONFLICT (summary_id) DO UPDATE SET dim = excluded.dim, vec = excluded.vec, embedder = NULL;
        DELETE FROM summary_embeddings WHERE summary_id = 1;
        INSERT INTO summary_supersedes (newer_id, older_id) VALUES (90, 1);
        UPDATE summary_supersedes SET ts = 3;
        DELETE FROM summary_supersedes;
        """,
    )
    for table in FULL_TEXT:
        by_hand(running, f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1);")
    drain_and_compare(running, "SELECT count(*) = (SELECT count(*) FROM events) FROM event_words")
    assert hits(running, "zebra")[0] == 7
    assert hits(running, "tapir")[0] == 1
    assert hits(running, "walrus")[0] == 2
    assert hits(running, "heron")[0] == 4
    assert 6 not in hits(running, "make target")
    assert running.rows("SELECT count(*) FROM summaries WHERE event_id = 6") == [(0,)]
    assert running.rows("SELECT count(*) FROM summary_embeddings WHERE dim <> 384") == [(0,)]


def test_a_supersede_row_inserted_hides_and_deleted_brings_back_for_good(running: Place) -> None:
    for number in range(2):
        running.capture(number, payload=REPEATED)
    running.capture(2, payload={"tool_input": {"command": "make tapir"}, "tool_response": {"stdout": "built"}})
    drain_and_compare(running, "SELECT count(*) FROM summary_supersedes")
    assert 1 not in hits(running, "okapi")
    by_hand(running, "DELETE FROM summary_supersedes;")
    assert {1, 2} <= set(hits(running, "okapi"))
    by_hand(running, "DELETE FROM summary_embeddings;")
    drain_and_compare(running, "SELECT count(*) = 3 FROM summary_embeddings")
    compared = running.rows("SELECT max(id) FROM vector_changes")[0][0]
    drain_and_compare(running, f"SELECT value >= {compared} FROM meta WHERE key = 'superseded_upto_change'")
    assert running.rows("SELECT count(*) FROM summary_supersedes") == [(0,)]
    by_hand(running, "INSERT INTO summary_supersedes (newer_id, older_id) VALUES (2, 3);")
    assert 3 not in hits(running, "tapir")
    assert 3 not in hits(running, "", tool="Bash")
    assert 3 in hits(running, "tapir", superseded=True)
    by_hand(running, "DELETE FROM summary_supersedes WHERE older_id = 3;")
    assert hits(running, "tapir")[0] == 3


def test_what_a_person_empties_or_sets_back_is_made_again(running: Place) -> None:
    for number in range(3):
        running.capture(number)
    running.ask("drain")
    before = running.rows("SELECT summary_id, vec FROM summary_embeddings ORDER BY 1")
    by_hand(running, "DELETE FROM summary_embeddings;")
    assert "vectors" in running.ask("search", query="make target", k=5)["degraded"]
    assert running.ask("drain")["embedded"] == 3
    assert running.rows("SELECT summary_id, vec FROM summary_embeddings ORDER BY 1") == before
    assert running.ask("search", query="make target", k=5)["degraded"] is None
    texts = running.rows("SELECT event_id, text FROM summaries ORDER BY 1")
    by_hand(running, "DELETE FROM summaries; UPDATE events SET status = 'raw'; UPDATE summary_cache SET text = text;")
    assert running.ask("drain")["pending"] == 0
    assert running.rows("SELECT event_id, text FROM summaries ORDER BY 1") == texts


def test_a_changed_text_is_found_by_its_new_words_only(running: Place) -> None:
    running.capture(1, payload=REPEATED)
    running.capture(2)
    running.ask("drain")
    by_hand(running, "UPDATE summaries SET text = 'painted the bikeShed' WHERE event_id = 1;")
    running.ask("drain")
    assert hits(running, "bike shed")[0] == 1
    found = {hit["eventId"]: hit for hit in running.ask("search", query="okapi", k=5)["hits"]}
    assert not {"words", "vector", "trigram"} & set(found.get(1, {"why": {}})["why"])


def test_an_event_inserted_by_hand_is_summarised_and_found_and_its_id_given_to_nobody_else(running: Place) -> None:
    running.capture(1)
    by_hand(
        running,
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (1, 'by-hand', 'Bash', 'x',"
        """ '{"tool_input":{"command":"saw a zebra"},"tool_response":{"stdout":""}}');""",
    )
    assert running.capture(2)["eventId"] == 3
    assert running.ask("drain")["pending"] == 0
    assert hits(running, "zebra") == [2]
    assert running.rows("SELECT session_id FROM events ORDER BY id") == [("by-socket",), ("by-hand",), ("by-socket",)]


def test_captures_are_acknowledged_while_a_person_holds_the_lock_and_nothing_is_lost(running: Place) -> None:
    """A row that the person inserts takes the id that the next capture has in the log: both stay."""
    running.capture(1)
    person = sqlite3.connect(running.paths.database, isolation_level=None)
    person.execute("BEGIN IMMEDIATE")
    person.execute(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (1, 'by-hand', 'Bash', 'x',"
        """ '{"tool_input":{"command":"saw a zebra"}}')"""
    )
    told = [running.capture(number) for number in range(2, 7)]
    assert [each["eventId"] for each in told] == [2, 3, 4, 5, 6]
    assert running.ask("info")["log"]["behind"] is True
    assert running.count_events() == 1
    person.execute("COMMIT")
    person.close()
    running.capture(7)
    commands = dict(running.rows("SELECT id, json_extract(payload_json, '$.tool_input.command') FROM events"))
    assert [commands[number] for number in range(1, 7)] == [f"make target-{number}" for number in range(1, 7)]
    assert sorted(commands.values()) == sorted(["saw a zebra", *(f"make target-{number}" for number in range(1, 8))])
    running.ask("drain")
    assert len(hits(running, "zebra")) == 1


def test_forty_readers_do_not_block(running: Place) -> None:
    running.capture(0)
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            reader = sqlite3.connect(f"file:{running.paths.database}?mode=ro", uri=True, isolation_level=None)
            stack.callback(reader.close)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
        for number in range(1, 20):
            running.capture(number)
        assert running.ask("drain")["pending"] == 0
        assert running.ask("info")["log"]["behind"] is False
        assert hits(running, "target")
