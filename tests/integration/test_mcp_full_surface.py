"""Each tool of the full surface, tried through standard input and output as rekal's users know it.

One server and one daemon for all of them; every test speaks of a matter of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, is_alive, wait_until

from siftd.mcp.link import Link
from siftd.mcp.rekal_tools import FULL, INSTRUCTIONS
from siftd.wire.asking import Filters, Remember, Search

pytest.importorskip("mcp")


class Server:
    """`siftd mcp` on its pipes, spoken to in JSON-RPC."""

    def __init__(self, place: Place, tools: str = "full") -> None:
        self.place = place
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "siftd", "mcp", "--tools", tools],
            env=place.env, cwd=place.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method: str, params: dict[str, Any]) -> int:
        """Send a request and do not wait for its answer."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = self.begin(method, params)
        assert self.process.stdout is not None
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == number:
                result: dict[str, Any] = answer["result"]
                return result

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool gives."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result["content"]
        whole = result["structuredContent"]
        return whole["result"] if set(whole) == {"result"} else whole

    def refused(self, tool: str, **arguments: Any) -> str:
        """Return the words of a result that is an error."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"], result
        return str(result["content"][0]["text"])

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        assert self.process.wait(20) == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    place = Place()
    made = Server(place)
    yield made
    made.end()
    place.end()


MEMORY = {
    "id", "content", "memory_type", "project", "conversation_id", "tags", "created_at", "updated_at",
    "access_count", "last_accessed_at", "score",
}  # fmt: skip
"""The fields of a memory in rekal 1.8.0."""


def store(server: Server, text: str, **fields: Any) -> str:
    told = server.call("memory_store", content=text, **fields)
    assert told.startswith("Stored memory ")
    return str(told.removeprefix("Stored memory "))


def begin(server: Server, **fields: Any) -> str:
    return str(server.call("conversation_start", **fields).removeprefix("Started conversation "))


def ids(memories: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in memories]


def found(server: Server, query: str, **fields: Any) -> list[str]:
    return ids(server.call("memory_search", query=query, **fields))


def test_every_tool_has_a_test_of_its_own() -> None:
    assert {f"test_{name}" for name, _ in FULL} <= set(globals())


def test_its_instructions_name_its_own_tools_only() -> None:
    named = set(re.findall(r"[a-z]+_[a-z_]+", INSTRUCTIONS))
    assert named <= {name for name, _ in FULL}
    assert len(named) > 3


def test_memory_store(server: Server) -> None:
    kites = store(server, "Kites fly from the western roof", memory_type="fact", tags=["toys"])
    assert store(server, "Kites fly from the western roof", tags=["toys"]) == kites, "it is there once"
    assert store(server, "Kites fly from the western roof", project="roofs") != kites, "under each project"
    assert "say in a sentence" in server.refused("memory_store", content=" ")
    assert "fact" in server.refused("memory_store", content="x", memory_type="rumour")


def test_memory_search(server: Server) -> None:
    talk = begin(server, title="lamps")
    lamp = store(server, "Lamps burn whale-free oil", conversation_id=talk, tags=["illumination"])
    rule = store(server, "Lamps are trimmed at dusk", memory_type="procedure", project="house")
    (first, *_) = server.call("memory_search", query="what do lamps burn")
    assert set(first) == MEMORY
    assert (first["id"], first["content"], first["memory_type"]) == (lamp, "Lamps burn whale-free oil", "fact")
    assert (first["conversation_id"], first["project"], first["tags"]) == (talk, None, ["illumination"])
    assert (first["score"] > 0, first["access_count"]) == (True, 1)
    assert first["created_at"] <= first["last_accessed_at"] <= time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    assert found(server, "lamps", memory_type="procedure") == [rule]
    assert found(server, "lamps", project="house") == [rule]
    assert set(found(server, "lamps")) == {lamp, rule}, "none is everywhere"
    assert found(server, "lamps", conversation_id=talk) == [lamp]
    assert found(server, "illumination")[0] == lamp, "by its tag"
    assert len(found(server, "lamps", limit=1)) == 1
    assert found(server, 'say "lamps burn" AND (NOT -x* NEAR/2 \';--', limit=2)[0] == lamp
    assert found(server, '"') == []


def test_weights_of_one_search_or_of_a_project_change_its_scores(server: Server) -> None:
    store(server, "Anchors are weighed at dawn", project="harbour")

    def score(**weights: float) -> float:
        (hit, *_) = server.call("memory_search", query="when are anchors weighed", project="harbour", **weights)
        return float(hit["score"])

    usual = score()
    assert score(w_fts=0.2) != usual
    assert score(w_fts=0.2, w_vec=0.2) < usual
    assert score() == pytest.approx(usual, rel=0.01)
    assert server.call("memory_set_config", key="w_fts", value="0.2", project="harbour") == (
        "Set w_fts=0.2 for project 'harbour'"
    )
    assert score() < usual
    assert score(w_fts=1.0) == pytest.approx(usual, rel=0.01), "the search's own number counts first"
    assert "less than or equal to 10" in server.refused("memory_search", query="x", w_fts=99)


def test_a_project_filter_finds_its_one_row_behind_sixty_better_ones(server: Server) -> None:
    other = server.place.root / "other"
    other.mkdir()
    elsewhere = Link.from_environment({**server.place.env, "CLAUDE_PROJECT_DIR": str(other)})
    for number in range(60):
        elsewhere.ask(Remember(text=f"Barometer readings, barometer readings, barometer {number}"))
        store(server, f"Barometer readings, barometer readings, number {number}", project="_global")
    text = "Somebody once took a reading of the barometer in this very house"
    one = store(server, text, memory_type="episode", project="weather")
    assert found(server, "barometer readings", limit=5, project="weather") == [one]
    assert found(server, "barometer readings", limit=5, memory_type="episode") == [one]
    assert len(found(server, "barometer readings", limit=5, project="_global")) == 5
    assert [each["id"] for each in elsewhere.ask(Search(query="house", filters=Filters(project=True)))["hits"]] == []


def test_memory_update(server: Server) -> None:
    ship = store(server, "The ship sails on monday", tags=["quillon"])
    changes = {"content": "The ship sails on thursday", "memory_type": "decision", "tags": ["ormolu"]}
    assert server.call("memory_update", memory_id=ship, **changes) == f"Updated memory {ship}"
    (hit,) = server.call("memory_search", query="when does the ship sail")
    assert (hit["id"], hit["memory_type"], hit["content"]) == (ship, "decision", "The ship sails on thursday")
    assert found(server, "ormolu") == [ship]
    assert found(server, "quillon") == []
    assert found(server, "monday") == []
    for nothing in (
        {"memory_id": ship},
        {"memory_id": "m99999", "content": "x"},
        {"memory_id": "no id", "content": "x"},
    ):
        told = server.call("memory_update", **nothing)
        assert told == f"Memory {nothing['memory_id']} not found or no changes"


def test_memory_delete(server: Server) -> None:
    gone = store(server, "The well is poisoned by arsenic")
    assert server.call("memory_delete", memory_id=gone) == f"Deleted memory {gone}"
    assert found(server, "arsenic") == []
    for unknown in (gone, "the one about wells"):
        assert server.call("memory_delete", memory_id=unknown) == f"Memory {unknown} not found"


def test_memory_supersede(server: Server) -> None:
    old = store(server, "Tea is served at four", memory_type="procedure", tags=["tea"], project="kitchen")
    told = server.call("memory_supersede", old_id=old, new_content="Tea is served at five")
    new = told.removeprefix("Created memory ").removesuffix(f" superseding {old}")
    told = server.call("memory_supersede", old_id=new, new_content="Tea is served at six", tags=["six"])
    newest = told.removeprefix("Created memory ").removesuffix(f" superseding {new}")
    (hit,) = server.call("memory_search", query="when is tea served")
    assert (hit["id"], hit["memory_type"], hit["project"], hit["tags"]) == (newest, "procedure", "kitchen", ["six"])
    assert f"supersede {newest}" in server.refused("memory_supersede", old_id=old, new_content="Tea is off")
    assert "not found" in server.refused("memory_supersede", old_id="nonexistent", new_content="x")
    assert "circle" in server.refused("memory_link", from_id=old, to_id=newest, relation="supersedes")


def test_memory_link(server: Server) -> None:
    one, two = store(server, "Doves nest in the belfry"), store(server, "Nothing nests in the belfry, says the sexton")
    for _ in range(2):
        told = server.call("memory_link", from_id=one, to_id=two, relation="related_to")
        assert told == f"Linked {one} --related_to--> {two}"
    assert len(server.call("memory_related", memory_id=one)) == 1
    assert "to itself" in server.refused("memory_link", from_id=one, to_id=one, relation="related_to")
    assert "related_to" in server.refused("memory_link", from_id=one, to_id=two, relation="likes")


def test_memory_build_context(server: Server) -> None:
    wind = store(server, "The mill grinds when the wind is from the north", project="mill")
    against = store(server, "The mill grinds at noon only", project="mill")
    server.call("memory_link", from_id=against, to_id=wind, relation="contradicts")
    context = server.call("memory_build_context", query="when does the mill grind", project="mill", w_recency=0.8)
    assert set(context) == {"query", "memories", "conflicts", "timeline_summary"}
    assert context["query"] == "when does the mill grind"
    assert {wind, against} == set(ids(context["memories"]))
    assert [each["memory_id"] for each in context["conflicts"]] == [against]
    created = sorted(each["created_at"] for each in context["memories"])
    assert context["timeline_summary"] == f"2 memories from {created[0]} to {created[-1]}"
    nothing = server.call("memory_build_context", query="the mill", project="nowhere")
    assert (nothing["memories"], nothing["timeline_summary"]) == ([], "No memories found")


def test_memory_similar(server: Server) -> None:
    one = store(server, "Bees are kept behind the orchard wall")
    two = store(server, "Bees are kept behind the southern orchard wall")
    (near, *_) = server.call("memory_similar", memory_id=one)
    assert (set(near), near["id"], near["score"] > 0.6) == (MEMORY, two, True)
    assert len(server.call("memory_similar", memory_id=one, limit=1)) == 1
    assert server.call("memory_similar", memory_id="nonexistent") == []


def test_memory_topics(server: Server) -> None:
    store(server, "Gargoyles are washed in spring", memory_type="preference", project="roof")
    store(server, "Gargoyles are counted in autumn", memory_type="preference", project="roof")
    (topic,) = server.call("memory_topics", project="roof")
    assert (topic["topic"], topic["count"], set(topic)) == ("preference", 2, {"topic", "count", "latest"})
    store(server, "Gargoyles are heavy")
    assert sum(each["count"] for each in server.call("memory_topics")) > 2


def test_memory_timeline(server: Server) -> None:
    early, late = store(server, "The first bell rang", project="bells"), store(server, "The second bell rang")
    server.call("memory_update", memory_id=early, content="The very first bell rang")
    listed = server.call("memory_timeline", start="1h", limit=200)
    assert ids(listed).index(late) < ids(listed).index(early), "by creation, the latest first"
    assert set(listed[0]) == MEMORY
    assert ids(server.call("memory_timeline", project="bells")) == [early]
    assert early in ids(server.call("memory_timeline", start="2020-01-01", end="2130-12-31 23:59:59", limit=200))
    assert server.call("memory_timeline", end="2001-01-01") == []
    assert "write 2d" in server.refused("memory_timeline", start="soonish")


def test_memory_related(server: Server) -> None:
    one, two = store(server, "Ravens guard the gate"), store(server, "The gate has two ravens")
    server.call("memory_link", from_id=two, to_id=one, relation="related_to")
    link = {"relation": "related_to", "id": two, "content": "The gate has two ravens"}
    assert server.call("memory_related", memory_id=one) == [link]
    assert [each["id"] for each in server.call("memory_related", memory_id=two)] == [one]
    server.call("memory_delete", memory_id=two)
    assert server.call("memory_related", memory_id=one) == []
    assert server.call("memory_related", memory_id="nonexistent") == []


def test_memory_health(server: Server) -> None:
    before = server.call("memory_health")
    one = store(server, "Frost comes in october", project="almanac", memory_type="context")
    two = store(server, "Frost comes in may, too")
    begin(server, title="frost")
    server.call("memory_link", from_id=one, to_id=two, relation="contradicts")
    after = server.call("memory_health")
    more = {name: after[name] - before[name] for name in before if name.startswith("total")}
    assert more == {"total_memories": 2, "total_conversations": 1, "total_links": 1, "total_conflicts": 1}
    assert (after["memories_by_type"]["context"], after["memories_by_project"]["almanac"]) == (1, 1)
    assert after["memories_by_project"]["<none>"] >= 1
    assert after["oldest_memory"] <= after["newest_memory"]


def test_memory_conflicts(server: Server) -> None:
    one, two = (store(server, f"The moat is {how}", project="castle") for how in ("dry", "deep"))
    server.call("memory_link", from_id=one, to_id=two, relation="contradicts")
    (pair,) = server.call("memory_conflicts", project="castle")
    assert pair.pop("created_at")
    assert pair == {
        "memory_id": one, "content": "The moat is dry",
        "related_id": two, "related_content": "The moat is deep", "relation": "contradicts",
    }  # fmt: skip
    assert one in {each["memory_id"] for each in server.call("memory_conflicts")}
    server.call("memory_supersede", old_id=two, new_content="The moat was filled in")
    assert server.call("memory_conflicts", project="castle") == [], "settled"


def test_memory_set_project(server: Server) -> None:
    own = Server(server.place)
    assert own.call("memory_set_project", project="aviary") == "Default project set to 'aviary'"
    finch = store(own, "Finches sing at noon")
    assert [(each["id"], each["project"]) for each in own.call("memory_search", query="finches")] == [(finch, "aviary")]
    owl = store(own, "Owls sing at night", project="forest")
    assert found(own, "who sings") == [finch], "unless told otherwise"
    assert found(own, "who sings", project="forest") == [owl]
    assert begin(own, title="birds") in {each["id"] for each in own.call("conversation_threads")}
    assert set(found(server, "who sings")) >= {finch, owl}, "another session has a default of its own: none"
    own.end()


def test_memory_set_config(server: Server) -> None:
    assert (
        server.call("memory_set_config", key="half_life", value="14", project="a") == "Set half_life=14 for project 'a'"
    )
    assert "Valid keys: w_fts, w_vec, w_recency, half_life" in server.call("memory_set_config", key="x", value="1")
    assert "must be numeric" in server.call("memory_set_config", key="w_fts", value="much", project="a")
    assert server.call("memory_set_config", key="w_fts", value="0.5").startswith("No project specified")
    assert "from 0 to 10" in server.refused("memory_set_config", key="w_fts", value="99", project="a")


def test_conversation_start(server: Server) -> None:
    talk = begin(server, title="owls")
    assert begin(server, title="more owls", follows_up_on=talk) != talk
    assert "no such conversation" in server.refused("conversation_start", branches_from="c-nowhere")


def test_conversation_tree(server: Server) -> None:
    root = begin(server, title="root")
    left, right = begin(server, branches_from=root), begin(server, follows_up_on=root)
    leaf = begin(server, follows_up_on=left, branches_from=right)
    tree = server.call("conversation_tree", conversation_id=leaf)
    assert {tuple(each[name] for name in ("from_id", "relation", "to_id")) for each in tree} == {
        (left, "branches_from", root), (right, "follows_up_on", root),
        (leaf, "follows_up_on", left), (leaf, "branches_from", right),
    }  # fmt: skip
    assert len(tree) == 4
    assert server.call("conversation_tree", conversation_id=begin(server, title="alone")) == []
    assert server.call("conversation_tree", conversation_id="c-nowhere") == []


def test_conversation_threads(server: Server) -> None:
    talk = begin(server, title="swans", project="river")
    store(server, "Swans belong to the crown", conversation_id=talk)
    (latest,) = server.call("conversation_threads", limit=1)
    assert latest.pop("started_at")
    assert latest == {"id": talk, "title": "swans", "project": "river", "memory_count": 1}
    assert [each["id"] for each in server.call("conversation_threads", project="river")] == [talk]


def test_conversation_stale(server: Server) -> None:
    talk = begin(server, title="nightingales")
    assert talk not in {each["id"] for each in server.call("conversation_stale", days=30)}
    (row,) = [each for each in server.call("conversation_stale", days=0) if each["id"] == talk]
    assert (row["title"], row["project"], row["last_memory_at"], row["days_inactive"]) == (
        "nightingales",
        None,
        None,
        0,
    )
    assert "greater than or equal to 0" in server.refused("conversation_stale", days=-1)


@pytest.mark.parametrize("how", ["closes", "is killed"])
def test_a_client_that_vanishes_in_the_middle_of_a_call_costs_nobody_else(server: Server, how: str) -> None:
    vanishing = Server(server.place)
    text = f"A comet was seen by somebody who {how} the door"
    for _ in range(3):
        vanishing.begin("tools/call", {"name": "memory_store", "arguments": {"content": text}})
    vanishing.begin("tools/call", {"name": "search", "arguments": {"query": "comet"}})
    assert vanishing.process.stdin is not None
    assert vanishing.process.stdout is not None
    vanishing.process.stdout.close()
    if how == "is killed":
        os.kill(vanishing.process.pid, 9)
    vanishing.process.stdin.close()
    wait_until("its server has ended", lambda: vanishing.process.poll() is not None, 20)
    assert not is_alive(vanishing.process.pid)
    ((stored,),) = server.place.rows("SELECT count(*) FROM facts WHERE text = ?", text)
    assert stored <= 1, "what it asked for three times is there once at most"
    assert store(server, f"Somebody else, while another one {how}, saw the comet too")


def test_the_graphs_tools_answer_with_what_says_so_and_refuse_with_a_remedy(server: Server) -> None:
    kept = store(server, "The okapi service depends on the quagga service.")
    store(server, "The zebra team maintains the okapi service.")
    server.place.ask("drain")
    (entity, *_) = server.call("search_entity", query="okapi service", entityType="service")["entities"]
    around = server.call("traverse_graph", startEntityId=entity["id"], relationType="DEPENDS_ON", direction="out")
    assert [each["entity"]["name"] for each in around["nodes"]] == ["quagga service"]
    way = server.call("traverse_graph", startEntityId="zebra team", action="path", targetEntityId="quagga service")
    assert [each["depth"] for each in way["nodes"]] == [1, 2]
    whole = server.call("get_entity_context", entityId="What does the okapi service depend on?")
    assert [each["id"] for each in whole["relations"][0]["evidence"]] == [kept]
    assert whole["about"].startswith("unverified words")
    fact = server.call("get_fact_context", factId=kept)
    assert {each["name"] for each in fact["entities"]} == {"okapi service", "quagga service"}
    assert [[one["name"] for one in each["through"]] for each in fact["related"]] == [["okapi service"]]
    assert "mem entity" in server.refused("get_entity_context", entityId="nobody at all")
    assert server.refused("traverse_graph", startEntityId=entity["id"], maxDepth=7)
    assert server.refused("traverse_graph", startEntityId=entity["id"], depth=2)
