"""What is asked of the graph is answered with what says so: entities, walks, contexts, merges."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from graph_store import MARKS, says
from opened_memory import DAY, NOW, Memory, opened

from siftd.errors import NothingFound, RequestInvalid
from siftd.graph.model import Alias, Found, Named
from siftd.store import graph_writing
from siftd.store.access import Database
from siftd.store.graph_writing import Said

AUTH, BILLING, LEDGER = ("service", "auth service"), ("service", "billing"), ("tool", "Postgres")
PLATFORM, MARIA = ("team", "platform team"), ("person", "Maria")


@asynccontextmanager
async def sample(folder: Path) -> AsyncIterator[Memory]:
    """Open a memory whose graph says: auth depends on billing, that stores in Postgres, a team works on auth."""
    async with opened(folder) as memory:
        first = await memory.capture(
            1, tool="Note", payload={"text": "The auth service depends on billing since today. The rest is noise."}
        )
        kept = await memory.ask("remember", text="The platform team works on the auth service, with Maria.")
        later = await memory.capture(2, payload={"text": "billing keeps its ledger in Postgres"})

        def write(connection: Database) -> None:
            says(connection, f"e{first}", (AUTH, "DEPENDS_ON", BILLING), ts=NOW - DAY)
            says(connection, kept["id"], (PLATFORM, "WORKS_ON", AUTH), (MARIA, "PART_OF", PLATFORM), ts=NOW - 2 * DAY)
            says(connection, f"e{later}", (BILLING, "STORES_IN", LEDGER), ts=NOW - DAY)

        await memory.services.store.write(write)
        yield memory


def _names(nodes: list[dict[str, Any]]) -> list[str]:
    return [each["entity"]["name"] for each in nodes]


def _ends(relations: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["src"]["name"], each["type"], each["dst"]["name"]) for each in relations]


async def test_what_a_service_depends_on_is_answered_with_the_words_that_say_so(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        answer = await memory.ask("entity_context", id="What services does the auth service depend on?")
        assert answer["asked"] == "DEPENDS_ON"
        (relation,) = answer["relations"]
        assert _ends([relation]) == [("auth service", "DEPENDS_ON", "billing")]
        (evidence,) = relation["evidence"]
        assert evidence["id"] == "e1"
        assert "auth service depends on billing" in evidence["text"]
        assert evidence["saidBy"] == "outside"


async def test_what_is_known_of_a_team_names_its_work_its_people_and_what_says_so(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        answer = await memory.ask("entity_context", id="What do I know about the platform team?")
        assert answer["asked"] is None
        assert answer["entity"]["name"] == "platform team"
        assert set(_ends(answer["relations"])) == {
            ("platform team", "WORKS_ON", "auth service"), ("Maria", "PART_OF", "platform team"),
        }  # fmt: skip
        assert [each["id"] for each in answer["items"]] == ["m2"]
        assert all(each["evidence"] for each in answer["relations"])


async def test_what_depends_on_it_is_the_other_direction(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        answer = await memory.ask("entity_context", id="What depends on billing?")
        assert _ends(answer["relations"]) == [("auth service", "DEPENDS_ON", "billing")]
        answer = await memory.ask("entity_context", id="What does billing depend on?")
        assert answer["asked"] is None  # nothing answers: what is known of it does
        assert ("billing", "STORES_IN", "Postgres") in _ends(answer["relations"])


async def test_neighbours_a_way_and_what_is_named_together_cite_what_says_so(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        around = await memory.ask("traverse_graph", startEntityId="auth service")
        assert set(_names(around["nodes"])) == {"billing", "platform team", "Postgres", "Maria"}
        assert around["shortened"] is None
        way = await memory.ask(
            "traverse_graph", startEntityId="Maria", targetEntityId="postgres", action="path", maxDepth=6
        )
        assert _names(way["nodes"]) == ["platform team", "auth service", "billing", "Postgres"]
        assert [each["relation"]["evidence"][0]["id"] for each in way["nodes"]] == ["m2", "m2", "e1", "e3"]
        together = await memory.ask("traverse_graph", startEntityId="auth service", action="related")
        assert {each["entity"]["name"]: each["shared"] for each in together["nodes"]} == {
            "billing": 1, "platform team": 1, "Maria": 1,
        }  # fmt: skip
        assert {each["entity"]["name"]: each["relation"] is not None for each in together["nodes"]}["Maria"] is False


async def test_ids_are_typed_back_as_they_were_printed(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        (found, *_) = (await memory.ask("search_entity", query="auth service"))["entities"]
        for typed in (found["id"], f"#{found['id'].upper()}", f" {found['id']}\n"):
            assert (await memory.ask("entity_context", id=typed))["entity"]["name"] == "auth service"
            assert (await memory.ask("traverse_graph", startEntityId=typed))["start"]["id"] == found["id"]


async def test_entities_are_found_by_name_alias_beginning_and_question_and_by_type(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        said = Found()
        said.name(Named("service", "billing"))
        said.aliases.append(Alias(Named("service", "billing"), "invoicer"))
        await memory.services.store.write(lambda c: graph_writing.put(c, "e9", said, Said(NOW), MARKS))

        async def find(query: str, **fields: Any) -> list[tuple[str, str]]:
            found = await memory.ask("search_entity", query=query, **fields)
            return [(each["name"], each["why"]) for each in found["entities"]]

        assert (await find("The  AUTH-service"))[0] == ("auth service", "name")
        assert (await find("invoicer"))[0] == ("billing", "alias")
        assert (await find("platf"))[0] == ("platform team", "words")
        assert (await find("does Maria know the auth service?"))[:2] == [("Maria", "name"), ("auth service", "name")]
        assert await find("platform", entityType="person") == []
        assert {name for name, why in await find("") if why == "hub"} >= {"auth service", "billing"}
        assert await find("nobody ever said this") == []


async def test_what_has_ended_is_history_and_holds_at_its_time(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        await memory.services.store.write(
            lambda c: says(c, "e9", (AUTH, "DEPENDS_ON", ("service", "ldap")), ts=NOW - 9 * DAY, until=NOW - 3 * DAY)
        )
        now = await memory.ask("entity_context", id="auth service")
        assert ("auth service", "DEPENDS_ON", "ldap") not in _ends(now["relations"])
        assert _ends(now["ended"]) == [("auth service", "DEPENDS_ON", "ldap")]
        assert now["ended"][0]["validTo"] == NOW - 3 * DAY
        then = await memory.ask("entity_context", id="auth service", asOf=NOW - 5 * DAY)
        assert _ends(then["relations"]) == [("auth service", "DEPENDS_ON", "ldap")]
        assert then["ended"] == []
        walked = await memory.ask("traverse_graph", startEntityId="auth service", asOf=NOW - 5 * DAY)
        assert _names(walked["nodes"]) == ["ldap"]
        walked = await memory.ask("traverse_graph", startEntityId="auth service", history=True, maxDepth=1)
        assert "ldap" in _names(walked["nodes"])


async def test_a_renamed_entity_is_found_by_its_old_name(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        await memory.services.store.write(
            lambda c: says(c, "e9", (("service", "billing"), "RENAMED_TO", ("service", "payments")), ts=NOW - 1)
        )
        answer = await memory.ask("entity_context", id="billing")
        assert answer["entity"]["name"] == "payments"
        assert ("auth service", "DEPENDS_ON", "payments") in _ends(answer["relations"])
        assert [each["name"] for each in answer["merged"]] == ["billing"]


async def test_a_person_merges_two_names_and_parts_them_again(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        merged = await memory.ask("merge_entities", id="Maria", into="platform team")
        assert merged["entity"]["name"] == "platform team"
        assert (await memory.ask("entity_context", id="Maria"))["entity"]["name"] == "platform team"
        with pytest.raises(RequestInvalid, match="one already"):
            await memory.ask("merge_entities", id="Maria", into="platform team")
        parted = await memory.ask("unmerge_entity", id="Maria")
        assert parted["entity"]["name"] == "Maria"
        assert _ends((await memory.ask("entity_context", id="Maria"))["relations"]) == [
            ("Maria", "PART_OF", "platform team")
        ]
        with pytest.raises(NothingFound):
            await memory.ask("unmerge_entity", id="Maria")


async def test_a_fact_tells_what_it_speaks_of_and_which_facts_speak_of_the_same(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        other = await memory.ask("remember", text="Releases of auth wait for Maria.")
        await memory.services.store.write(lambda c: says(c, other["id"], (MARIA, "USES", AUTH), ts=NOW))
        answer = await memory.ask("fact_context", id="m2")
        assert {each["name"] for each in answer["entities"]} == {"platform team", "Maria", "auth service"}
        assert len(answer["relations"]) == 2
        (related,) = answer["related"]
        assert related["id"] == other["id"]
        assert {each["name"] for each in related["through"]} == {"Maria", "auth service"}
        with pytest.raises(NothingFound):
            await memory.ask("fact_context", id="m99")


async def test_what_waits_for_a_person_says_nothing(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        await memory.by_hand("UPDATE facts SET waits = 1")
        answer = await memory.ask("entity_context", id="platform team")
        assert answer["items"] == []
        assert all(not each["evidence"] for each in answer["relations"])


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("traverse_graph", {"startEntityId": "auth service", "targetEntityId": "billing"}),
        ("traverse_graph", {"startEntityId": "auth service", "action": "path"}),
        ("search_entity", {"query": "x", "entityType": "wizard"}),
    ],
)
async def test_what_cannot_be_asked_is_refused_with_a_remedy(tmp_path: Path, kind: str, fields: dict[str, Any]) -> None:
    async with sample(tmp_path) as memory:
        with pytest.raises(RequestInvalid) as refused:
            await memory.ask(kind, **fields)
        assert refused.value.hint


@pytest.mark.parametrize("name", ["x999", "nobody", "", "x" * 5_000, '"; DROP TABLE entities; --', "\x00"])
async def test_what_is_not_there_is_not_found(tmp_path: Path, name: str) -> None:
    async with sample(tmp_path) as memory:
        for kind, field in (("entity_context", "id"), ("traverse_graph", "startEntityId")):
            with pytest.raises(NothingFound) as refused:
                await memory.ask(kind, **{field: name})
            assert "nobody" not in refused.value.message


async def test_a_forgotten_event_is_no_evidence_any_more(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        await memory.ask("forget", ids=["e1"], dryRun=False)
        answer = await memory.ask("entity_context", id="auth service")
        assert "DEPENDS_ON" not in {each["type"] for each in answer["relations"]}
