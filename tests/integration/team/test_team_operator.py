"""What an operator does with a team's store, by the commands, on a real PostgreSQL."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_people import Seat, seat

from siftd.team.items import Forget
from siftd.team.protocol import Join
from siftd.team.searching import SearchAsked
from siftd.team_server.command import run
from siftd.team_server.dsn import VARIABLE
from siftd.team_server.maintaining import maintain
from siftd.team_server.operator import as_owner
from siftd.team_server.refusals import NotAllowed, OtherEpoch, TokenRefused
from siftd.team_server.store import TeamStore


@pytest.fixture(autouse=True)
def dsn(team_database: TeamDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, team_database.operator)


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
def other_database(postgres: Postgres) -> Iterator[TeamDatabase]:
    made = make_team_database(postgres)
    yield made
    drop_database(made)


async def test_an_invitation_that_was_printed_is_taken_up(
    ana: Seat, store: TeamStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["invite", "bank", "Ben", "--role", "reader"]) == 0
    code = capsys.readouterr().out.split()[-1]
    joined = await store.join(Join(invite=code, device="d", store=uuid.uuid4()))
    assert (joined.person.name, joined.role, joined.project.name) == ("Ben", "reader", "bank")
    with pytest.raises(TokenRefused):
        await store.join(Join(invite=code, device="d", store=uuid.uuid4()))
    assert run(["members", "bank", "--json"]) == 0
    members = json.loads(capsys.readouterr().out)
    assert [(each["person"], each["role"], len(each["devices"])) for each in members] == [
        ("Ana", "writer", 1), ("Ben", "reader", 1),
    ]  # fmt: skip
    assert run(["members"]) == 0
    assert "bank" in capsys.readouterr().out
    assert run(["members", "none"]) == 1
    assert "no such project" in capsys.readouterr().err


async def test_a_programs_token_is_for_one_project_and_ends_with_its_person(
    ana: Seat, store: TeamStore, team_database: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    other = await seat(store, team_database, "Ana", project="shop")
    assert run(["token", "bank", "tracker", "--days", "30"]) == 0
    tracker = Seat(store, ana.project, capsys.readouterr().out.strip(), uuid.uuid4(), uuid.uuid4(), ana.epoch)
    assert (await tracker.push(tracker.item("m1", "from the tracker"))).put == 1
    assert await ana.texts() == ["from the tracker"]
    with pytest.raises(NotAllowed):
        await store.changes(tracker.digest, other.project, 0)
    assert run(["revoke", "bank", "--person", "tracker"]) == 0
    with pytest.raises(TokenRefused):
        await tracker.texts()


async def test_a_device_that_was_invited_for_a_time_is_refused_after_it(
    ana: Seat, store: TeamStore, team_database: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["invite", "bank", "Guest", "--token-days", "1"]) == 0
    code = capsys.readouterr().out.split()[-1]
    joined = await store.join(Join(invite=code, device="d", store=uuid.uuid4()))
    guest = Seat(store, ana.project, joined.token, joined.person.id, joined.device, joined.epoch)
    assert await guest.texts() == []
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute(
            "UPDATE siftd.tokens SET expires_at = expires_at - interval '1 day' WHERE expires_at IS NOT NULL"
        )
    with pytest.raises(TokenRefused, match="expired"):
        await guest.texts()


async def test_a_lost_laptop_is_revoked_and_a_person_is_taken_out(
    ana: Seat, store: TeamStore, team_database: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    phone = await seat(store, team_database, "Ana")
    await ana.push(ana.item("m1", "for me", visibility="private"), ana.item("m2", "for all"))
    assert run(["revoke", "bank", "--device", str(phone.device)]) == 0
    with pytest.raises(TokenRefused):
        await phone.texts()
    assert await ana.texts() == ["for me", "for all"]
    assert run(["revoke", "bank", "--person", "Ana", "--everywhere"]) == 0
    assert "1 of their items" in capsys.readouterr().out
    with pytest.raises(TokenRefused):
        await ana.texts()
    ben = await seat(store, team_database, "Ben")
    assert await ben.texts() == ["for all"]
    assert run(["revoke", "bank", "--device", "x"]) == 1
    assert run(["invite", "bank", "Ana"]) == 0
    code = capsys.readouterr().out.split()[-1]
    with pytest.raises(TokenRefused):
        await store.join(Join(invite=code, device="d", store=uuid.uuid4()))


async def test_after_a_restore_a_new_epoch_is_told(ana: Seat, store: TeamStore) -> None:
    before = (await store.hello()).epoch
    assert run(["restored"]) == 0
    assert (await store.hello()).epoch != before
    with pytest.raises(OtherEpoch):
        await ana.push(ana.item("m1", "x"))


async def test_after_vacuum_what_was_forgotten_is_in_no_byte_of_the_servers_files(
    ana: Seat, team_database: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    """Statistics of PostgreSQL's own, words, feedback and the write-ahead log are looked through too."""
    marker = "quokka" + uuid.uuid4().hex
    await ana.push(
        *(ana.item(f"m{n}", f"{marker} {n}", words=marker, metadata={"evidence": marker}) for n in range(30))
    )
    await ana.push(*(ana.item(f"s{n}", f"stays {n}") for n in range(200)))
    await ana.store.feedback(ana.digest, ana.project, ana.item("m1", "").id, "wrong", marker)
    with psycopg.connect(team_database.superuser, autocommit=True) as connection:
        connection.execute("ANALYZE")
        connection.execute("CHECKPOINT")
        connection.execute("GRANT pg_checkpoint TO operator")
        connection.execute("GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO operator")
    await ana.push(*(Forget(id=ana.item(f"m{n}", "").id, rev=2) for n in range(30)))
    assert _files_with(team_database.server.data, marker), "deleting leaves the bytes: that is why there is a vacuum"
    assert run(["vacuum"]) == 0
    told = capsys.readouterr().out
    assert "forgotten since the last time: 30 items" in told
    assert re.search(r"filled with zeros: [1-9]", told)
    assert _files_with(team_database.server.data, marker) == []
    assert len(await ana.texts()) == 230
    assert run(["vacuum"]) == 0
    assert "written anew: nothing" in capsys.readouterr().out


def _files_with(folder: Path, marker: str) -> list[str]:
    return [
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and marker.encode() in file.read_bytes()
    ]


async def test_who_may_not_end_the_log_hears_where_bytes_are_still(
    ana: Seat, team_database: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(team_database.superuser, autocommit=True) as connection:
        connection.execute("REVOKE pg_checkpoint FROM operator")
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_switch_wal() FROM operator")
    mine = ana.item("m1", "gone")
    await ana.push(mine)
    await ana.push(Forget(id=mine.id, rev=2))
    assert run(["vacuum"]) == 0
    told = capsys.readouterr().out
    assert "may be still in: the write-ahead log" in told
    assert "GRANT pg_checkpoint TO operator" in told


async def test_a_project_goes_by_lines_of_json_into_another_database(
    ana: Seat, store: TeamStore, team_database: TeamDatabase, other_database: TeamDatabase, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    ben = await seat(store, team_database, "Ben")
    gone = ana.item("m3", "forgotten")
    await ana.push(
        ana.item("m1", "for all", metadata={"type": "decision"}, words="w", valid_to=99),
        ana.item("m2", "for me", visibility="private"), gone,
    )  # fmt: skip
    await ben.push(ben.item("b1", "Ben's"))
    await ana.push(Forget(id=gone.id, rev=2))
    file = tmp_path / "bank.jsonl"
    assert run(["export", "bank", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert ana.token not in file.read_text()

    monkeypatch.setenv(VARIABLE, other_database.operator)
    for wanted in ("3 items and 1 tombstones", "0 items and 0 tombstones"):
        assert run(["import", str(file)]) == 0
        assert wanted in capsys.readouterr().out
    opened = TeamStore(other_database.app)
    await opened.open()
    try:
        again = await seat(opened, other_database, "Ana")
        assert (again.project, again.person) == (ana.project, ana.person)
        assert sorted(await again.texts()) == ["-", "Ben's", "for all", "for me"]
        assert [each.why for each in (await again.push(gone)).ignored] == ["forgotten"]
        got = await opened.get(again.digest, again.project, ana.item("m1", "").id)
        assert got.item == ana.item("m1", "for all", metadata={"type": "decision"}, words="w", valid_to=99)
        assert sorted(await (await seat(opened, other_database, "Ben")).texts()) == ["-", "Ben's", "for all"]
    finally:
        await opened.close()


@pytest.mark.parametrize("text", ["", "{}\n", "nonsense\n", '{"siftdTeam":2,"project":{}}\n'])
def test_what_is_no_export_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x"
    file.write_text(text)
    assert run(["import", str(file)]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert run(["import", str(tmp_path / "none")]) == 1


async def test_a_large_project_gets_an_index_whose_recall_is_measured(ana: Seat, team_database: TeamDatabase) -> None:
    """The limit is lowered: what is tried is that an index is built, measured, used, and not for small projects."""
    rows = np.random.default_rng(3).normal(size=(400, 384))
    await ana.push(*(ana.item(f"m{n}", f"number {n}") for n in range(400)))
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("UPDATE siftd.projects SET dimensions = 384, terms_head = -1000")
        for n, row in enumerate(rows):
            connection.execute(
                "UPDATE siftd.memories SET embedding_model = 'hash-384', vector = %s WHERE source_ref = %s",
                (str(row.round(4).tolist()), f"m{n}"),
            )
    small = maintain(team_database.operator)
    assert (small.counted, small.indexes) == (["bank"], [])
    done = maintain(team_database.operator, exact_max=300)
    assert [(each.project, each.vectors, each.used) for each in done.indexes] == [("bank", 400, True)]
    assert done.indexes[0].recall >= 0.98
    question = _vector(rows[5])
    found = await ana.store.search(
        ana.digest, ana.project, SearchAsked(question="", vectors=[question], strategy="semantic", top=5)
    )
    assert found.hits[0].item.source_ref == "m5"
    with as_owner(team_database.operator) as owner:
        owner.execute(
            "SELECT count(*) FROM near_indexed(%s, NULL, 'hash-384',"
            " (SELECT vector FROM memories WHERE source_ref = 'm5'),"
            " 5, NULL, NULL, NULL, NULL, true)",
            (ana.project,),
        )
        scans = owner.execute(
            "SELECT pg_stat_get_xact_numscans(oid) FROM pg_class WHERE relname LIKE '%%hnsw%%'", ()
        ).fetchall()
    assert scans == [(1,)], "the index is what answers"
    poor = maintain(team_database.operator, exact_max=300, recall_min=1.1)
    assert [each.used for each in poor.indexes] == [False]


def _vector(row: object):
    import base64

    from siftd.team.items import Vector

    return Vector(model="hash-384", data=base64.b64encode(np.asarray(row, "<f2").tobytes()).decode())


def test_help_names_every_verb_and_nothing_takes_a_dsn_as_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    told = capsys.readouterr().err
    assert all(verb in told for verb in "migrate init invite members revoke maintain vacuum export import".split())
    with pytest.raises(SystemExit):
        run(["vacuum", "--dsn", "host=x"])
