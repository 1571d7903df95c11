"""While a person holds the database's lock it is behind the log: no answer may come from it as if it were not."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from daemons import Place, wait_until

from siftd.errors import RequestRefused

pytestmark = pytest.mark.slow
CALM = ("--set", "memory.consolidator.tickMs=3600000")
QUEUE = "The queue is drained at midnight"


@pytest.fixture
def patience() -> float:
    """How long the daemon waits for its database, in seconds."""
    return 25.0


@pytest.fixture
def person(place: Place, patience: float) -> Iterator[sqlite3.Connection]:
    """Somebody who may lock the database of a daemon that runs."""
    place.start(*CALM, patches={"siftd.daemon.group_commit.CATCH_UP_SECONDS": patience})
    place.ask("drain")
    with contextlib.closing(sqlite3.connect(place.paths.database, isolation_level=None, check_same_thread=False)) as it:
        yield it


def asked_under_the_lock(place: Place, person: sqlite3.Connection, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answers to requests of which each waits for the database, which is released once all are asked."""
    asked = threading.Barrier(len(requests) + 1)

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        with place.client() as client:
            asked.wait()
            return client.request(request, timeout=30)

    with ThreadPoolExecutor(len(requests)) as pool:
        running = [pool.submit(ask, request) for request in requests]
        asked.wait()
        wait_until("the daemon has them", lambda: place.ask("hello"))
        assert not any(each.done() for each in running)
        person.execute("ROLLBACK")
        return [each.result() for each in running]


def test_what_is_remembered_twice_under_a_lock_is_one_memory(place: Place, person: sqlite3.Connection) -> None:
    person.execute("BEGIN IMMEDIATE")
    first = place.ask("remember", text=QUEUE)
    again = asked_under_the_lock(place, person, *[{"kind": "remember", "text": QUEUE}] * 2)
    assert [(each["id"], each["duplicate"]) for each in again] == [(first["id"], True)] * 2
    assert place.rows("SELECT count(*) FROM facts") == [(1,)]


def test_a_memory_that_was_acknowledged_under_a_lock_can_be_shown_changed_and_linked(
    place: Place, person: sqlite3.Connection
) -> None:
    other = place.ask("remember", text="The mirror is refreshed on Sundays")["id"]
    person.execute("BEGIN IMMEDIATE")
    kept = place.ask("remember", text=QUEUE)["id"]
    shown, changed, linked = asked_under_the_lock(
        place,
        person,
        {"kind": "show", "id": kept},
        {"kind": "update", "id": kept, "importance": 5},
        {"kind": "link", "from": kept, "to": other, "relation": "related_to"},
    )
    assert shown["item"]["text"] == QUEUE
    assert (changed["id"], linked["from"]) == (kept, kept)


@pytest.mark.parametrize("patience", [0.1])
def test_a_lock_that_stays_refuses_with_a_reason_and_changes_nothing(place: Place, person: sqlite3.Connection) -> None:
    kept = place.ask("remember", text="The mirror is refreshed on Sundays")["id"]
    person.execute("BEGIN IMMEDIATE")
    place.ask("remember", text=QUEUE)
    for request in ({"kind": "remember", "text": QUEUE}, {"kind": "update", "id": kept, "importance": 5}):
        with pytest.raises(RequestRefused, match="nothing was changed"), place.client() as client:
            client.request(request, timeout=30)
    person.execute("ROLLBACK")
    place.capture(1)
    assert place.rows("SELECT text, importance FROM facts ORDER BY id") == [
        ("The mirror is refreshed on Sundays", 3),
        (QUEUE, 3),
    ]
