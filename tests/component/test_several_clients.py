"""One memory that several agents' programs write into: whose something is, is told and can be asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from opened_memory import NOW, Memory, opened
from workbench import nobody

from siftd.mcp.tools import Tools
from siftd.store.payload import client_of


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as made:
        yield made


async def filled(memory: Memory) -> None:
    for number, client in enumerate(("claude-code", "codex", "claude-code", "codex")):
        await memory.capture(number, sessionId=f"s{number % 2}", source=client, ts=NOW - 1000 + number)
    await memory.services.consolidator.drain(None, nobody)
    await memory.ask("remember", text="Every part is made by make")


async def test_each_hit_event_and_session_says_whose_it_is(memory: Memory) -> None:
    await filled(memory)

    found = await memory.ask("search", query="make part")
    assert {each["client"] for each in found["hits"] if each["kind"] != "memory"} == {"claude-code", "codex"}
    assert found["clients"] == ["claude-code", "codex"]
    events = await memory.ask("timeline", before=9)
    assert [each["client"] for each in events["events"]] == ["claude-code", "codex"] * 2
    sessions = await memory.ask("sessions")
    assert {each["sessionId"]: each["client"] for each in sessions["sessions"]} == {"s0": "claude-code", "s1": "codex"}


async def test_one_clients_part_can_be_asked_for(memory: Memory) -> None:
    await filled(memory)

    for query in ("make part", ""):
        found = await memory.ask("search", query=query, filters={"client": "codex"})
        assert [each["client"] for each in found["hits"]] == ["codex", "codex"]
    events = await memory.ask("timeline", before=9, client="codex")
    assert [each["eventId"] for each in events["events"]] == [2, 4]
    assert [each["sessionId"] for each in (await memory.ask("sessions", client="codex"))["sessions"]] == ["s1"]
    for kind, name in (("timeline", "events"), ("sessions", "sessions")):
        assert (await memory.ask(kind, client="emacs"))[name] == []
    assert (await memory.ask("search", query="make", filters={"client": "code"}))["hits"] == []


async def test_a_client_that_comes_later_is_known_from_its_first_event(memory: Memory) -> None:
    await memory.capture(0, sessionId="a", source="claude-code")
    assert (await memory.ask("sessions"))["clients"] == ["claude-code"]
    await memory.capture(1, sessionId="b", source="codex")
    assert (await memory.ask("sessions"))["clients"] == ["claude-code", "codex"]


async def test_who_calls_a_client_in_a_payload_is_not_it(memory: Memory) -> None:
    told = {"tool_input": {"command": "echo", "_source": "codex"}}
    await memory.capture(0, sessionId="a", source="claude-code", payload=told)

    assert (await memory.ask("sessions"))["clients"] == ["claude-code"]
    assert (await memory.ask("sessions", client="codex"))["sessions"] == []


def test_whose_an_event_is_is_read_from_its_beginning_alone() -> None:
    assert client_of('{"_source":"codex","prompt":"x"}') == "codex"
    assert client_of('{"_branch":"a\\"b","_source":"codex"') == "codex"
    assert client_of('{"prompt":"\\"_source\\":\\"codex\\""}') is None
    assert client_of('{"_branch":"cut off') is None


def test_an_agent_is_told_whose_a_hit_is_only_where_several_have_written() -> None:
    event = {
        "eventId": 12, "sessionId": "s", "ts": 0, "tool": "Bash", "outcome": "ok", "saidBy": "output", "text": "made",
        "client": "codex",
    }  # fmt: skip

    class Link:
        session = None

        def __init__(self, *clients: str) -> None:
            self.clients = clients

        def ask_about(self, *_: object, **__: object) -> dict[str, object]:
            return {"events": [event], "clients": list(self.clients)}

    several, one = Tools(Link("claude-code", "codex")), Tools(Link("codex"))  # type: ignore[arg-type]
    assert several.timeline()["events"][0]["what"] == "Bash · codex"
    assert one.timeline()["events"][0]["what"] == "Bash"
