"""The figures of every chart agree with what a person with sqlite3 counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
import pytest_asyncio
from opened_memory import DAY, NOW, Memory, opened

from siftd.store import statistics
from siftd.wire import requests

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
GIVEN = """
INSERT INTO injections (ts, session_id, hook, piece, event_id, after_id, why) VALUES (?, ?, 'prompt', ?, ?, ?, '{}')
"""
ON = "date(ts / 1000, 'unixepoch', 'localtime')"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    """Five days on which something was captured, within forty; one piece helped, another was given for nothing."""
    async with opened(tmp_path) as made:
        for number in range(40):
            ts = NOW - (number % 5) * 9 * DAY - number
            said = {"stdout": f"token {SECRET}" if number % 3 == 0 else "mail a@b.example, c@d.example"}
            payload = {"tool_input": {"file_path": f"/src/part{number % 4}.py"}, "tool_response": said}
            await made.capture(number, sessionId=f"s{number % 7}", tool="Read", payload=payload, ts=ts)
        await made.ask("drain")
        await made.capture(90, ts=NOW - 1)
        await made.by_hand("UPDATE events SET status = 'skipped' WHERE id IN (3, 4)")
        # s0 works on part0 in event 29: what is of event 1, the same file, was touched.
        for piece, event, after, number in (("e1", 1, 8, 1), ("e2", 2, 40, 3), ("e3", 3, 40, 2)):
            for nth in range(number):
                await made.by_hand(GIVEN, NOW - nth * 8 * DAY, "s0", piece, event, after)
        yield made


async def test_each_day_has_what_is_stored_of_it(memory: Memory) -> None:
    answer = await memory.ask("stats", days=30)
    since = answer["since"]
    counted = await memory.rows(
        f"SELECT {ON}, count(*), count(DISTINCT session_id), sum(status = 'raw'), sum(status = 'skipped')"
        " FROM events WHERE ts >= ? GROUP BY 1 ORDER BY 1",
        since,
    )
    shown = [(each["day"], each["events"], each["sessions"], each["raw"], each["skipped"]) for each in answer["days"]]
    assert [row for row in shown if row[1]] == counted
    assert len(counted) == 4, "the fifth is older"
    assert sum(each[3] for each in counted) == 1


async def test_replacements_are_counted_by_rule_and_by_day(memory: Memory) -> None:
    answer = await memory.ask("stats", days=30)
    counted: Counter[tuple[str, str]] = Counter()
    for day, payload in await memory.rows(f"SELECT {ON}, payload_json FROM events WHERE ts >= ?", answer["since"]):
        counted.update((rule, day) for rule in re.findall(r"\[REDACTED:([a-z0-9-]+)", payload))
    assert {
        (rule["rule"], day["day"]): day["replaced"] for rule in answer["replaced"] for day in rule["days"]
    } == counted
    rules: Counter[str] = Counter()
    days: Counter[str] = Counter()
    for (rule, day), number in counted.items():
        rules[rule] += number
        days[day] += number
    assert {each["rule"]: each["replaced"] for each in answer["replaced"]} == dict(rules)
    assert {each["day"]: each["replaced"] for each in answer["days"] if each["replaced"]} == dict(days)
    assert len(rules) > 1


async def test_replacements_are_all_counted_however_many_are_read_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = (await memory.ask("stats", days=30))["replaced"]
    monkeypatch.setattr(statistics, "REPLACED_AT_ONCE", 3)
    assert (await memory.ask("stats", days=30))["replaced"] == at_once


async def test_no_event_without_a_placeholder_is_read_to_count_them(memory: Memory) -> None:
    plan = await memory.rows(f"EXPLAIN QUERY PLAN {statistics.REPLACED}", 0, 0, NOW, 10)
    assert "events_replaced" in str(plan)


@pytest.mark.parametrize("part", get_args(requests.StatsPart))
async def test_a_part_asked_for_alone_is_as_in_the_whole_and_the_others_are_empty(memory: Memory, part: str) -> None:
    whole, alone = await memory.ask("stats", days=30), await memory.ask("stats", days=30, part=part)
    shown = {
        "captured": lambda answer: (answer["tools"], answer["eventsBefore"]),
        "replaced": lambda answer: answer["replaced"],
        "given": lambda answer: (answer["injections"], answer["weeks"], answer["offenders"]),
        "stored": lambda answer: [each["kind"] for each in answer["storage"]],
    }
    assert shown[part](alone) == shown[part](whole)
    nothing = statistics.Statistics(30, NOW).answer()
    for other in set(shown) - {part}:
        assert shown[other](alone) == shown[other](nothing)


async def test_what_was_given_is_told_by_week_with_what_was_then_touched(memory: Memory) -> None:
    answer = await memory.ask("stats", days=30)
    given = (await memory.ask("injections", limit=500))["injections"]
    weeks: dict[str, list[Any]] = {}
    for each in given:
        day = datetime.fromtimestamp(each["ts"] / 1000).date()  # noqa: DTZ006 - the person's own calendar
        weeks.setdefault((day - timedelta(days=day.weekday())).isoformat(), []).append(each["touchedBy"])
    assert answer["weeks"] == [
        {"week": week, "pieces": len(of), "touched": sum(by is not None for by in of)}
        for week, of in sorted(weeks.items())
    ]
    assert answer["injections"] == {"pieces": 6, "sessions": 1, "touched": 1}
    assert sum(each["given"] for each in answer["days"]) == 6


async def test_what_is_given_often_and_helps_least_comes_first(memory: Memory) -> None:
    answer = await memory.ask("stats", days=30)
    assert [(each["piece"], each["given"]) for each in answer["offenders"]] == [("e2", 3), ("e3", 2)]


async def test_what_takes_room_is_the_whole_database_and_the_files_beside_it(memory: Memory) -> None:
    stored = {each["kind"]: each["bytes"] for each in (await memory.ask("stats", days=30))["storage"]}
    assert stored.pop("log") == len(memory.log_bytes())
    assert min(stored[kind] for kind in ("events", "summaries", "vectors", "full text")) > 0
    beside = stored.pop("snapshots") + stored.pop("spool")
    ((pages, free, size),) = await memory.rows(
        "SELECT * FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
    )
    assert sum(stored.values()) == (pages - free) * size or "other" in stored
    assert beside == 0


async def test_how_far_it_is_summarised_is_what_the_states_say(memory: Memory) -> None:
    answer = await memory.ask("stats", days=30)
    counted = dict(await memory.rows("SELECT status, count(*) FROM events GROUP BY 1"))
    assert answer["drain"] == counted
    assert answer["eventsBefore"] == 8


async def test_a_store_that_rested_is_shown_up_to_its_newest_capture(memory: Memory) -> None:
    memory.clock.at += 400 * DAY
    answer = await memory.ask("stats", days=2)
    assert answer["until"] == NOW
    assert sum(each["events"] for each in answer["days"]) > 0


async def test_the_figures_are_the_same_in_however_many_pieces_they_are_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = await memory.ask("stats", days=60)
    monkeypatch.setattr(statistics, "EVENTS_AT_ONCE", 3)
    monkeypatch.setattr(statistics, "INJECTIONS_AT_ONCE", 2)
    assert await memory.ask("stats", days=60) == at_once


async def test_odd_times_and_numbers_of_days_are_borne(memory: Memory) -> None:
    for ts in (-(2**62), 2**62, 0):
        await memory.by_hand("UPDATE events SET ts = ? WHERE id = ?", ts, 5 + ts % 3)
    for days in (-1, 0, 1, 10**9):
        answer = await memory.ask("stats", days=days)
        assert all(each["day"] for each in answer["days"])


async def test_nothing_has_no_days(tmp_path: Path) -> None:
    async with opened(tmp_path) as empty:
        answer = await empty.ask("stats")
    assert (answer["days"], answer["weeks"], answer["offenders"]) == ([], [], [])
