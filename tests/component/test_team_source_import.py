"""A team is given what an issue tracker or CI has exported: redacted, in batches, as often as one likes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opened_memory import Memory, opened
from team_stand_in import Refusal, TeamStandIn, team_server

from siftd.errors import RequestInvalid
from siftd.team_sync.source_import import LINES_AT_ONCE

DATA = Path(__file__).parents[1] / "data" / "sources"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


class From(dict[str, Refusal]):
    """Refuses pushes from the so-manieth on, for some of them."""

    def __init__(self, first: int, refusal: Refusal, times: int = 10**9) -> None:
        self._pushes = 0
        self._refused = range(first, first + times)
        super().__init__(push=refusal)

    def __contains__(self, name: object) -> bool:
        self._pushes += name == "push"
        return name == "push" and self._pushes in self._refused


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        found.sources = ["issue", "comment", "job"]
        yield found


@asynccontextmanager
async def joined(folder: Path, server: TeamStandIn) -> AsyncIterator[Memory]:
    async with opened(folder) as memory:
        await memory.ask("team_join", url=server.url, project="okapi", invite="ana" * 20)
        yield memory


async def imported(memory: Memory, path: Path, source: str = "issue", form: str = "", **fields: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await memory.ask("import_source", path=str(path), source=source, form=form, **fields)
    return answer


def lines(folder: Path, *given: dict[str, Any]) -> Path:
    """Write lines of our own format."""
    path = folder / "lines.jsonl"
    whole = [{"source": "issue", "ref": f"a/{n}", "updated": 5_000, **each} for n, each in enumerate(given)]
    path.write_text("".join(json.dumps(each) + "\n" for each in whole))
    return path


async def test_without_a_team_it_is_refused_with_the_remedy(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        with pytest.raises(RequestInvalid, match="no team") as refused:
            await imported(memory, lines(tmp_path, {"text": "x"}))
        assert "mem team join" in refused.value.hint


async def test_a_source_that_is_off_is_refused_with_the_remedy(tmp_path: Path, server: TeamStandIn) -> None:
    server.sources = ["job"]
    async with joined(tmp_path, server) as memory:
        with pytest.raises(RequestInvalid, match="takes no issues") as refused:
            await imported(memory, lines(tmp_path, {"text": "x"}))
        assert "siftd team sources okapi --on issue" in refused.value.hint
        assert server.pushed == []


async def test_what_github_exported_is_in_the_team_and_a_second_time_changes_nothing(
    tmp_path: Path, server: TeamStandIn
) -> None:
    async with joined(tmp_path, server) as memory:
        first = await imported(memory, DATA / "github-issues.json", form="github")
        assert (first["lines"], first["put"], first["unchanged"], first["problem"]) == (2, 2, 0, None)
        assert (first["errors"], first["firstError"]) == (2, "no. 3: no address")
        assert any(text.startswith("Login fails with an expired token\n\nSince 1.4") for text in server.texts())
        pushes = len(server.pushed)
        again = await imported(memory, DATA / "github-issues.json", form="github")
        assert (again["put"], again["unchanged"]) == (0, 2)
        assert len(server.pushed) == pushes


async def test_what_was_imported_is_found_here_as_somebody_elses(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        await imported(memory, lines(tmp_path, {"text": "Okapis eat hay."}))
        await memory.ask("team_pull")
        found = await memory.services.team_sync.replica.read(
            lambda c: c.execute("SELECT text, said_by FROM facts").fetchall()
        )
        assert [tuple(row) for row in found] == [("Okapis eat hay.", "outside")]


async def test_a_shorter_text_takes_the_pieces_away_that_vanish(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        await imported(memory, lines(tmp_path, {"text": "okapi " * 3_000}))
        assert len(server.items) > 3
        await imported(memory, lines(tmp_path, {"text": "okapi", "updated": 6_000}))
        assert list(server.texts()) == ["okapi"]
        assert {each.item.archived_at for each in server.items.values()} == {None, 6_000}


async def test_of_two_lines_in_one_file_the_later_one_stands_whole(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        long, short = {"ref": "a/9", "text": "okapi " * 3_000}, {"ref": "a/9", "text": "okapi", "updated": 6_000}
        await imported(memory, lines(tmp_path, long, short))
        assert list(server.texts()) == ["okapi"]


@pytest.mark.parametrize("last", [{"text": "short"}, {"deleted": True}], ids=["shorter", "gone"])
async def test_an_older_line_behind_a_later_one_brings_no_piece_back(
    tmp_path: Path, server: TeamStandIn, last: dict[str, object]
) -> None:
    async with joined(tmp_path, server) as memory:
        older = {"ref": "a/9", "text": "okapi " * 3_000}
        await imported(memory, lines(tmp_path, {"ref": "a/9", "updated": 6_000, **last}, older))
        assert list(server.texts()) == ([last["text"]] if "text" in last else [])


async def test_a_deleted_line_forgets_every_piece(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        await imported(memory, lines(tmp_path, {"text": "okapi " * 3_000}, {"text": "stays"}))
        answer = await imported(memory, lines(tmp_path, {"deleted": True, "updated": 6_000}))
        assert answer["forgotten"] > 3
        assert list(server.texts()) == ["stays"]


async def test_an_import_that_the_network_ends_says_how_far_it_came_and_goes_on(
    tmp_path: Path, server: TeamStandIn
) -> None:
    many = [{"text": f"okapi {n}"} for n in range(3 * LINES_AT_ONCE)]
    async with joined(tmp_path, server) as memory:
        server.refuse = From(2, Refusal(502))
        answer = await imported(memory, lines(tmp_path, *many))
        assert (answer["lines"], answer["put"]) == (LINES_AT_ONCE, LINES_AT_ONCE)
        assert answer["problem"]
        server.refuse = {}
        answer = await imported(memory, lines(tmp_path, *many))
        assert (answer["lines"], answer["put"], answer["problem"]) == (3 * LINES_AT_ONCE, 2 * LINES_AT_ONCE, None)
        assert len(server.texts()) == 3 * LINES_AT_ONCE


async def test_a_server_that_asks_for_patience_gets_it(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        server.refuse = From(1, Refusal(429, retry_after="0"), times=3)
        answer = await imported(memory, lines(tmp_path, {"text": "okapi"}))
        assert (answer["put"], answer["problem"]) == (1, None)


async def test_a_batch_that_is_too_large_is_sent_in_halves(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        server.refuse = From(1, Refusal(413), times=2)
        answer = await imported(memory, lines(tmp_path, *({"text": f"okapi {n}"} for n in range(8))))
        assert (answer["put"], answer["refused"]) == (8, {})


async def test_what_the_server_does_not_take_is_counted_by_the_reason(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        server.ignore = {"gnu": "secret"}
        answer = await imported(memory, lines(tmp_path, {"text": "okapi"}, {"text": "gnu"}))
        assert (answer["put"], answer["refused"]) == (1, {"secret": 1})


async def test_a_rehearsal_shows_the_items_and_sends_nothing(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        asked = len(server.asked)
        answer = await imported(memory, DATA / "github-issues.json", form="github", dryRun=True)
        assert (answer["lines"], answer["put"], len(answer["shown"])) == (2, 2, 2)
        assert answer["shown"][0]["metadata"]["status"] == "closed (not planned)"
        assert "push" not in server.asked[asked:]


async def test_no_secret_of_a_file_leaves_the_machine(tmp_path: Path, server: TeamStandIn) -> None:
    async with joined(tmp_path, server) as memory:
        given = {"title": f"deploy {TOKEN}", "text": f"**{TOKEN}** `{TOKEN}`", "labels": [TOKEN], "by": TOKEN}
        answer = await imported(memory, lines(tmp_path, given, {"text": f"x\n{TOKEN}", "form": "log"}))
        assert answer["put"] == 2
        assert TOKEN not in msgspec.json.encode(server.pushed).decode()
        assert "REDACTED:github-token" in msgspec.json.encode(server.pushed).decode()


@pytest.mark.parametrize(
    "fields", [{"source": "memory"}, {"form": "rekal"}, {"form": "actions"}, {"path": "/nowhere"}, {"path": "a.json"}]
)
async def test_what_cannot_be_read_is_refused(tmp_path: Path, server: TeamStandIn, fields: dict[str, str]) -> None:
    async with joined(tmp_path, server) as memory:
        with pytest.raises(RequestInvalid):
            await memory.ask("import_source", **{"path": str(DATA / "github-issues.json"), "source": "issue", **fields})
