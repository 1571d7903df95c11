"""What is counted for all members says nothing of somebody's private items."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator

import numpy as np
import pytest
from postgres import TeamDatabase
from team_people import Seat, seat

from siftd.team.items import Vector
from siftd.team.searching import SearchAsked
from siftd.team_server.store import TeamStore

VECTOR = Vector(model="hash-384", data=base64.b64encode(np.ones(384, "<f2").tobytes()).decode())
SHARED = 250
"""So many that the words are counted."""


@pytest.fixture
async def store(team_database: TeamDatabase) -> AsyncIterator[TeamStore]:
    opened = TeamStore(team_database.app)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def ana(store: TeamStore, team_database: TeamDatabase) -> Seat:
    return await seat(store, team_database, "Ana")


@pytest.fixture
async def ben(store: TeamStore, team_database: TeamDatabase) -> Seat:
    return await seat(store, team_database, "Ben")


async def score(one: Seat, word: str) -> float:
    found = await one.store.search(one.digest, one.project, SearchAsked(question=word, strategy="keyword"))
    assert found.hits[0].bm25 is not None
    return found.hits[0].bm25


async def test_a_score_does_not_tell_that_others_say_a_word_in_private(ana: Seat, ben: Seat) -> None:
    await ana.push(*(ana.item(f"p{n}", f"the okapi number {n}", visibility="private") for n in range(50)))
    await ben.push(ben.item("b1", "the okapi sleeps"), ben.item("b2", "the zebra sleeps"))
    await ben.push(*(ben.item(f"s{n}", f"ledger entry {n}") for n in range(SHARED)))
    assert await score(ben, "okapi") == pytest.approx(await score(ben, "zebra"))


async def test_how_much_was_told_of_a_source_is_what_was_shared(ana: Seat, ben: Seat, store: TeamStore) -> None:
    await ana.push(ana.item("p1", "for me", visibility="private", source="fact"), ana.item("m1", "for all"))
    assert (await store.members(ben.digest, ben.project)).used == {"memory": 1}


async def test_others_private_items_without_a_vector_make_no_search_worse(ana: Seat, ben: Seat) -> None:
    await ana.push(ana.item("p1", "for me", visibility="private"))
    for one, degraded in ((ben, []), (ana, ["100 % without a vector yet"])):
        asked = SearchAsked(question="okapi", vectors=[VECTOR], strategy="semantic")
        assert (await one.store.search(one.digest, one.project, asked)).degraded == degraded
