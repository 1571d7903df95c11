"""Reads at a streaming replica: what it has not seen yet is asked of the primary, and so is all while it is away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from postgres import NoPostgres, Postgres, make_team_database, running
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
    """A second cluster, by `pg_basebackup`, that follows the first."""
    server = Postgres(18)
    try:
        primary.run("pg_basebackup", "-D", server.data, "-R", "-c", "fast", "-h", primary.folder, "-U", "postgres")
        server.configure({"primary_conninfo": f"'host={primary.folder} user=postgres'"})
        server.start()
        yield server
    finally:
        server.remove()


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
        with psycopg.connect(replica.dsn(), autocommit=True) as standby:
            with psycopg.connect(primary.dsn(), autocommit=True) as connection:
                at = connection.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
            assert at is not None
            while standby.execute("SELECT pg_last_wal_replay_lsn() < %s::pg_lsn", at).fetchone() == (True,):
                time.sleep(0.01)
            standby.execute("SELECT pg_wal_replay_pause()")
            while standby.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() != ("paused",):
                time.sleep(0.01)
            second = ana.put("the second okapi")
            head = ana.push(second).head
            assert found(ana, "q=okapi&strategy=keyword") == ["the first okapi"], "of the replica"
            assert len(found(ana, f"q=okapi&strategy=keyword&minSeq={head}")) == 2, "of the primary"
            assert ana.get(ana.api(f"/memory/{second.id}?minSeq={head}"))["item"]["text"] == second.text
            assert len(ana.get(ana.api(f"/memories?minSeq={head}"))["items"]) == 2
            ahead = ana.ask("GET", ana.api(f"/memories?minSeq={head + 1}"))
            assert (ahead.status, ahead.code) == (409, "behind")
            assert [each["seq"] for each in ana.get(ana.v1("/changes?after=0"))["changes"]] == [1, 2], "the feed is new"
            standby.execute("SELECT pg_wal_replay_resume()")
        replica.stop("immediate")
        assert len(found(ana, "q=okapi&strategy=keyword")) == 2, "the replica is away"
