"""What may stand around PostgreSQL: a streaming replica that is read, and a pooler behind which nobody is heard."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres import NoPostgres, Postgres, make_team_database, running
from postgres_around import bouncer_before, replay_paused, standby_of, wait_for_replay
from team_service import Member, join, team_service


@pytest.fixture(scope="module")
def primary() -> Iterator[Postgres]:
    try:
        with running(18) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


@pytest.fixture(scope="module")
def replica(primary: Postgres) -> Iterator[Postgres]:
    with standby_of(primary) as server:
        yield server


def found(member: Member, query: str) -> list[str]:
    return [each["item"]["text"] for each in member.get(member.api(f"/memory/search?{query}"))["hits"]]


def test_reads_go_to_the_replica_unless_it_is_behind_or_away(
    primary: Postgres, replica: Postgres, tmp_path: Path
) -> None:
    database = make_team_database(primary)
    file = tmp_path / "replica"
    file.write_text(replica.dsn(database.name, "siftd_app"))
    file.chmod(0o600)
    with team_service(database.app, "--replica-dsn-file", str(file)) as service:
        ana = join(service, database, "ana")
        head = ana.push(ana.put("the first okapi")).head
        assert found(ana, f"q=okapi&strategy=keyword&minSeq={head}") == ["the first okapi"]
        wait_for_replay(primary, replica)
        with replay_paused(replica):
            second = ana.put("the second okapi")
            head = ana.push(second).head
            assert found(ana, "q=okapi&strategy=keyword") == ["the first okapi"], "of the replica"
            assert len(found(ana, f"q=okapi&strategy=keyword&minSeq={head}")) == 2, "of the primary"
            assert ana.get(ana.api(f"/memory/{second.id}?minSeq={head}"))["item"]["text"] == second.text
            assert len(ana.get(ana.api(f"/memories?minSeq={head}"))["items"]) == 2
            ahead = ana.ask("GET", ana.api(f"/memories?minSeq={head + 1}"))
            assert (ahead.status, ahead.code) == (409, "behind")
            assert [each["seq"] for each in ana.get(ana.v1("/changes?after=0"))["changes"]] == [1, 2], "the feed is new"
        replica.stop("immediate")
        assert len(found(ana, "q=okapi&strategy=keyword")) == 2, "the replica is away"


def test_behind_a_pooler_who_waits_asks_again_and_past_it_is_woken(primary: Postgres, tmp_path: Path) -> None:
    database = make_team_database(primary)
    file = tmp_path / "listen"
    file.write_text(database.app)
    file.chmod(0o600)
    patches = {
        "siftd.team_server.notifications.PROOF_SECONDS": 0.5,
        "siftd.team_server.notifications.POLL_SECONDS": 0.2,
        "siftd.team_server.notifications.HEARD_POLL_SECONDS": 60,
    }
    with bouncer_before(primary) as folder:
        dsn = f"host={folder} port={primary.port} user=siftd_app dbname={database.name}"
        for options, said in (([], "feed_not_heard"), (["--listen-dsn-file", str(file)], "feed_heard")):
            with team_service(dsn, *options, patches=patches) as service:
                while said not in service.log():
                    time.sleep(0.02)
                ana = join(service, database, "ana", said)
                pages: list[Any] = []
                asking = threading.Thread(
                    target=lambda m=ana, p=pages: p.append(m.get(m.v1("/changes?after=0&wait=20")))  # type: ignore[misc]
                )
                asking.start()
                ana.push(ana.put("okapi"))
                asking.join(30)
                assert [each["seq"] for each in pages[0]["changes"]] == [1], said
