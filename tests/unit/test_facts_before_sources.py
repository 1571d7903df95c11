"""A fact stands before the hits that say the same words, and before no others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from kept_forms import fresh

from siftd.search.facts_before import put_facts_before_sources
from siftd.store.access import Database

SAID = "Okapis sleep in the east barn"


def hit(cited: str, score: float, text: str, event: int | None = None) -> Any:
    kind = {"m": "memory", "g": "memory", "s": "summary", "e": "event"}[cited[0]]
    return {"id": cited, "kind": kind, "eventId": event, "score": score, "text": text, "why": {}}


def ordered(*hits: Any) -> list[str]:
    """Return the order in which hits stand; m4 was taken from the event 1."""
    with fresh() as connection:
        _fill(connection)
        found = list(hits)
        put_facts_before_sources(Database(connection), found)
        assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)
        return [each["id"] for each in found]


def _fill(connection: sqlite3.Connection) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.executescript(
            "INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json)"
            " VALUES (1, 1, 's', 't', 'h', '{}');"
            f"INSERT INTO facts (id, ts, updated_ts, text, quote) VALUES (4, 1, 1, 'Okapis …', '{SAID}');"
            "INSERT INTO fact_sources VALUES (4, 1);"
        )


def test_a_fact_takes_the_place_of_the_first_that_says_its_words() -> None:
    hits = hit("s9", 0.9, "Other."), hit("s1", 0.8, f"Asked: «{SAID.upper()}, …»", 1), hit("m4", 0.5, "Okapis …")
    assert ordered(*hits) == ["s9", "m4", "s1"]


def test_a_source_that_tells_something_else_and_a_stranger_that_says_the_words_keep_their_places() -> None:
    hits = hit("s1", 0.9, "The tests passed.", 1), hit("s2", 0.8, SAID, 2), hit("m4", 0.5, "Okapis …")
    assert ordered(*hits) == ["s1", "s2", "m4"]


def test_a_fact_of_another_store_is_not_taken_for_one_of_this() -> None:
    assert ordered(hit("s1", 0.8, SAID, 1), hit("g4", 0.5, "Okapis …")) == ["s1", "g4"]
