"""A team's server, or a member, that means no good: what they say is bounded, and no secret of it is kept or shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from opened_memory import Memory, opened
from team_stand_in import BEN, Refusal, TeamStandIn, team_server
from team_store import noted

from siftd.errors import SiftdError
from siftd.team.protocol import Changes, Gone, Person
from siftd.team_sync.errors import TeamAway

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as made:
        yield made


@pytest_asyncio.fixture
async def memory(tmp_path: Path, server: TeamStandIn) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        await each.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        yield each


def around(text: str) -> dict[str, Any]:
    return {
        "title": f"uses {text}",
        "tags": ["zoo", f"key {text}"],
        "nested": {"deep": [{"deeper": text}]},
        f"named {text}": 1,
        "large": 2**63,
        "long": "x" * 20_000,
    }


async def test_no_secret_around_an_items_text_is_kept_or_shown(
    tmp_path: Path, memory: Memory, server: TeamStandIn
) -> None:
    ben = Person(id=BEN.id, name=f"Ben {SECRET}")
    server.publish(noted("a", "The okapi queue drains itself", metadata=around(SECRET)), author=ben)
    found = await memory.ask("team_search", query="okapi")
    assert found["found"][0]["metadata"].keys() == {"type", "saidBy", "title", "tags"}
    assert SECRET not in str(found)
    await memory.ask("team_pull")
    shown = (await memory.ask("show", id="t1"))["item"]
    assert shown["team"]["title"].startswith("uses ")
    assert SECRET not in str(shown)
    assert not any(SECRET.encode() in each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())


async def test_a_token_that_the_server_repeats_is_neither_told_nor_noted(memory: Memory, server: TeamStandIn) -> None:
    (token,) = server.tokens
    server.refuse["changes"] = Refusal(401, f"nobody knows {token} here")
    with pytest.raises(SiftdError, match="nobody knows … here") as caught:
        await memory.ask("team_pull")
    assert token not in str(caught.value)
    assert token not in str(await memory.ask("team_status", ask=False))


@pytest.mark.parametrize("seq", [-1, 2**63, 2**200])
async def test_a_place_that_no_feed_has_is_no_message(memory: Memory, server: TeamStandIn, seq: int) -> None:
    members = msgspec.to_builtins(server.members())
    members["devices"][0]["seq"] = 777_777_777
    server.raw["members"] = msgspec.json.encode(members).replace(b"777777777", str(seq).encode())
    with pytest.raises(SiftdError, match="no message of the protocol"):
        await memory.ask("team_members")
    assert (await memory.ask("team_status"))["members"] is None


async def test_a_server_with_ever_more_members_is_shown_in_part(memory: Memory, server: TeamStandIn) -> None:
    members = msgspec.to_builtins(server.members())
    members["devices"] = [{**members["devices"][0], "name": "n" * 1000}] * 3000
    members["members"] *= 3000
    members["used"] = {f"s{n}": n for n in range(3000)} | {"memory": 3}
    server.raw["members"] = msgspec.json.encode(members)
    shown = await memory.ask("team_members")
    assert (len(shown["devices"]), len(shown["members"]), shown["used"]) == (500, 500, {"memory": 3})
    assert {len(each["name"]) for each in shown["devices"]} == {200}


async def test_a_feed_that_stands_still_before_its_end_is_not_asked_without_end(
    memory: Memory, server: TeamStandIn
) -> None:
    server.raw["changes"] = msgspec.json.encode(Changes(epoch=server.epoch, head=9, cursor=0))
    async with asyncio.timeout(30):
        with pytest.raises(TeamAway, match="a page that is none"):
            await memory.ask("team_pull")


async def test_of_two_changes_of_one_item_in_a_page_the_later_one_holds(memory: Memory, server: TeamStandIn) -> None:
    server.publish(noted("a", "Zebras eat grass."), noted("b", "Lions sleep."))
    told = {each.item.text: each for each in server.items.values()}
    zebras, lions = told["Zebras eat grass."], told["Lions sleep."]
    page = Changes(
        epoch=server.epoch,
        head=4,
        cursor=4,
        changes=[
            zebras,
            Gone(seq=2, id=lions.item.id, at=1),
            msgspec.structs.replace(lions, seq=3),
            Gone(seq=4, id=zebras.item.id, at=1),
        ],
    )
    server.raw["changes"] = msgspec.json.encode(page)
    assert await memory.ask("team_pull") == {"changed": 1, "gone": 1}
    hits = (await memory.ask("search", query="zebras lions", filters={"team": True}))["hits"]
    assert [each["text"] for each in hits] == ["Lions sleep."]
