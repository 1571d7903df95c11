"""Every kind of secret is pushed by everybody: no byte of any is in PostgreSQL's folder, its log of writes included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from planted import KINDS, Kind, Search
from postgres import NoPostgres, Postgres, make_team_database, running
from team_service import Member, join, team_service

from siftd.redact.rules import RULES
from siftd.team.items import Put
from siftd.team.protocol import ITEMS_MAX

pytestmark = pytest.mark.slow
PASS = {"email", "phone"}
"""Not refused at the door: whether to hide those is each person's choice, made on the laptop."""
KNOWN = {rule.name for rule in RULES} - PASS
"""What the server knows by itself; a workspace's own rules and its `.env` are known to its laptop alone."""
PLACES = 5


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """One whose folder holds nothing else; long texts are kept as they are, so that they can be looked for."""
    try:
        with running(18, conf={"wal_compression": "off", "full_page_writes": "on"}) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


def careless_item(member: Member, kind: Kind, place: int) -> Put:
    """Return an item of a client that redacts nothing: the secret in one of the fields that hold text."""
    text = f"first line\n{kind.text}\nlast line"
    if place == 1:
        return member.put(f"harmless {kind.name}", words=text)
    if place == 2:
        return member.put(f"harmless {kind.name}", metadata={"title": kind.text, "tags": [kind.name]})
    if place == 3:
        return member.put(f"harmless {kind.name}", metadata={"evidence": {"deep": [{kind.text: text}]}})
    if place == 4 and len(kind.text) < 400 and kind.is_part_of_a_line:
        return member.put(f"harmless {kind.name}", ref=f"of {kind.text}")
    return member.put(text)


def test_what_a_careless_client_pushes_is_refused_item_by_item_and_nothing_of_it_is_at_rest(
    own_postgres: Postgres,
) -> None:
    database = make_team_database(own_postgres)
    kinds = [kind for kind in KINDS if kind.name in KNOWN]
    assert len(kinds) > 200
    with team_service(database.app) as service:
        ana = join(service, database, "ana")
        items = [
            careless_item(ana, kind, (number + more) % PLACES) for number, kind in enumerate(kinds) for more in (0, 2)
        ]
        whys = {}
        for begin in range(0, len(items), ITEMS_MAX - 1):
            pushed = ana.push(*items[begin : begin + ITEMS_MAX - 1], ana.put(f"a good one {begin}"))
            assert pushed.put >= 1, "the rest is taken"
            whys |= {each.id: each.why for each in pushed.ignored}
        refused = [each for each in items if whys.get(each.id) == "secret"]
        print(f"{len(refused)} of {len(items)} refused for a secret")
        assert len(refused) == len(items)
        for kind in kinds[::40]:  # and by what programs say
            ana.ask("POST", ana.api("/memory"), {"text": f"remember\n{kind.text}\n"})
        assert_clean(own_postgres, service.log())


def assert_clean(server: Postgres, log: str) -> None:
    """Look through every byte of the cluster's folder, and what the server has logged."""
    server.stop()  # what is in memory is written
    try:
        search = Search()
        dirty = {
            str(file.relative_to(server.data)): kinds
            for file in sorted(Path(server.data).rglob("*"))
            if file.is_file() and (kinds := search.kinds_in(file.read_bytes()) - PASS)
        }
        assert dirty == {}
        assert search.kinds_in(log.encode() + server.log().encode()) - PASS == set()
    finally:
        server.start()
