"""Memories for every project: kept once, found in each, cited as g3, and changed wherever somebody names them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, Memory, opened
from test_telling import prompt, start, told

from siftd.errors import RequestInvalid, RequestRefused
from siftd.wire.global_routing import KINDS, ask_where_it_is, global_workspace, workspace_of
from siftd.wire.requests import Request
from siftd.workspace.paths import GLOBAL, Home

REVIEW = "Never push to main without a review by somebody else"
POSTGRES = "Every service keeps its state in Postgres 16"


class Person:
    """Somebody who asks as `mem` and the tools do."""

    def __init__(self, here: Memory, shared: Memory) -> None:
        self.here = here
        self.shared = shared

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the answer of whichever daemon the request is about. Raises SiftdError."""
        loop = asyncio.get_running_loop()

        def of(memory: Memory, message: dict[str, Any]) -> dict[str, Any]:
            fields = {name: value for name, value in message.items() if name != "kind"}
            return asyncio.run_coroutine_threadsafe(memory.ask(message["kind"], **fields), loop).result(20)

        root = self.here.services.workspace.root
        return await asyncio.to_thread(
            ask_where_it_is,
            {"kind": kind, **fields} | ({"typed": True} if kind in ("remember", "supersede", "update") else {}),
            root,
            lambda message: of(self.here, message),
            lambda message: of(self.shared, message),
        )

    async def found(self, query: str, **filters: Any) -> list[str]:
        return [hit["id"] for hit in (await self.ask("search", query=query, filters=filters))["hits"]]


@pytest_asyncio.fixture
async def person(tmp_path: Path) -> AsyncIterator[Person]:
    async with opened(tmp_path) as here, opened(tmp_path, clock=here.clock, key=GLOBAL) as shared:
        yield Person(here, shared)


async def test_what_is_kept_for_every_project_is_found_beside_the_projects_own(person: Person) -> None:
    assert await person.found("postgres") == [], "there is nothing yet"
    shared = await person.ask("remember", text=POSTGRES, type="decision", project=False)
    own = await person.ask("remember", text="This service keeps its sessions in Redis")
    assert (shared["id"], own["id"]) == ("g1", "m1")
    assert await person.found("what does every service keep in postgres") == ["g1", "m1"]
    assert await person.found("keeps", kind="memory", type="decision") == ["g1"]
    assert await person.found("", kind="memory") == ["m1", "g1"]
    assert (await person.ask("show", id="#g1"))["item"]["text"] == POSTGRES
    assert (await person.ask("remember", text=POSTGRES, project=False))["duplicate"]


async def test_a_session_starts_with_the_standing_instructions_of_both(person: Person) -> None:
    await person.ask("remember", text="Run make lint before each commit", pin=True)
    await person.ask("remember", text=REVIEW, pin=True, project=False)
    text = await told(person.here, start("now"))
    assert text.index("#m1 ") < text.index("#g1 ")
    assert REVIEW in text
    (given,) = (await person.ask("injections", id="g1"))["injections"]
    assert (given["piece"], given["text"]) == ("g1", REVIEW)
    assert REVIEW not in await told(person.here, prompt("who reviews what I push to main?", "now")), "never twice"
    assert REVIEW in await told(person.here, prompt("may I push to main without a review by somebody?", "other"))


async def test_a_superseded_one_never_comes_back_and_its_history_is_cited_as_it_is(person: Person) -> None:
    await person.ask("remember", text=POSTGRES, project=False)
    person.here.clock.at += DAY
    new = await person.ask("supersede", id="g1", text="Every service keeps its state in Postgres 18")
    assert new["id"] == "g2"
    assert await person.found("what does every service keep in postgres") == ["g2"]
    with pytest.raises((RequestRefused, RequestInvalid)) as caught:
        await person.ask("supersede", id="g1", text="Every service keeps its state in files")
    assert (caught.value.message, caught.value.hint) == ("g1 is superseded already", "supersede g2")
    assert [each["text"] for each in (await person.ask("memories", project=False))["memories"]] == [
        "Every service keeps its state in Postgres 18"
    ]


async def test_what_is_forgotten_for_every_project_is_in_no_kept_brief(person: Person) -> None:
    await person.ask("remember", text=REVIEW, pin=True, project=False)
    await person.here.services.injector.keep()
    brief = Path(person.here.services.paths.brief)
    assert REVIEW in brief.read_text()
    await person.ask("forget", ids=["g1"], dryRun=False)
    assert not brief.exists()
    await person.here.services.injector.keep()
    assert not brief.exists()
    assert await person.found("push to main") == []


async def test_no_value_of_the_projects_env_file_goes_to_every_project(person: Person, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("QUEUE_PASSWORD=hollow-lantern-93-quartz\n")
    kept = await person.ask("remember", text="The queue opens with hollow-lantern-93-quartz", project=False)
    assert "lantern" not in str(await person.ask("show", id=kept["id"]))
    await person.ask("update", id=kept["id"], text="It is hollow-lantern-93-quartz", tags=["hollow-lantern-93-quartz"])
    await person.ask("supersede", id=kept["id"], text="It was hollow-lantern-93-quartz")
    assert b"lantern" not in person.shared.log_bytes()


async def test_a_store_that_is_made_anew_or_broken_takes_no_search_away(person: Person) -> None:
    await person.ask("remember", text=POSTGRES, project=False)
    await person.ask("remember", text="This service keeps its sessions in Redis")
    assert len(await person.found("what does a service keep")) == 2
    folder = Path(person.shared.services.paths.folder)
    aside = folder.rename(folder.with_name("aside"))
    assert await person.found("what does a service keep") == ["m1"]
    folder.mkdir()
    (folder / "db.sqlite").write_bytes(b"no database at all" * 1000)
    assert await person.found("what does a service keep") == ["m1"]
    (folder / "db.sqlite").unlink()
    folder.rmdir()
    aside.rename(folder)
    assert len(await person.found("what does a service keep")) == 2


async def test_the_two_kinds_are_not_mixed_in_one_request(person: Person) -> None:
    for kind, fields in (
        ("forget", {"ids": ["g1", "m1"]}),
        ("link", {"from": "g1", "to": "m1", "relation": "related_to"}),
        ("update", {"id": "m1", "text": "for all", "project": False}),
    ):
        with pytest.raises(RequestInvalid, match="do not go together"):
            await person.ask(kind, **fields)


def test_the_workspace_of_all_is_known_by_its_name_and_its_folder(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    shared = global_workspace(home)
    assert workspace_of(home, GLOBAL).key == workspace_of(home, shared.root).key == GLOBAL
    assert workspace_of(home, str(tmp_path)).key != GLOBAL


def test_what_may_be_about_memories_for_every_project_is_routed_there() -> None:
    """The routing names the kinds itself: it is on the way of every command, and loads no decoder."""
    assert {each.__struct_config__.tag for each in Request.__subclasses__() if each.may_be_global} == KINDS
