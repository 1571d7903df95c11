"""Figures and provenance for pictures, and the digest that a yes to a forget is bound to."""

from __future__ import annotations

from pathlib import Path

import pytest
from opened_memory import DAY, NOW, opened

from siftd.errors import MatchChanged, NothingFound
from siftd.store import injection_ledger, statistics
from siftd.store.injection_ledger import Injection


async def test_days_weeks_and_what_takes_room(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(3):
            await memory.capture(number)
        await memory.capture(4, ts=NOW - 9 * DAY)
        stats = await memory.ask("stats", days=30)
        assert [day["events"] for day in stats["days"]] == [1, 3]
        assert len((await memory.ask("stats", days=1))["days"]) == 1
        sizes = {each["kind"]: each["bytes"] for each in stats["storage"]}
        assert sizes["log"] == len(memory.log_bytes())
        assert sum(sizes.values()) > sizes["log"]


async def test_what_was_given_again_and_again_and_never_touched_is_named(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        cited = (await memory.ask("remember", text="The queue runs on Postgres"))["id"]
        given = [Injection(cited, None, {"section": "standing"})]
        for number in range(3):
            await memory.services.store.write(
                lambda c, n=number: injection_ledger.insert(c, f"session {n}", "SessionStart", given, NOW - n * 7 * DAY)
            )
        stats = await memory.ask("stats")
        assert [(each["piece"], each["given"], each["touched"]) for each in stats["offenders"]] == [(cited, 3, 0)]
        assert [week["pieces"] for week in stats["weeks"]] == [1, 1, 1]
        assert [week["week"] for week in stats["weeks"]] == sorted(week["week"] for week in stats["weeks"])
        assert stats["injections"] == {"pieces": 3, "sessions": 3, "touched": 0}


async def test_a_piece_that_was_given_once_is_no_offender(tmp_path: Path) -> None:
    assert statistics.list_offenders([]) == []


async def test_a_summary_leads_to_its_event_and_that_to_its_prompt(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        prompt, call = await memory.capture(1), await memory.capture(2)
        await memory.by_hand("UPDATE events SET prompt_id = 'p1'")
        await memory.by_hand("UPDATE events SET kind = 'prompt' WHERE id = ?", prompt)
        await memory.ask("drain")
        summary = (await memory.rows("SELECT id FROM summaries WHERE event_id = ?", call))[0][0]
        graph = await memory.ask("edges", id=f"s{summary}", depth=3)
        edges = {(each["from"], each["to"], each["relation"]) for each in graph["edges"]}
        assert (f"s{summary}", f"e{call}", "derives_from") in edges
        assert (f"e{call}", f"e{prompt}", "answers") in edges
        assert graph["isWhole"]
        assert {each["id"]: each["kind"] for each in graph["nodes"]}[f"e{prompt}"] == "prompt"
        assert all(each["text"] for each in graph["nodes"])
        shallow = await memory.ask("edges", id=f"s{summary}", depth=0)
        assert (len(shallow["nodes"]), shallow["edges"], shallow["isWhole"]) == (1, [], False)


async def test_links_that_go_in_a_circle_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        first = (await memory.ask("remember", text="Alder wood burns slowly in the stove"))["id"]
        second = (await memory.ask("remember", text="The tax office opens at nine o'clock"))["id"]
        await memory.ask("link", **{"from": first, "to": second, "relation": "related_to"})
        await memory.ask("link", **{"from": second, "to": first, "relation": "related_to"})
        graph = await memory.ask("edges", id=first, depth=8)
        assert {each["id"] for each in graph["nodes"]} == {first, second}
        assert len(graph["edges"]) == 2


async def test_nothing_comes_from_what_is_not_there(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        with pytest.raises(NothingFound):
            await memory.ask("edges", id="e9")


async def test_a_yes_forgets_what_was_shown_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        shown = await memory.ask("forget", query="part1", dryRun=True)
        await memory.capture(1, ts=NOW)
        assert (await memory.ask("forget", query="part1", dryRun=True))["digest"] != shown["digest"]
        with pytest.raises(MatchChanged):
            await memory.ask("forget", query="part1", dryRun=False, expected=shown["digest"])
        assert await memory.rows("SELECT count(*) FROM events") == [(2,)]
        again = await memory.ask("forget", query="part1", dryRun=True)
        done = await memory.ask("forget", query="part1", dryRun=False, expected=again["digest"])
        assert (done["matched"], done["digest"]) == (again["matched"], again["digest"])
        assert await memory.rows("SELECT count(*) FROM events") == [(0,)]
