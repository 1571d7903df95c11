"""Each tool of the full surface, tried through standard input and output as rekal's users know it.

One server and one daemon for all of them; every test speaks of a matter of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, is_alive, wait_until

from siftd.mcp.full import FULL
from siftd.mcp.link import Link

pytest.importorskip("mcp")


class Server:
    """`siftd mcp --tools full` on its pipes, spoken to in JSON-RPC."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "siftd", "mcp", "--tools", "full"],
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
        return result["structuredContent"]

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


def store(server: Server, text: str, **fields: Any) -> str:
    return str(server.call("memory_store", content=text, **fields)["id"])


def found(server: Server, query: str, **fields: Any) -> list[str]:
    return [each["id"] for each in server.call("memory_search", query=query, **fields)["memories"]]


def test_every_tool_has_a_test_of_its_own() -> None:
    assert {f"test_{name}" for name, _ in FULL} <= set(globals())


def test_memory_store(server: Server) -> None:
    kept = server.call("memory_store", content="Kites fly from the western roof", memory_type="fact", tags=["kites"])
    near = server.call("memory_store", content="Kites fly from the western roof now")
    assert near["similar"] == [kept["id"]], "told at writing"
    assert server.call("memory_store", content="Kites fly from the western roof")["duplicate"]
    assert "say in a sentence" in server.refused("memory_store", content=" ")
    assert "fact" in server.refused("memory_store", content="x", memory_type="rumour")
    assert "other project's folder" in server.refused("memory_store", content="x", project="/somewhere/else")


def test_memory_search(server: Server) -> None:
    talk = server.call("conversation_start", title="lamps")["id"]
    lamp = store(server, "Lamps burn whale-free oil", conversation_id=talk)
    rule = store(server, "Lamps are trimmed at dusk", memory_type="procedure")
    assert set(found(server, "what do lamps burn")) >= {lamp}
    assert found(server, "lamps", memory_type="procedure") == [rule]
    assert found(server, "lamps", conversation_id=talk) == [lamp]
    assert len(found(server, "lamps", limit=1)) == 1
    assert found(server, 'say "lamps burn" AND (NOT -x* NEAR/2 \';--', limit=2)[0] == lamp
    assert found(server, '"') == []


def test_a_project_filter_finds_its_one_row_behind_sixty_better_ones(server: Server) -> None:
    other = server.place.root / "other"
    other.mkdir()
    elsewhere = Link.from_environment({**server.place.env, "CLAUDE_PROJECT_DIR": str(other)})
    for number in range(60):
        elsewhere.ask("remember", text=f"Barometer readings, barometer readings, barometer {number}")
        store(server, f"Barometer readings, barometer readings, number {number}", project="_global")
    one = store(server, "Somebody once took a reading of the barometer in this very house", memory_type="episode")
    assert found(server, "barometer readings", limit=5, project=server.place.folder.name) == [one]
    assert found(server, "barometer readings", limit=5, memory_type="episode") == [one]
    assert len(found(server, "barometer readings", limit=5, project="_global")) == 5
    assert [each["id"] for each in elsewhere.ask("search", query="house", filters={"project": True})["hits"]] == []


def test_memory_update(server: Server) -> None:
    ship = store(server, "The ship sails on monday", tags=["ships"])
    server.call("memory_update", memory_id=ship, content="The ship sails on thursday", memory_type="decision", tags=[])
    (hit,) = server.call("memory_search", query="when does the ship sail")["memories"]
    assert (hit["id"], hit["type"], hit["text"]) == (ship, "decision", "The ship sails on thursday")
    assert found(server, "monday") == []
    assert "nothing is to be changed" in server.refused("memory_update", memory_id=ship)
    assert "there is no memory m99999" in server.refused("memory_update", memory_id="m99999", content="x")


def test_memory_delete(server: Server) -> None:
    gone = store(server, "The well is poisoned by arsenic")
    assert server.call("memory_delete", memory_id=gone) == {"deleted": gone, "pending": []}
    assert found(server, "arsenic") == []
    assert "no memory" in server.refused("memory_delete", memory_id=gone)
    assert "look like m3" in server.refused("memory_delete", memory_id="the one about wells")


def test_memory_supersede(server: Server) -> None:
    old = store(server, "Tea is served at four", memory_type="procedure", tags=["tea"])
    new = server.call("memory_supersede", old_id=old, new_content="Tea is served at five")["id"]
    newest = server.call("memory_supersede", old_id=new, new_content="Tea is served at six")["id"]
    assert found(server, "when is tea served") == [newest]
    assert server.call("memory_search", query="tea")["memories"][0]["type"] == "procedure", "inherited"
    assert f"supersede {newest}" in server.refused("memory_supersede", old_id=old, new_content="Tea is off")
    assert "circle" in server.refused("memory_link", from_id=old, to_id=newest, relation="supersedes")


def test_memory_link(server: Server) -> None:
    one, two = store(server, "Doves nest in the belfry"), store(server, "Nothing nests in the belfry, says the sexton")
    told = server.call("memory_link", from_id=one, to_id=two, relation="related_to")
    assert told == {"from": one, "to": two, "relation": "related_to"}
    assert "to itself" in server.refused("memory_link", from_id=one, to_id=one, relation="related_to")
    assert "related_to" in server.refused("memory_link", from_id=one, to_id=two, relation="likes")


def test_memory_build_context(server: Server) -> None:
    wind = store(server, "The mill grinds when the wind is from the north")
    server.place.capture(31, payload={"tool_input": {"command": "grind --mill north"}, "tool_response": {}})
    server.place.ask("drain")
    against = store(server, "The mill grinds at noon only")
    server.call("memory_link", from_id=against, to_id=wind, relation="contradicts")
    context = server.call("memory_build_context", query="when does the mill grind, north", limit=50)
    assert {wind, against} <= {each["id"] for each in context["memories"]}
    assert any("grind --mill north" in each["text"] for each in context["work"])
    assert against in {each["a"] for each in context["conflicts"]}
    assert wind in {each["id"] for each in context["timeline"]}


def test_memory_similar(server: Server) -> None:
    one = store(server, "Bees are kept behind the orchard wall")
    two = store(server, "Bees are kept behind the southern orchard wall")
    (near, *_) = server.call("memory_similar", memory_id=one)["similar"]
    assert (near["id"], near["cosine"] > 0.6) == (two, True)
    assert len(server.call("memory_similar", memory_id=one, limit=1)["similar"]) == 1


def test_memory_topics(server: Server) -> None:
    store(server, "Gargoyles are washed in spring", memory_type="preference", tags=["gargoyles"])
    topics = server.call("memory_topics")
    assert {"topic": "preference", "count": 1} in [
        {name: each[name] for name in ("topic", "count")} for each in topics["types"]
    ]
    assert "gargoyles" in {each["topic"] for each in topics["tags"]}


def test_memory_timeline(server: Server) -> None:
    early, late = store(server, "The first bell rang"), store(server, "The second bell rang")
    ids = [each["id"] for each in server.call("memory_timeline", start="1h", limit=200)["memories"]]
    assert ids.index(late) < ids.index(early), "the latest first"
    assert server.call("memory_timeline", end="2001-01-01")["memories"] == []
    assert "write 2d" in server.refused("memory_timeline", start="soonish")


def test_memory_related(server: Server) -> None:
    one, two = store(server, "Ravens guard the gate"), store(server, "The gate has two ravens")
    server.call("memory_link", from_id=two, to_id=one, relation="related_to")
    (link,) = server.call("memory_related", memory_id=one)["related"]
    assert (link["relation"], link["from"], link["to"], link["id"]) == ("related_to", two, one, two)
    assert link["text"] == "The gate has two ravens"
    assert server.call("memory_related", memory_id=store(server, "Nobody knows the hermit"))["related"] == []


def test_memory_health(server: Server) -> None:
    before = server.call("memory_health")
    old = store(server, "Frost comes in october")
    server.call("memory_supersede", old_id=old, new_content="Frost comes in november")
    after = server.call("memory_health")
    assert (after["total"] - before["total"], after["live"] - before["live"]) == (2, 1)
    assert after["unembedded"] == 0


def test_memory_conflicts(server: Server) -> None:
    one, two = store(server, "The moat is dry"), store(server, "The moat is deep")
    server.call("memory_link", from_id=one, to_id=two, relation="contradicts")
    assert {"a": one, "a_text": "The moat is dry", "b": two, "b_text": "The moat is deep"} in server.call(
        "memory_conflicts"
    )["conflicts"]
    server.call("memory_supersede", old_id=two, new_content="The moat was filled in")
    assert one not in {each["a"] for each in server.call("memory_conflicts")["conflicts"]}, "settled"


def test_memory_set_project(server: Server) -> None:
    root = str(server.place.folder)
    assert server.call("memory_set_project", project=server.place.folder.name) == {"project": root}
    assert server.call("memory_set_project", project="_global") == {"project": "_global"}
    assert "this server speaks for" in server.refused("memory_set_project", project="another")


def test_memory_set_config(server: Server) -> None:
    told = server.call("memory_set_config", w_fts=0.4, w_vec=0.4, w_recency=0.2, half_life=30)
    assert told["w_recency"] == {"value": 0.2, "from": "project"}
    left = server.call("memory_set_config", unset=["w_fts", "w_vec", "w_recency", "half_life"])
    assert {each["from"] for each in left.values()} == {"default"}
    assert "from 0 to 10" in server.refused("memory_set_config", w_fts=99)


def test_conversation_start(server: Server) -> None:
    talk = server.call("conversation_start", title="owls")["id"]
    assert server.call("conversation_start", title="more owls", follows_up_on=talk)["id"] != talk
    assert "one parent" in server.refused("conversation_start", follows_up_on=talk, branches_from=talk)
    assert "no such conversation" in server.refused("conversation_start", branches_from="c-nowhere")


def test_conversation_tree(server: Server) -> None:
    root = server.call("conversation_start", title="root")["id"]
    left = server.call("conversation_start", title="left", branches_from=root)["id"]
    leaf = server.call("conversation_start", title="leaf", follows_up_on=left)["id"]
    tree = server.call("conversation_tree", conversation_id=leaf)["conversations"]
    assert [(each["id"], each["parent_id"]) for each in tree] == [(root, None), (left, root), (leaf, left)]
    assert "no such conversation" in server.refused("conversation_tree", conversation_id="c-nowhere")


def test_conversation_threads(server: Server) -> None:
    talk = server.call("conversation_start", title="swans")["id"]
    store(server, "Swans belong to the crown", conversation_id=talk)
    (latest,) = server.call("conversation_threads", limit=1)["conversations"]
    assert (latest["id"], latest["title"], latest["memories"]) == (talk, "swans", 1)


def test_conversation_stale(server: Server) -> None:
    talk = server.call("conversation_start", title="nightingales")["id"]
    assert talk not in {each["id"] for each in server.call("conversation_stale", days=30)["conversations"]}
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
    ((stored,),) = server.place.rows("SELECT count(*) FROM memories WHERE text = ?", text)
    assert stored <= 1, "what it asked for three times is there once at most"
    assert store(server, f"Somebody else, while another one {how}, saw the comet too")
