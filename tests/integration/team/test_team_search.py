"""Search in the team's store on a real PostgreSQL: the right rows, of the right people, and what was missing."""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_people import Seat, seat

from siftd.clock import SystemClock
from siftd.embed.hash384 import embed, embed_question
from siftd.embed.words import further_words
from siftd.team.items import Forget, Vector
from siftd.team.searching import SearchAsked, SearchFound
from siftd.team_server import filling
from siftd.team_server.embedding import Models
from siftd.team_server.hub import Hub
from siftd.team_server.refusals import BadArgument, NotAllowed, NotThere, ReadOnly
from siftd.team_server.settings import Serving
from siftd.team_server.store import Embedded, TeamStore

MODEL = "hash-384"


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


async def fill(one: Seat, model: str = MODEL) -> int:
    """Give all items that a seat sees their vectors, as a server does."""
    made = 0
    while (batch := await one.store.reindex_next(one.digest, one.project, model, 100)).items:
        rows = embed([each.text for each in batch.items])
        made += await one.store.reindex_put(
            one.digest, one.project, model,
            [Embedded(each.id, each.hash, row) for each, row in zip(batch.items, rows, strict=True)],
        )  # fmt: skip
    return made


def asked(question: str, **others: Any) -> SearchAsked:
    vector = embed_question(question, None).astype("<f2").tobytes()
    given = {"vectors": [Vector(model=MODEL, data=base64.b64encode(vector).decode())], **others}
    return SearchAsked(question=question, **given)


async def search(one: Seat, question: str, **others: Any) -> SearchFound:
    return await one.store.search(one.digest, one.project, asked(question, **others))


def texts(found: SearchFound) -> list[str]:
    return [each.item.text for each in found.hits]


async def test_what_is_asked_is_found_by_words_and_by_vectors(ana: Seat, ben: Seat) -> None:
    await ana.push(
        ana.item("m1", "Deployments of the bank go through the staging cluster first"),
        ana.item("m2", "parseLedger fails on empty rows", words=further_words("parseLedger fails on empty rows")),
        ana.item("m3", "Lunch is at noon"),
    )
    assert await fill(ana) == 3
    found = await search(ben, "where do deployments go first?")
    assert found.strategy == "hybrid"
    assert found.degraded == []
    assert texts(found)[0].startswith("Deployments")
    best = found.hits[0]
    assert (best.ranks, best.author.name) == ({"words": 1, "vector": 1}, "Ana")
    assert best.cosine is not None
    assert best.bm25 is not None
    assert texts(await search(ben, "the ledger", strategy="keyword")) == ["parseLedger fails on empty rows"]
    assert len(texts(await search(ben, "noon", strategy="semantic"))) == 3


async def test_without_vectors_words_answer_and_the_answer_says_so(ana: Seat) -> None:
    await ana.push(ana.item("m1", "The ledger is closed at night"))
    found = await search(ana, "ledger", vectors=[])
    assert (texts(found), found.strategy, found.degraded) == (
        ["The ledger is closed at night"], "keyword", ["no vectors"],
    )  # fmt: skip
    half = await search(ana, "ledger")
    assert half.degraded == ["100 % without a vector yet"]
    graph = await search(ana, "ledger", strategy="graph", vectors=[])
    assert graph.degraded[0].startswith("no graph")


async def test_a_rare_word_counts_more_than_common_ones_before_and_after_words_were_counted(
    ana: Seat, team_database: TeamDatabase
) -> None:
    """A word that no count knows yet is rare, never absent."""
    common = [ana.item(f"c{n}", f"the server of the bank starts slowly, case {n}") for n in range(240)]
    await ana.push(*common[:200], ana.item("r1", "the quokka server starts"))
    with psycopg.connect(team_database.superuser) as connection:
        counted = connection.execute("SELECT count(*) FROM siftd.terms").fetchone()
        assert counted is not None
        assert counted[0] > 0
    await ana.push(*common[200:], ana.item("r2", "the wombat server starts"))
    assert texts(await search(ana, "why does the quokka server start slowly", strategy="keyword"))[0].startswith(
        "the quokka"
    )
    assert texts(await search(ana, "why does the wombat server start slowly", strategy="keyword"))[0].startswith(
        "the wombat"
    )


@pytest.mark.parametrize(
    "question", ["'", "\\", "a'b\\c | & !", "'; DROP TABLE siftd.memories; --", "\0", "", "::", "é" * 300]
)
async def test_a_question_is_never_syntax(ana: Seat, question: str) -> None:
    await ana.push(ana.item("m1", "a'b\\c and others"))
    assert len((await search(ana, question, strategy="keyword")).hits) <= 1


async def test_what_no_longer_holds_is_left_out_unless_asked_for(ana: Seat) -> None:
    now = 1_800_000_000_000
    await ana.push(
        ana.item("m1", "ledger stands on Oracle", superseded_by=uuid.uuid4(), valid_from=1000, valid_to=2_000),
        ana.item("m2", "ledger stands on PostgreSQL", valid_from=2_000),
        ana.item("m3", "ledger was tried on SQLite", archived_at=1_000),
        ana.item("m4", "ledger has expired", valid_to=3_000),
    )
    assert texts(await search(ana, "ledger", vectors=[])) == ["ledger stands on PostgreSQL"]
    assert len(texts(await search(ana, "ledger", vectors=[], include_stale=True))) == 4
    assert texts(await search(ana, "ledger stands", vectors=[], as_of=1_500)) == ["ledger stands on Oracle"]
    assert texts(await search(ana, "ledger stands", vectors=[], as_of=now))[0] == "ledger stands on PostgreSQL"


async def test_filters_by_source_type_and_session(ana: Seat) -> None:
    await ana.push(
        ana.item("m1", "ledger one", metadata={"type": "decision", "session": "s1"}),
        ana.item("m2", "ledger two", source="fact", metadata={"type": "fact", "session": "s2"}),
    )
    assert texts(await search(ana, "ledger", vectors=[], sources=["fact"])) == ["ledger two"]
    assert texts(await search(ana, "ledger", vectors=[], type="decision")) == ["ledger one"]
    assert texts(await search(ana, "ledger", vectors=[], session="s2")) == ["ledger two"]


async def test_a_session_with_several_good_hits_comes_before_one_with_a_single_one(ana: Seat) -> None:
    await ana.push(
        ana.item("m1", "quokka ledger", source="summary", metadata={"session": "one"}),
        ana.item("m2", "ledger of the night", source="summary", metadata={"session": "many"}),
        ana.item("m3", "ledger of the day", source="summary", metadata={"session": "many"}),
    )
    assert texts(await search(ana, "quokka ledger", vectors=[]))[0] == "quokka ledger"
    added = await search(ana, "quokka ledger", vectors=[], by_session=True)
    assert [each.item.metadata["session"] for each in added.hits] == ["many", "many", "one"]


async def test_private_items_are_found_by_their_person_alone(ana: Seat, ben: Seat) -> None:
    mine = ana.item("m1", "the ledger's password is under the mat", visibility="private")
    await ana.push(mine)
    await fill(ana)
    assert texts(await search(ben, "ledger password")) == []
    assert texts(await search(ana, "ledger password")) == [mine.text]
    with pytest.raises(NotThere):
        await ben.store.get(ben.digest, ben.project, mine.id)
    assert (await ben.store.list_items(ben.digest, ben.project)).items == []
    with pytest.raises(NotThere):
        await ben.store.feedback(ben.digest, ben.project, mine.id, "wrong")
    assert (await ben.store.reindex_next(ben.digest, ben.project, "other", 10)).items == []
    stolen = [Embedded(mine.id, mine.hash, embed(["x"])[0])]
    assert await ben.store.reindex_put(ben.digest, ben.project, MODEL, stolen) == 0


async def test_another_projects_rows_are_not_found(ana: Seat, store: TeamStore, team_database: TeamDatabase) -> None:
    other = await seat(store, team_database, "Ana", project="shop")
    await other.push(other.item("m1", "ledger of the shop"))
    await ana.push(ana.item("m1", "ledger of the bank"))
    await fill(ana)
    await fill(other)
    assert texts(await search(ana, "ledger")) == ["ledger of the bank"]


async def test_a_list_goes_back_in_pages(ana: Seat) -> None:
    await ana.push(*(ana.item(f"m{n}", f"text {n}") for n in range(5)), ana.item("f", "a fact", source="fact"))
    first = await ana.store.list_items(ana.digest, ana.project, source="memory", limit=3)
    second = await ana.store.list_items(ana.digest, ana.project, source="memory", before=first.before, limit=3)
    assert [each.item.text for each in (*first.items, *second.items)] == [f"text {n}" for n in (4, 3, 2, 1, 0)]
    assert second.before is None


async def test_no_answer_is_longer_than_some_megabytes(ana: Seat) -> None:
    await ana.push(*(ana.item(f"m{n}", f"ledger {n} " + "é" * 90_000) for n in range(25)))
    listed = await ana.store.list_items(ana.digest, ana.project, limit=25)
    assert 10 < len(listed.items) < 25
    rest = await ana.store.list_items(ana.digest, ana.project, before=listed.before, limit=25)
    assert [each.item.source_ref for each in (*listed.items, *rest.items)] == [f"m{n}" for n in range(24, -1, -1)]
    assert rest.before is None
    assert 10 < len((await search(ana, "ledger", vectors=[], top=25)).hits) < 25


async def test_feedback_is_one_word_of_each_member_and_goes_with_the_item(
    ana: Seat, ben: Seat, team_database: TeamDatabase
) -> None:
    mine = ana.item("m1", "the ledger")
    await ana.push(mine)
    for verdict in ("wrong", "useful"):
        await ben.store.feedback(ben.digest, ben.project, mine.id, verdict, "seen \0 there")
    assert (await ana.store.get(ana.digest, ana.project, mine.id)).feedback == {"useful": 1}
    await ana.push(Forget(id=mine.id, rev=2))
    with psycopg.connect(team_database.superuser) as connection:
        assert connection.execute("SELECT count(*) FROM siftd.feedback").fetchone() == (0,)


async def test_the_audit_is_for_admins(ana: Seat, store: TeamStore, team_database: TeamDatabase) -> None:
    mine = ana.item("m1", "the ledger")
    await ana.push(mine, ana.item("m2", "stays"))
    await ana.push(Forget(id=mine.id, rev=2))
    zoe = await seat(store, team_database, "Zoe", "admin")
    audit = await store.audit(zoe.digest, zoe.project)
    done = [(each.person.name if each.person else "operator", each.what) for each in audit.entries]
    assert ("Ana", "forgot") in done
    assert done[-1] == ("operator", "invited Ana as writer")
    with pytest.raises(NotAllowed):
        await store.audit(ana.digest, ana.project)


async def test_a_changed_model_is_filled_beside_the_old_one_without_a_gap(
    ana: Seat, store: TeamStore, team_database: TeamDatabase
) -> None:
    zoe = await seat(store, team_database, "Zoe", "admin")
    await ana.push(*(ana.item(f"m{n}", f"ledger number {n}") for n in range(20)))
    await fill(ana)
    with pytest.raises(NotAllowed):
        await store.set_embedder(ana.digest, ana.project, "half")
    await store.set_embedder(zoe.digest, zoe.project, "half")
    assert await store.embedders(ana.digest, ana.project) == ["half", MODEL]
    batch = await store.reindex_next(ana.digest, ana.project, "half", 5)
    assert (len(batch.items), batch.missing) == (5, 20)
    halves = [row[:192] for row in embed([each.text for each in batch.items])]
    rows = [Embedded(each.id, each.hash, row) for each, row in zip(batch.items, halves, strict=True)]
    assert await store.reindex_put(ana.digest, ana.project, "half", rows) == 5
    with pytest.raises(BadArgument):
        await store.reindex_put(ana.digest, ana.project, MODEL, rows)

    question = "ledger number 3"
    old = embed_question(question, None)
    both = [_vector("half", old[:192]), _vector(MODEL, old)]
    found = await search(ana, question, vectors=both, strategy="semantic", top=20)
    assert len(found.hits) == 20
    assert found.degraded == ["75 % without a vector yet"]
    while (batch := await store.reindex_next(ana.digest, ana.project, "half", 5)).items:
        halves = [row[:192] for row in embed([each.text for each in batch.items])]
        rows = [Embedded(each.id, each.hash, row) for each, row in zip(batch.items, halves, strict=True)]
        await store.reindex_put(ana.digest, ana.project, "half", rows)
    assert await store.embedders(ana.digest, ana.project) == ["half"]
    wrong = await search(ana, question, vectors=[_vector("half", old)], strategy="semantic")
    assert wrong.hits == [], "a vector of another length is compared with none"


async def test_a_project_is_gone_through_once_and_counted_where_that_begins(ana: Seat, store: TeamStore) -> None:
    """Else to fill a project costs its square: what was filled, or lacks a vector, would be read for each batch."""
    await ana.push(*(ana.item(f"m{n}", f"ledger number {n}") for n in range(20)))
    seen: list[str] = []
    counted: list[int | None] = []
    before = None
    while (batch := await store.reindex_next(ana.digest, ana.project, MODEL, 8, before)).items:
        seen += [each.text for each in batch.items]
        counted.append(batch.missing)
        before = batch.before
    assert seen == [f"ledger number {n}" for n in reversed(range(20))]
    assert counted == [20, None, None]


async def test_how_far_a_filling_is_ends_with_what_was_filled(ana: Seat, store: TeamStore) -> None:
    await ana.push(*(ana.item(f"m{n}", f"ledger number {n}") for n in range(filling.BATCH_ITEMS + 10)))
    told: list[tuple[int, int | None]] = []
    clock = SystemClock()
    worker = filling.Filling(store, Models(Serving(dsn=""), clock), Hub(), clock)
    lacking = filling.BATCH_ITEMS + 10
    assert await worker.fill(ana.project, ana.digest, lambda *said: told.append(said)) == lacking
    assert told == [(0, lacking), (filling.BATCH_ITEMS, lacking), (lacking, lacking)]
    assert (await search(ana, "ledger")).degraded == []


def _vector(model: str, numbers: Any) -> Vector:
    return Vector(model=model, data=base64.b64encode(np.asarray(numbers, "<f2").tobytes()).decode())


async def test_a_vector_goes_with_its_text(ana: Seat, team_database: TeamDatabase) -> None:
    await ana.push(ana.item("m1", "the ledger", rev=1))
    batch = await ana.store.reindex_next(ana.digest, ana.project, MODEL, 5)
    late = [Embedded(each.id, each.hash, embed([each.text])[0]) for each in batch.items]
    await ana.push(ana.item("m1", "the ledger is closed", rev=2))
    assert await ana.store.reindex_put(ana.digest, ana.project, MODEL, late) == 0, "made of another text"
    await fill(ana)
    await ana.push(ana.item("m1", "the ledger is closed", rev=3, metadata={"stale": True}))
    assert (await ana.store.get(ana.digest, ana.project, ana.item("m1", "").id)).embedded
    await ana.push(ana.item("m1", "the ledger is open", rev=4))
    assert not (await ana.store.get(ana.digest, ana.project, ana.item("m1", "").id)).embedded


async def test_a_vector_of_another_model_or_length_is_not_kept(ana: Seat, ben: Seat) -> None:
    await ana.push(ana.item("m0", "the first"))
    await fill(ana)
    good = _vector(MODEL, embed(["ledger"])[0])
    done = await ben.push(
        ben.item("m1", "ledger", vector=good),
        ben.item("m2", "ledger, other model", vector=_vector("other", embed(["ledger"])[0])),
        ben.item("m3", "ledger, short", vector=_vector(MODEL, [1.0, 2.0])),
        ben.item("m4", "ledger, none", vector=Vector(model=MODEL, data="!!!")),
    )
    assert (done.put, done.ignored) == (4, [])
    kept = {each.item.source_ref: each.embedded for each in (await ana.store.list_items(ana.digest, ana.project)).items}
    assert kept == {"m0": True, "m1": True, "m2": False, "m3": False, "m4": False}


async def test_a_reader_searches_and_changes_nothing(ana: Seat, store: TeamStore, team_database: TeamDatabase) -> None:
    rea = await seat(store, team_database, "Rea", "reader")
    mine = ana.item("m1", "the ledger")
    await ana.push(mine)
    assert texts(await search(rea, "ledger")) == ["the ledger"]
    with pytest.raises(ReadOnly):
        await store.feedback(rea.digest, rea.project, mine.id, "useful")
    with pytest.raises(ReadOnly):
        await store.forget(rea.digest, rea.project, ids=[mine.id])


async def test_a_store_without_vectors_does_all_of_it_by_words(postgres: Postgres) -> None:
    database = make_team_database(postgres, vectors=False)
    opened = TeamStore(database.app)
    await opened.open()
    try:
        ana = await seat(opened, database, "Ana")
        await ana.push(ana.item("m1", "the ledger", vector=_vector(MODEL, embed(["ledger"])[0])))
        assert await ana.texts() == ["the ledger"]
        found = await search(ana, "ledger")
        assert (texts(found), found.degraded) == (["the ledger"], ["no vectors"])
        assert (await opened.reindex_next(ana.digest, ana.project, MODEL, 5)).items == []
    finally:
        await opened.close()
        drop_database(database)


async def test_ranks_agree_with_what_brute_force_finds(ana: Seat) -> None:
    """Of many texts, the nearest by vector are those that numpy finds."""
    chosen = random.Random(7)
    vocabulary = [f"word{n}" for n in range(60)]
    said: Sequence[str] = [" ".join(chosen.choices(vocabulary, k=8)) for _ in range(300)]
    await ana.push(*(ana.item(f"m{n}", text) for n, text in enumerate(said)))
    await fill(ana)
    rows = embed(list(said)).astype("f2").astype(float)
    question = " ".join(chosen.choices(vocabulary, k=4))
    scores = rows @ embed_question(question, None).astype("f2").astype(float)
    best = {said[n] for n in np.argsort(-scores)[:10]}
    found = await search(ana, question, strategy="semantic", top=10)
    assert len(best & set(texts(found))) >= 9
