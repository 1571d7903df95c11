"""How a backend's moods are lived with: nothing lost, nothing skipped, nothing asked or paid twice."""

from __future__ import annotations

import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from known_kinds import item_of, named
from opened_memory import opened, rebuilt
from workbench import DAY_MS, Workbench, nobody, summary_of

from siftd.consolidate.circuit_breaker import Circuit
from siftd.consolidate.drain import DrainResult
from siftd.model import Event
from siftd.store import backend_outage, resummary_queue, token_spend
from siftd.summarise.contract import Cannot, Item, Summary, TryLater, Verdict
from siftd.summarise.extractive import NAME
from siftd.summarise.salience import trivial_because

AWAY = TryLater(reason="the server is away")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


async def drained(bench: Workbench) -> DrainResult:
    return await bench.consolidator.drain(None, nobody)


def away(_: Item) -> Verdict:
    return AWAY


class Moody:
    """Fails three of ten calls, each time in another way, as the real servers' faults are mapped."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seen: dict[int, int] = {}

    def __call__(self, item: Item) -> Verdict:
        self.seen[item.event_id] = self.seen.get(item.event_id, 0) + 1
        if self.random.random() >= 0.3 or self.seen[item.event_id] > 2:
            return summary_of(item)
        mood = self.random.choice(["away", "later", "cannot", "raise"])
        if mood == "raise":
            raise RuntimeError("a library's own idea")
        if mood == "cannot":
            return Cannot(reason="the model gave an empty answer", tokens_in=3)
        return TryLater(reason="rate limited (429)", after_seconds=7) if mood == "later" else AWAY


async def test_an_hour_without_the_backend_skips_nothing_and_the_queue_empties_after(tmp_path: Path) -> None:
    async with Workbench(tmp_path, values={"memory.fallbackMs": DAY_MS}) as bench:
        ids = await bench.tell(*(f"call {number}" for number in range(40)))
        bench.backend.verdict = away
        for _ in range(120):
            await bench.drain()
            bench.clock.forward(30)
        asked = len(bench.backend.batches)
        assert bench.rows("SELECT DISTINCT status, attempts FROM events") == [("raw", 0)]
        assert asked < 20, "it was left alone for longer and longer"
        bench.backend.verdict = summary_of
        bench.clock.forward(900)
        await drained(bench)
        assert bench.statuses() == dict.fromkeys(ids, "summarized")


@pytest.mark.slow
async def test_a_hundred_restarts_in_the_middle_change_nothing(bench: Workbench) -> None:
    ids = await bench.tell(*(f"call {number}" for number in range(100)))
    moody = Moody(3)
    bench.backend.verdict = moody
    for _ in range(100):
        await bench.drain(batches=1)
        bench.clock.forward(60)
        bench.put_together()
    bench.backend.verdict = summary_of
    await drained(bench)
    assert bench.statuses() == dict.fromkeys(ids, "summarized")
    live = (
        "SELECT count(*) FROM summaries WHERE id NOT IN (SELECT older_id FROM summary_supersedes WHERE cosine IS NULL)"
    )
    assert bench.rows(live) == [(100,)]


async def test_after_the_configured_wait_the_built_in_backend_stands_in_until_a_better_summary_comes(
    bench: Workbench,
) -> None:
    (event_id,) = await bench.tell("make the parser")
    bench.backend.verdict = away
    await bench.drain()
    assert bench.statuses() == {event_id: "raw"}
    bench.clock.forward(599)
    await bench.drain()
    assert bench.statuses() == {event_id: "raw"}
    bench.clock.forward(1)
    result = await bench.drain()
    assert (result.processed, result.errors) == (1, 0)
    assert bench.rows("SELECT model, waits_for FROM summaries") == [(NAME, "scripted:1")]
    bench.backend.verdict = summary_of
    bench.clock.forward(900)
    result = await drained(bench)
    assert result.rewritten == 1
    assert bench.rows("SELECT id, model, text, waits_for FROM summaries") == [
        (1, NAME, "`make the parser`: no output", None),
        (2, "scripted:1", "make the parser", None),
    ]
    assert bench.rows("SELECT newer_id, older_id, cosine FROM summary_supersedes") == [(2, 1, None)]
    assert (await drained(bench)).rewritten == 0


async def test_a_restart_does_not_begin_to_wait_anew(bench: Workbench) -> None:
    await bench.tell("make the parser")
    bench.backend.verdict = away
    await bench.drain()
    bench.clock.forward(600)
    bench.put_together()
    await bench.drain()
    assert bench.rows("SELECT model FROM summaries") == [(NAME,)]
    bench.backend.verdict = summary_of
    bench.clock.forward(900)
    await drained(bench)
    assert backend_outage.away_since(bench.store.reader, "scripted:1") is None


async def test_what_stands_in_is_not_what_the_cache_keeps_for_the_backend(bench: Workbench) -> None:
    await bench.tell("make the parser")
    bench.backend.verdict = away
    await bench.drain()
    bench.clock.forward(600)
    await bench.drain()
    assert bench.rows("SELECT count(*) FROM summary_cache") == [(0,)]


async def test_a_person_who_drains_asks_at_once_and_is_told_that_answer(bench: Workbench) -> None:
    await bench.tell("one")
    bench.backend.verdict = away
    await bench.drain()
    bench.backend.verdict = lambda item: TryLater(reason="model m is missing: ollama pull m")
    asked = len(bench.backend.batches)
    result = await drained(bench)
    assert (len(bench.backend.batches), result.first_error) == (asked + 1, "model m is missing: ollama pull m")


async def test_also_while_the_built_in_backend_stands_in(bench: Workbench) -> None:
    await bench.tell("one")
    bench.backend.verdict = away
    await bench.drain()
    bench.clock.forward(600)
    result = await drained(bench)
    assert (result.processed, result.errors, result.first_error) == (1, 0, "the server is away")


async def test_one_call_probes_a_backend_that_was_away(tmp_path: Path) -> None:
    async with Workbench(tmp_path, values={"memory.consolidator.batchSize": 4}) as bench:
        await bench.tell(*(f"call {number}" for number in range(12)))
        bench.backend.verdict = away
        await bench.drain()
        bench.clock.forward(5)
        await bench.drain()
        assert [len(batch) for batch in bench.backend.batches] == [4, 4]


def test_each_wait_is_drawn_from_around_its_length() -> None:
    class Still:
        def now_ms(self) -> int:
            return 0

        def monotonic(self) -> float:
            return self.at

        at = 0.0

    clock = Still()
    waits = []
    for seed in range(20):
        circuit = Circuit(clock, draw=random.Random(seed).random)
        circuit.open("away", None)
        waits.append(circuit.open_until)
    assert min(waits) >= 3.75
    assert max(waits) <= 6.25
    assert len(set(waits)) > 10
    circuit.open("limited", 60)
    assert circuit.open_until == 60, "a server that says how long is believed"
    circuit.open("limited", 0)
    assert circuit.open_until >= 3.75, "one that wants no rest and fails is not asked without end"


@pytest.mark.parametrize(
    ("tool", "command", "rule"),
    [
        ("Bash", "ls -la src", "a listing"),
        ("Bash", "git status", "a listing"),
        ("Bash", "ls | xargs rm", None),
        ("Bash", "pytest -q", None),
        ("Glob", "*.py", "a listing"),
        ("Grep", "nothing like it", "a search that found nothing"),
        ("Read", "a file", None),
    ],
)
async def test_a_trivial_event_costs_no_call_and_show_names_the_rule(
    bench: Workbench, tool: str, command: str, rule: str | None
) -> None:
    from siftd.consolidate.planning import salience

    (event_id,) = await bench.tell(command, tool=tool)
    await bench.drain()
    assert bench.backend.asked == ([] if rule else [event_id])
    assert bench.statuses() == {event_id: "summarized"}
    assert salience(bench.store.reader, event_id) == rule


@pytest.mark.parametrize(
    ("tool", "payload", "rule"),
    [
        ("Grep", {"tool_input": {"pattern": "x"}, "tool_response": {"content": "a:1:x", "numFiles": 0}}, None),
        ("Grep", {"tool_input": {"pattern": "x"}, "tool_response": {"filenames": ["a"], "numFiles": 1}}, None),
        ("Read", {"tool_input": {"file_path": "a"}, "tool_response": {"type": "file_unchanged"}}, "a re-read"),
        ("UserPromptSubmit", {"prompt": "yes"}, "a prompt short enough to stand for itself"),
        ("UserPromptSubmit", {"prompt": "why " * 100}, None),
        ("Stop", {"last_assistant_message": " "}, "an end without words"),
        ("Glob", {"tool_input": {"pattern": "x"}, "error": "no"}, None),
        ("Edit", {"tool_input": {"file_path": "a"}, "tool_response": {}}, None),
    ],
)  # fmt: skip
def test_the_rules_look_at_the_event_alone(tool: str, payload: dict[str, Any], rule: str | None) -> None:
    assert trivial_because(item_of(event_id=1, tool=tool, payload=payload, outcome="ok")) == rule


async def test_a_repeat_of_a_call_with_the_same_result_is_trivial_and_a_failure_never_is(bench: Workbench) -> None:
    first, _ = await bench.tell("make", "make")
    (failed,) = await bench.tell("ls", outcome="failed")
    await bench.drain()
    assert bench.backend.asked == [first, failed]
    (again,) = await bench.tell("make", cwd="elsewhere")
    assert again
    await bench.drain()
    assert len(bench.backend.asked) == 3


async def test_equal_events_of_one_batch_are_asked_for_once(bench: Workbench) -> None:
    await bench.tell("make", session="a")
    await bench.tell("make", session="b")
    await bench.drain()
    assert len(bench.backend.asked) == 1
    assert bench.rows("SELECT text FROM summaries") == [("make",), ("make",)]


async def test_tokens_are_counted_for_a_local_model_too_and_bound_nothing(bench: Workbench) -> None:
    await bench.tell("one", "two")
    await bench.drain()
    day = bench.rows("SELECT day, tokens, is_remote FROM token_spend")
    assert [row[1:] for row in day] == [(30, 0)]
    assert token_spend.spent_remotely(bench.store.reader, day[0][0]) == 0


async def test_nothing_is_spent_when_nothing_is_new_and_cache_hits_are_counted(tmp_path: Path) -> None:
    async with Workbench(tmp_path, daily_token_cap=1000) as bench:
        bench.backend.is_remote = True
        await bench.tell("one", "two")
        await bench.drain()
        for _ in range(3):
            await drained(bench)
        bench.by_hand("DELETE FROM summaries", "UPDATE events SET status = 'raw'")
        await drained(bench)
        ((day, tokens),) = bench.rows("SELECT day, tokens FROM token_spend")
        assert (tokens, token_spend.spending(bench.store.reader, day)["cacheHits"]) == (30, 2)


async def test_a_bill_is_written_down_call_by_call(tmp_path: Path) -> None:
    """A daemon that is killed in the middle of a batch forgets at most the call that runs."""
    async with Workbench(tmp_path, daily_token_cap=1000) as bench:
        bench.backend.is_remote = True
        for session in "abc":
            await bench.tell(f"make {session}", session=session)
        seen = []

        async def look() -> None:
            seen.append(bench.rows("SELECT coalesce(sum(tokens), 0) FROM token_spend")[0][0])

        bench.backend.during = look
        await bench.drain()
        assert seen == [0, 15, 30]


async def test_what_a_remote_backend_was_paid_outlives_the_database(tmp_path: Path) -> None:
    """The day's cap is a promise about money: a rebuild must not open the purse anew."""
    say = "import sys, json; sys.stdin.read(); print(json.dumps({'summary': 'Ran make.'}))"
    values = {"memory_command": [sys.executable, "-c", say], "memory_dailyTokenCap": 400}
    async with opened(tmp_path, memory_backend="command", **values) as memory:
        for number in range(6):
            await memory.capture(number, sessionId=f"s{number}")
        await memory.ask("drain")
        before = (await memory.ask("info"))["tokens"]
        assert before["left"] == 0
        pending = await memory.rows("SELECT count(*) FROM events WHERE status = 'raw'")
        assert pending > [(0,)], "the cap is reached before all are told"
    await rebuilt(tmp_path)
    async with opened(tmp_path, memory_backend="command", **values) as memory:
        assert (await memory.ask("info"))["tokens"] == before
        assert "daily cap" in (await memory.ask("drain"))["firstError"]
        assert (await memory.ask("info"))["tokens"]["spent"] == before["spent"]


async def test_what_is_told_anew_stays_behind_what_replaces_it(bench: Workbench) -> None:
    await bench.tell("one", "two")
    bench.backend.verdict = lambda item: Summary(text=f"poor {summary_of(item).text}", confidence=0.5)
    await bench.drain()
    bench.backend.name = "scripted:2"
    bench.put_together()
    bench.backend.verdict = summary_of
    assert await bench.store.write(lambda c: resummary_queue.mark_for_resummary(c, 0, bench.clock.now_ms())) == 2
    assert (await drained(bench)).rewritten == 2
    live = (
        "SELECT model, text FROM summaries WHERE id NOT IN (SELECT older_id FROM summary_supersedes) ORDER BY event_id"
    )
    assert bench.rows(live) == [("scripted:2", "one"), ("scripted:2", "two")]
    await bench.store.write(lambda c: resummary_queue.mark_for_resummary(c, 0, bench.clock.now_ms()))
    asked = len(bench.backend.asked)
    assert (await drained(bench)).rewritten == 0, "the cache says the same, so there is nothing to replace"
    assert len(bench.backend.asked) == asked


async def test_events_of_one_turn_carry_its_name_to_the_backend(bench: Workbench) -> None:
    def call(number: int, prompt_id: str | None) -> Event:
        fields: dict[str, Any] = {"native_id": f"t{number}", "identity": ("tool", f"t{number}"), "outcome": "ok"}
        payload = {"tool_input": {"command": f"make {number}"}, "tool_response": {}}
        base = {"client": "claude-code", "session_id": "s", **named("Bash"), "payload": payload, "ts": 5}
        return Event(**base, **fields, prompt_id=prompt_id)

    await bench.store.keep(call(1, "p1"), call(2, "p1"), call(3, "p2"), call(4, None))
    await bench.drain()
    assert [item.turn_id for item in bench.backend.items] == ["s/p1", "s/p1", "s/p2", "s/after 0"]
