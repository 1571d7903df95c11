"""Push and the feed on a real PostgreSQL: once, in one order, and nobody else's."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import msgspec
import psycopg
import pytest
from postgres import TeamDatabase
from team_people import Seat, item, seat

from siftd.team.items import Forget
from siftd.team.protocol import Changed, Gone, Join, Leave, Push, Renew
from siftd.team_server.refusals import NotAllowed, OtherEpoch, TokenRefused, TooMuch, Unavailable
from siftd.team_server.store import TeamStore, token_digest


@pytest.fixture
async def store(team_database: TeamDatabase) -> AsyncIterator[TeamStore]:
    opened = TeamStore(team_database.app, connections=8)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def ana(store: TeamStore, team_database: TeamDatabase) -> Seat:
    return await seat(store, team_database, "Ana")


@pytest.fixture
async def ben(store: TeamStore, team_database: TeamDatabase) -> Seat:
    return await seat(store, team_database, "Ben")


async def test_what_one_tells_another_gets_as_it_was_told(ana: Seat, ben: Seat) -> None:
    told = ana.item(
        "m1", "The bank's tests need BANK_DSN", words="bank dsn", metadata={"type": "decision", "tags": ["tests"]},
        valid_from=1, valid_to=253_402_300_799_999, superseded_by=uuid.uuid4(), archived_at=5, ts=1_700_000_000_123,
    )  # fmt: skip
    pushed = await ana.push(told)
    assert (pushed.head, pushed.put, pushed.ignored) == (1, 1, [])
    page = await ben.changes()
    assert (page.head, page.cursor) == (1, 1)
    change = page.changes[0]
    assert isinstance(change, Changed)
    assert change.item == told
    assert (change.author.name, change.author.id, change.device) == ("Ana", ana.person, ana.device)


async def test_a_store_that_is_too_busy_to_count_its_words_has_taken_the_items(
    ana: Seat, team_database: TeamDatabase
) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("ALTER FUNCTION siftd.remake_terms(uuid, bigint) RENAME TO counted_at_leisure")
        connection.execute(
            "CREATE FUNCTION siftd.remake_terms(uuid, bigint) RETURNS boolean LANGUAGE sql AS"
            " 'SELECT pg_sleep(60) IS NULL'"
        )
    pushed = await ana.push(*(ana.item(f"m{n}", f"text {n}") for n in range(300)))
    assert (pushed.put, pushed.head) == (300, 300)


async def test_the_same_push_again_changes_nothing(ana: Seat) -> None:
    items = [*(ana.item(f"m{n}", f"text {n}") for n in range(3)), Forget(id=uuid.uuid4(), rev=1)]
    first = await ana.push(*items)
    again = await ana.push(*items)
    assert (first.head, first.put) == (4, 3)
    assert (again.head, again.put, again.ignored) == (4, 0, [])
    assert await ana.texts() == ["-", "text 0", "text 1", "text 2"]


async def test_a_later_telling_takes_the_place_and_an_older_one_is_named(ana: Seat, ben: Seat) -> None:
    await ana.push(ana.item("m1", "first", rev=1), ana.item("m2", "other"))
    await ana.push(ana.item("m1", "second", rev=2))
    late = await ana.push(ana.item("m1", "first", rev=1))
    second = ana.item("m1", "second", rev=2)
    assert [(each.why, each.rev, each.hash) for each in late.ignored] == [("older", 2, second.hash)]
    assert await ben.texts() == ["other", "second"]


async def test_two_texts_under_one_rev_are_a_conflict_which_a_copied_home_shows(ana: Seat) -> None:
    await ana.push(ana.item("m1", "of the home", rev=3))
    copy = await ana.push(ana.item("m1", "of its copy", rev=3))
    assert [(each.why, each.rev) for each in copy.ignored] == [("conflict", 3)]


async def test_a_copied_home_becomes_another_device_of_the_same_person(ana: Seat, store: TeamStore) -> None:
    renewed = await store.renew(ana.digest, ana.project, Renew(device="copy", store=uuid.uuid4()))
    assert renewed.person.id == ana.person
    assert renewed.device != ana.device
    members = await store.members(token_digest(renewed.token), ana.project)
    assert {each.id for each in members.devices} == {ana.device, renewed.device}


async def test_what_another_wrote_stays_as_they_wrote_it(ana: Seat, ben: Seat) -> None:
    mine = ana.item("m1", "Ana's")
    await ana.push(mine)
    stolen = await ben.push(ben.item("m1", "Ben's", rev=9), Forget(id=mine.id, rev=9))
    assert {each.why for each in stolen.ignored} <= {"not yours", "older"}
    assert await ben.texts() == ["Ana's"]
    gone = await ben.push(Forget(id=mine.id, rev=9))
    assert [each.why for each in gone.ignored] == ["not yours"]
    assert await ana.texts() == ["Ana's"]


async def test_what_was_forgotten_is_gone_for_all_and_refused_for_good(ana: Seat, ben: Seat) -> None:
    mine = ana.item("m1", "a mistake")
    await ana.push(mine, ana.item("m2", "stays"))
    done = await ana.push(Forget(id=mine.id, rev=2))
    assert done.forgotten == 1
    page = await ben.changes(after=2)
    assert [type(each) for each in page.changes] == [Gone]
    again = await ana.push(ana.item("m1", "a mistake", rev=3))
    assert [each.why for each in again.ignored] == ["forgotten"]
    assert await ben.texts() == ["stays", "-"]


async def test_nobody_keeps_out_what_another_has_yet_to_tell(ana: Seat, ben: Seat) -> None:
    """An id can be computed by whoever knows the natural key: a tombstone before its time binds its author alone."""
    coming = ana.item("m1", "Ana tells it later")
    assert (await ben.push(Forget(id=coming.id, rev=1))).forgotten == 1
    assert (await ana.push(coming)).put == 1
    assert await ben.texts() == ["Ana tells it later"]


async def test_a_private_item_is_seen_by_its_person_alone(
    ana: Seat, ben: Seat, store: TeamStore, team_database: TeamDatabase
) -> None:
    await ana.push(ana.item("m1", "for me", visibility="private"), ana.item("m2", "for all"))
    assert await ben.texts() == ["for all"]
    phone = await seat(store, team_database, "Ana")
    assert await phone.texts() == ["for me", "for all"]
    await ana.push(ana.item("m3", "for me too", visibility="private"))
    page = await ben.changes(after=2)
    assert (page.changes, page.head, page.cursor) == ([], 3, 3), "the reader is not kept below the head"


async def test_what_becomes_private_goes_away_from_others(ana: Seat, ben: Seat) -> None:
    await ana.push(ana.item("m1", "for all", rev=1))
    await ana.push(ana.item("m1", "for me", rev=2, visibility="private"))
    assert await ben.texts() == ["-"]
    assert await ana.texts() == ["for me"]


async def test_what_was_never_shared_is_forgotten_without_a_word_to_others(ana: Seat, ben: Seat) -> None:
    mine = ana.item("m1", "for me", visibility="private")
    await ana.push(mine)
    await ana.push(Forget(id=mine.id, rev=2))
    assert await ben.texts() == []
    assert await ana.texts() == ["-"]


async def test_a_bad_item_holds_up_no_other(ana: Seat) -> None:
    good = ana.item("m1", "good")
    wrong_id = msgspec.structs.replace(ana.item("m2", "taken by stealth"), id=uuid.uuid4())
    wrong_hash = msgspec.structs.replace(ana.item("m3", "another text"), hash="a" * 64)
    zero = ana.item("m4", "a zero \0 here")
    big = ana.item("m5", "big", metadata={"evidence": "x" * 20_000})
    off = ana.item("7", "an issue", source="issue")
    done = await ana.push(good, wrong_id, wrong_hash, zero, big, off)
    assert done.put == 1
    assert {str(each.id): each.why for each in done.ignored} == {
        str(wrong_id.id): "malformed", str(wrong_hash.id): "malformed", str(zero.id): "malformed",
        str(big.id): "too large", str(off.id): "source off",
    }  # fmt: skip


@pytest.mark.parametrize("levels", [100, 450, 900])
async def test_metadata_that_are_nested_too_deep_hold_up_no_other_item(ana: Seat, levels: int) -> None:
    deep: object = "x"
    for _ in range(levels):
        deep = [deep]
    worst = ana.item("w1", "deep", metadata={"a": deep})
    done = await ana.push(ana.item("m1", "good"), worst)
    assert (done.put, [(each.id, each.why) for each in done.ignored]) == (1, [(worst.id, "malformed")])


async def test_texts_of_characters_of_many_bytes_are_kept_up_to_their_bound(ana: Seat) -> None:
    texts = ["é" * 100_000, "\U0001f4be " * 50_000]
    assert (await ana.push(*(ana.item(f"w{n}", text) for n, text in enumerate(texts)))).put == 2
    assert await ana.texts() == texts


async def test_what_postgresql_alone_cannot_keep_is_found_among_the_others(
    ana: Seat, team_database: TeamDatabase
) -> None:
    """For a reason that was not foreseen: here a rule that only this database has."""
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("ALTER TABLE siftd.memories ADD CHECK (source_ref <> 'w1')")
    worst = ana.item("w1", "bad")
    done = await ana.push(*(ana.item(f"m{n}", f"good {n}") for n in range(5)), worst)
    assert (done.put, [(each.id, each.why) for each in done.ignored]) == (5, [(worst.id, "malformed")])


async def test_an_issue_is_told_by_anybody_and_the_newest_telling_counts(
    ana: Seat, ben: Seat, team_database: TeamDatabase
) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute(
            "INSERT INTO siftd.sources (project_id, source, is_on) VALUES (%s, 'issue', true)", (ana.project,)
        )
    await ana.push(ana.item("bank#7", "opened", source="issue", rev=100))
    assert (await ben.push(ben.item("bank#7", "closed", source="issue", rev=200))).put == 1
    late = await ana.push(ana.item("bank#7", "opened", source="issue", rev=100))
    assert [each.why for each in late.ignored] == ["older"]
    assert await ana.texts() == ["closed"]


async def test_a_reader_writes_nothing(store: TeamStore, team_database: TeamDatabase, ana: Seat) -> None:
    rea = await seat(store, team_database, "Rea", "reader")
    done = await rea.push(rea.item("m1", "no"))
    assert [each.why for each in done.ignored] == ["reader"]
    assert await ana.texts() == []


async def test_an_invitation_is_taken_up_once(store: TeamStore, ana: Seat) -> None:
    with pytest.raises(TokenRefused) as refused:
        await store.join(Join(invite="x" * 43, device="d", store=uuid.uuid4()))
    assert refused.value.code == "invitation_refused"


async def test_another_epoch_is_refused(ana: Seat) -> None:
    with pytest.raises(OtherEpoch):
        await ana.store.push(ana.digest, ana.project, Push(epoch=uuid.uuid4(), items=[]))


async def test_more_than_a_push_may_bring_is_refused(ana: Seat) -> None:
    with pytest.raises(TooMuch):
        await ana.push(*(Forget(id=uuid.uuid4(), rev=1) for _ in range(501)))


async def test_pages_are_bounded_by_number_and_by_bytes(ana: Seat) -> None:
    await ana.push(*(ana.item(f"m{n}", "x" * 90_000) for n in range(45)))
    seen: list[str] = []
    after = pages = 0
    while True:
        page = await ana.changes(after)
        assert len(msgspec.json.encode(page)) < 4 * 1024 * 1024
        seen += [each.item.source_ref for each in page.changes if isinstance(each, Changed)]
        after, pages = page.cursor, pages + 1
        if page.cursor >= page.head:
            break
    assert seen == [f"m{n}" for n in range(45)]
    assert pages == 2
    assert len((await ana.changes(0, limit=3)).changes) == 3


async def test_text_that_is_six_times_as_long_in_json_makes_no_longer_page(ana: Seat) -> None:
    await ana.push(*(ana.item(f"m{n}", "\x01" * 100_000) for n in range(12)))
    after = number = 0
    while True:
        page = await ana.changes(after)
        assert len(msgspec.json.encode(page)) < 4 * 1024 * 1024
        after, number = page.cursor, number + len(page.changes)
        if page.cursor >= page.head:
            break
    assert number == 12


async def test_who_follows_misses_nothing_of_many_writers_at_once(
    store: TeamStore, team_database: TeamDatabase, ana: Seat
) -> None:
    writers = [await seat(store, team_database, f"W{n}") for n in range(4)]

    async def write(one: Seat, name: int) -> None:
        for n in range(20):
            await one.push(one.item(f"{name}-{n}", f"{name}-{n}"))

    seen: list[str] = []
    after = 0
    tasks = [asyncio.create_task(write(each, n)) for n, each in enumerate(writers)]
    while len(seen) < 80:
        page = await ana.changes(after, limit=7)
        seen += [each.item.text for each in page.changes if isinstance(each, Changed)]
        after = page.cursor
    await asyncio.gather(*tasks)
    assert sorted(seen) == sorted(f"{w}-{n}" for w in range(4) for n in range(20))


async def test_members_say_who_has_applied_what(ana: Seat, ben: Seat, store: TeamStore) -> None:
    await ana.push(ana.item("m1", "one"))
    await ben.changes(0, applied=1)
    await ben.changes(0, applied=10**9)
    told = await store.members(ana.digest, ana.project)
    assert {each.person.name: each.seq for each in told.devices} == {"Ana": 0, "Ben": 1}
    assert told.used == {"memory": 1}
    assert told.project.head == 1


async def test_leaving_takes_private_items_and_shared_ones_by_choice(
    ana: Seat, ben: Seat, store: TeamStore, team_database: TeamDatabase
) -> None:
    await ana.push(ana.item("m1", "for me", visibility="private"), ana.item("m2", "for all"))
    left = await store.leave(ana.digest, ana.project, Leave())
    assert left.forgotten == 1
    with pytest.raises(TokenRefused):
        await ana.texts()
    assert await ben.texts() == ["for all"]
    back = await seat(store, team_database, "Ana")
    assert back.person == ana.person
    assert (await back.push(back.item("m1", "for me", visibility="private", rev=2))).put == 1
    left = await store.leave(back.digest, back.project, Leave(forget_shared=True))
    assert left.forgotten == 2
    assert await ben.texts() == ["-"]


async def test_leaving_with_one_of_two_devices_leaves_the_other_alone(
    ana: Seat, store: TeamStore, team_database: TeamDatabase
) -> None:
    phone = await seat(store, team_database, "Ana")
    await ana.push(ana.item("m1", "for me", visibility="private"))
    assert (await store.leave(phone.digest, phone.project, Leave())).forgotten == 0
    assert await ana.texts() == ["for me"]


async def test_an_admin_takes_a_member_out(ana: Seat, store: TeamStore, team_database: TeamDatabase) -> None:
    boss = await seat(store, team_database, "Zoe", "admin")
    await ana.push(ana.item("m1", "for me", visibility="private"), ana.item("m2", "for all"))
    with pytest.raises(NotAllowed):
        await store.expel(ana.digest, ana.project, boss.person)
    assert (await store.expel(boss.digest, ana.project, ana.person, forget_shared=True)).forgotten == 2
    with pytest.raises(TokenRefused):
        await ana.texts()


async def test_forget_by_session_and_by_source_takes_ones_own(ana: Seat, ben: Seat, store: TeamStore) -> None:
    await ana.push(
        ana.item("a1", "ana s1", metadata={"session": "s1"}),
        ana.item("a2", "ana s2", metadata={"session": "s2"}),
        ana.item("a3", "ana fact", source="fact"),
    )
    await ben.push(ben.item("b1", "ben s1", metadata={"session": "s1"}))
    assert len((await store.forget(ana.digest, ana.project, session="s1")).forgotten) == 1
    assert len((await store.forget(ana.digest, ana.project, source="fact")).forgotten) == 1
    other = await store.forget(ana.digest, ana.project, ids=[item(ana.project, "b1", "").id])
    assert (other.forgotten, len(other.not_yours)) == ([], 1)
    assert await ben.texts() == ["ana s2", "ben s1", "-", "-"]


async def test_a_hung_lock_ends_as_come_again(ana: Seat, team_database: TeamDatabase) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("SELECT 1 FROM siftd.projects FOR UPDATE")
        with pytest.raises(Unavailable) as refused:
            await ana.push(ana.item("m1", "later"))
    assert refused.value.retry_after_seconds
    assert (await ana.push(ana.item("m1", "later"))).put == 1
