"""A PostgreSQL that has no pgvector, as Debian's own: the operator hears what to do, and words are searched."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from postgres import NoPostgres, Postgres, drop_database, make_database, running
from scripted_device import ScriptedDevice
from team_members import Team

from siftd.errors import MigrationFailed
from siftd.team.searching import SearchAsked
from siftd.team_server.migrate import migrate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def debian() -> Iterator[Postgres]:
    """PostgreSQL 15, the oldest that is promised; there is no pgvector for it in Debian 12."""
    try:
        with running(15) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL 15: {error}")


def test_migrating_is_refused_with_the_way_out_and_leaves_nothing(debian: Postgres) -> None:
    database = make_database(debian)
    with pytest.raises(MigrationFailed) as refused:
        migrate(database.operator)
    assert "pgvector" in refused.value.message
    assert "--no-vectors" in refused.value.hint
    with psycopg.connect(database.superuser) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'siftd'").fetchone() is None
    drop_database(database)


async def test_a_team_without_vectors_shares_and_finds_by_words(debian: Postgres) -> None:
    database = make_database(debian)
    migrate(database.operator, vectors=False)
    team = Team(database)
    await team.open()
    try:
        joined, wire = await team.join("ana", "north", "ana-laptop")
        ana = ScriptedDevice(joined.project.id, joined.epoch, wire)
        told = ana.put("m1", "The payment gateway wants amounts in cents.")
        ana.put("m2", "The kitchen has tea.")
        await ana.sync()
        joined, wire = await team.join("ben", "north", "ben-laptop")
        ben = ScriptedDevice(joined.project.id, joined.epoch, wire)
        await ben.sync()
        assert ben.texts == ana.texts
        found = await team.store.search(wire.digest, wire.project, SearchAsked(question="gateway amounts", top=5))
        assert [each.item.id for each in found.hits] == [told.id]
        assert found.degraded
    finally:
        await team.end()
