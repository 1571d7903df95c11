"""Relations that a model finds: asked only where a person wants it, and nothing that the words do not say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from model_server import ScriptedServer, openai_reply, running
from model_server import said as summary
from opened_memory import Memory, opened
from test_graph_building import names, tick, triples

from siftd.graph import documents
from siftd.graph.documents import read_document
from siftd.graph.model import Found
from siftd.summarise.graph_answers import read_relations

TEXT = "Since spring the ledger of Okapi Ltd feeds its numbers into BarnBooks.\nZebra stands elsewhere, far from all.\n"


def relation(source: str, target: str, **fields: Any) -> dict[str, str]:
    return {"source": source, "sourceType": "tool", "relation": "feeds", "target": target, "targetType": "x", **fields}


def told(*relations: dict[str, str]) -> set[tuple[str, str, str]]:
    found = Found()
    read_relations(found, json.dumps({"relations": relations}), TEXT + "x" * 500 + " Gnu")
    return {(link.src.name, link.type, link.dst.name) for link, _ in found.links}


def choose(request: dict[str, Any]) -> Any:
    if '{"relations"' in request["messages"][0]["content"]:
        answer = [relation("Okapi Ltd", "BarnBooks"), relation("Okapi Ltd", "Kafka")]
        return openai_reply(json.dumps({"relations": answer}))
    return openai_reply(summary("Something was said."))


async def ingest(memory: Memory, text: str = TEXT, path: str = "/src/a.md") -> None:
    fields = {"path": path, "title": "a", "type": "markdown", "text": text}
    await memory.ask("ingest_document", hash=hashlib.sha256(text.encode()).hexdigest(), **fields)


def asked_for(server: ScriptedServer) -> int:
    return sum('{"relations"' in request["messages"][0]["content"] for _, _, request in server.requests)


def test_both_names_have_to_stand_in_the_text_near_each_other() -> None:
    assert told(relation("Okapi Ltd", "BarnBooks")) == {("Okapi Ltd", "FEEDS", "BarnBooks")}
    assert told(relation("Okapi Ltd", "Kafka")) == set(), "it is not in the text"
    assert told(relation("Okapi Ltd", "Gnu")) == set(), "it is far away"
    assert told(relation("kapi Ltd", "BarnBooks")) == set(), "it is a part of a word"
    assert told(relation("Okapi Ltd", "okapi ltd")) == set()
    assert told(relation("Okapi Ltd", "BarnBooks", relation="x" * 100)) == {("Okapi Ltd", "X" * 40, "BarnBooks")}


@pytest.mark.parametrize(
    "answer", ["", "nothing", "{", '{"relations": 3}', '{"relations": [3, {"source": 1}]}', "[" * 9999]
)
def test_an_answer_of_another_form_gives_nothing(answer: str) -> None:
    found = Found()
    assert read_relations(found, answer, TEXT) == 0
    assert not found


async def test_a_model_is_asked_only_where_a_person_wants_it(tmp_path: Path) -> None:
    async with running() as server:
        server.choose = choose
        backend = {"memory_backend": "openai:m", "memory_baseUrl": f"{server.url}/v1"}
        async with opened(tmp_path / "a", **backend) as memory:
            await ingest(memory)
            await tick(memory)
            assert (asked_for(server), await triples(memory)) == (0, set())
        async with opened(tmp_path / "b", **backend, graph_askModel=True) as memory:
            await ingest(memory)
            await tick(memory)
            assert asked_for(server) == 1
            assert await triples(memory) == {("Okapi Ltd", "FEEDS", "BarnBooks")}
            rows = await memory.rows("SELECT r.source, v.item, v.line FROM relations r JOIN relation_evidence v")
            assert rows == [("model", "d1", 1)]
            await tick(memory)
            assert asked_for(server) == 1, "what was read is not asked about again"


async def test_a_model_that_is_away_costs_nothing_but_its_answer(tmp_path: Path) -> None:
    async with running() as server:
        server.choose = lambda _: (500, {}, {"error": "x"})
        values = {"memory_backend": "openai:m", "memory_baseUrl": f"{server.url}/v1", "graph_askModel": True}
        async with opened(tmp_path, **values) as memory:
            await ingest(memory, f"{TEXT}\n\nThe auth service depends on Redis.\n")
            await tick(memory)
            assert await triples(memory) == {("auth service", "DEPENDS_ON", "Redis")}


async def test_an_item_that_cannot_be_understood_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(found: Found, path: str | None, *rest: Any) -> Any:
        if path is not None and path.endswith("bad.md"):
            raise ZeroDivisionError("a secret")
        return read_document(found, path, *rest)

    async with opened(tmp_path) as memory:
        await ingest(memory, "The auth service depends on Redis.", f"{tmp_path}/bad.md")
        await tick(memory)
        monkeypatch.setattr(documents, "read_document", read)
        await ingest(memory, "The auth service depends on Kafka.", f"{tmp_path}/bad.md")
        await ingest(memory, "The mail service depends on NATS.", f"{tmp_path}/good.md")
        await tick(memory)
        assert "NATS" in await names(memory)
        assert ("auth service", "DEPENDS_ON", "Redis") in await triples(memory), "it ends nothing"
        assert await memory.rows("SELECT * FROM graph_queue") == []
    said = capsys.readouterr().out
    assert "graph_item_not_read" in said
    assert "a secret" not in said
