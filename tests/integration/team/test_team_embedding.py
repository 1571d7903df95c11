"""Vectors of a team's items by Ollama or an OpenAI-compatible proxy, which may be away, and be changed for another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from embedding_server import EmbeddingServer, embedding_server
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Member, Service, join, team_service

QUICK = {"siftd.consolidate.circuit_breaker.FIRST_WAIT_SECONDS": 0.05, "siftd.team_server.filling.PAUSE_SECONDS": 0.05}
NAMES = ["ollama:small", "openai:small"]
KEY = "sk-of-the-proxy-0123456789"


@pytest.fixture(scope="module")
def embedder() -> Iterator[EmbeddingServer]:
    with embedding_server() as serving:
        yield serving


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def service(
    database: TeamDatabase, embedder: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    key = Path(tmp_path_factory.mktemp("key")) / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    options = [f"--embedder={name}" for name in NAMES]
    with team_service(
        database.app, *options, "--embedder-url", embedder.url, "--embedder-key-file", str(key), patches=QUICK
    ) as served:
        yield served


def search(member: Member, query: str) -> Any:
    return member.get(member.api(f"/memory/search?{query}"))


def wait_until_embedded(member: Member) -> None:
    while search(member, "q=okapi").get("degraded"):
        time.sleep(0.02)


def use(member: Member, embedder: str) -> Any:
    """Have another model make the vectors, and return how its job ended."""
    answer = member.ask("POST", member.api("/memory/reindex"), {"embedder": embedder})
    assert answer.status == 202, answer.body
    path = f"/api/jobs/{answer.json['id']}"
    while (job := member.get(path))["state"] == "running":
        time.sleep(0.02)
    return job


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_another_dimension_takes_over_without_a_gap(
    service: Service, database: TeamDatabase, embedder: EmbeddingServer, name: str
) -> None:
    ana = join(service, database, "ana", f"changes to {name}", role="admin")
    ana.push(*(ana.put(f"okapi number {number}") for number in range(100)))
    wait_until_embedded(ana)
    job = use(ana, name)
    assert (job["state"], job["answer"]) == ("done", {"embedded": 100})
    found = search(ana, "q=okapi+number&strategy=semantic&k=100")
    assert (len(found["hits"]), found.get("degraded", [])) == (100, [])
    assert f"Bearer {KEY}" in embedder.authorizations


def test_while_the_model_is_away_items_are_found_by_their_words_and_filled_when_it_is_back(
    service: Service, database: TeamDatabase, embedder: EmbeddingServer
) -> None:
    ana = join(service, database, "ana", "away", role="admin")
    use(ana, "ollama:small")
    embedder.is_away = True
    try:
        assert ana.push(ana.put("the okapi sleeps")).put == 1
        found = search(ana, "q=okapi")
        assert [each["item"]["text"] for each in found["hits"]] == ["the okapi sleeps"]
        assert found["strategy"] == "keyword"
        assert "the embedder ollama:small is away" in found["degraded"]
        refused = ana.ask("POST", ana.api("/memory/reindex"), {"embedder": "openai:small"})
        assert (refused.status, "retry-after" in refused.headers) == (503, True)
        assert ana.get(ana.v1("/members"))["project"]["embedder"] == "ollama:small"
        while "embedder_away" not in service.log():
            time.sleep(0.02)
    finally:
        embedder.is_away = False
    wait_until_embedded(ana)
    assert search(ana, "q=okapi&strategy=semantic")["hits"]
    log = service.log()
    assert "embedder_back" in log
    assert KEY not in log
    assert "sleeps" not in log


def test_the_vectors_are_the_models_own(service: Service, database: TeamDatabase, embedder: EmbeddingServer) -> None:
    ana = join(service, database, "ana", "own", role="admin")
    use(ana, "ollama:small")
    ana.push(ana.put("the okapi sleeps"), ana.put("a zebra runs"))
    wait_until_embedded(ana)
    assert {"the okapi sleeps", "a zebra runs"} <= set(embedder.asked)
    found = search(ana, "q=the+okapi+sleeps&strategy=semantic&explain=true")
    assert found["hits"][0]["item"]["text"] == "the okapi sleeps"
    assert found["hits"][0]["cosine"] == pytest.approx(1.0, abs=0.01)
