"""Draining: who is asked about what and when, and what becomes of each verdict."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from workbench import DAY_MS, NOON_MS, Workbench, summary_of

from siftd.consolidate import drain
from siftd.consolidate.drain import DrainResult
from siftd.model import Event
from siftd.store import event_views, resummary_queue, summaries
from siftd.summarise.contract import Cannot, Item, Summary, TryLater, Verdict, cache_key


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


async def test_every_raw_event_gets_a_summary_and_its_status_in_one_go(bench: Workbench) -> None:
    ids = await bench.tell("built the parser", "ran the tests")
    result = await bench.drain()
    assert (result.processed, result.errors, result.first_error) == (2, 0, None)
    assert bench.statuses() == dict.fromkeys(ids, "summarized")
    assert bench.rows(
        "SELECT event_id, model, text, tokens_in, tokens_out, confidence, prompt_hash FROM summaries"
    ) == [
        (ids[0], "scripted:1", "built the parser", 10, 5, 0.8, "prompt of Bash"),
        (ids[1], "scripted:1", "ran the tests", 10, 5, 0.8, "prompt of Bash"),
    ]


async def test_a_backend_gets_batches_of_the_configured_size(tmp_path: Path) -> None:
    async with Workbench(tmp_path, values={"memory.consolidator.batchSize": 3}) as bench:
        await bench.tell(*"abcdefgh")
        await bench.drain()
        assert [len(batch) for batch in bench.backend.batches] == [3, 3, 2]


async def test_full_text_takes_a_batch_as_one_segment(bench: Workbench) -> None:
    """Row by row each is a segment of its own, to be merged: three times the work."""
    await bench.tell(*(f"call {number}" for number in range(3)))
    await bench.drain()
    for table in ("summaries_fts", "summaries_trigrams"):
        assert bench.rows(f"SELECT count(DISTINCT segid) FROM {table}_idx") == [(1,)]


async def test_a_limit_bounds_the_number_and_none_means_all(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(40)))
    assert (await bench.drain(0)).processed == 0
    assert (await bench.drain(7)).processed == 7
    assert (await bench.drain(20)).processed == 20
    assert (await bench.drain()).processed == 13
    assert (await bench.drain()).processed == 0


async def test_a_limit_counts_failures_too(bench: Workbench) -> None:
    await bench.tell(*"abcdef")
    bench.backend.verdict = lambda item: Cannot(reason="no")
    result = await bench.drain(4)
    assert (result.processed, result.errors, len(bench.backend.asked)) == (0, 4, 4)


async def test_the_newest_session_is_summarised_first(bench: Workbench) -> None:
    old = await bench.tell("old 1", "old 2", session="old", ts=NOON_MS - DAY_MS)
    new = await bench.tell("new 1", "new 2", session="new", ts=NOON_MS)
    middle = await bench.tell("middle", session="middle", ts=NOON_MS - 1000)
    await bench.drain()
    assert bench.backend.asked == [*new, *middle, *old]


async def test_a_backfill_of_hundreds_does_not_delay_what_happened_a_minute_ago(bench: Workbench) -> None:
    """It arrives while a slow backend is busy with the backfill: the very next plan has it first."""
    await bench.tell(*(f"old {number}" for number in range(200)), session="old", ts=NOON_MS - DAY_MS)
    live: list[int] = []

    async def happens() -> None:
        bench.clock.forward(2)
        if not live:
            live.extend(await bench.tell("a minute ago", session="live"))

    bench.backend.during = happens
    await bench.drain(batches=2)
    assert bench.backend.batches[1][0] == live[0]


async def test_an_event_of_a_session_that_nobody_knows_is_summarised_among_the_others(bench: Workbench) -> None:
    """A person inserted it. Others that wait for ever must not keep it from its turn."""
    (stuck,) = await bench.tell("stuck")
    bench.by_hand(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json)"
        """ VALUES (5, 'nobody', 'Bash', 'x', '{"tool_input":{"command":"by hand"}}')"""
    )
    bench.backend.verdict = lambda item: Cannot(reason="no") if item.event_id == stuck else summary_of(item)
    await bench.drain()
    assert bench.rows("SELECT text FROM summaries") == [("by hand",)]


async def test_a_deleted_summary_comes_back_from_the_cache_and_nobody_is_asked(bench: Workbench) -> None:
    await bench.tell("one", "two", "three")
    await bench.drain()
    before = bench.rows("SELECT event_id, model, text, prompt_hash, confidence FROM summaries ORDER BY event_id")
    bench.backend.batches.clear()
    bench.by_hand("DELETE FROM summaries", "UPDATE events SET status = 'raw'")
    assert (await bench.drain()).processed == 3
    after = bench.rows("SELECT event_id, model, text, prompt_hash, confidence FROM summaries ORDER BY event_id")
    assert (after, bench.backend.batches) == (before, [])


async def test_the_cache_s_key_is_spelled_as_the_contract_says(bench: Workbench) -> None:
    await bench.tell("one")
    await bench.drain()
    ((input_hash,),) = bench.rows("SELECT input_hash FROM events")
    assert bench.rows("SELECT cache_key, text FROM summary_cache") == [
        (cache_key("scripted:1", "prompt of Bash", input_hash), "one")
    ]


async def test_another_backend_is_asked_in_spite_of_the_cache(bench: Workbench) -> None:
    await bench.tell("one")
    await bench.drain()
    bench.by_hand("UPDATE events SET status = 'raw'")
    bench.backend.name = "scripted:2"
    await bench.drain()
    assert bench.rows("SELECT model FROM summaries ORDER BY id") == [("scripted:1",), ("scripted:2",)]


async def test_the_model_is_who_wrote_it_from_the_cache_too(bench: Workbench) -> None:
    """A model's text that failed its check is replaced: the row names the writer, the repeat is free all the same."""
    await bench.tell("one")
    bench.backend.verdict = lambda item: Summary(text="plain", confidence=0.5, model="extractive:1")
    await bench.drain()
    bench.by_hand("DELETE FROM summaries", "UPDATE events SET status = 'raw'")
    await bench.drain()
    assert bench.rows("SELECT model, text FROM summaries") == [("extractive:1", "plain")]
    assert len(bench.backend.asked) == 1


async def test_try_later_parks_without_using_up_an_attempt_and_opens_the_circuit(bench: Workbench) -> None:
    await bench.tell("one")
    bench.backend.verdict = lambda item: TryLater(reason="the server is away", after_seconds=60)
    for _ in range(5):
        result = await bench.drain()
        bench.circuit.probe()
    assert (result.processed, result.errors, result.first_error) == (0, 1, "the server is away")
    assert bench.rows("SELECT status, attempts, last_error FROM events") == [("raw", 0, "the server is away")]
    assert bench.circuit.last_error == "the server is away"


async def test_an_open_circuit_is_not_asked_until_its_wait_is_over(bench: Workbench) -> None:
    await bench.tell("one")
    bench.backend.verdict = lambda item: TryLater(reason="slow down", after_seconds=60)
    await bench.drain()
    bench.backend.verdict = summary_of
    bench.clock.forward(59)
    assert (await bench.drain()).processed == 0
    bench.clock.forward(1)
    assert (await bench.drain()).processed == 1
    assert bench.rows("SELECT status, last_error FROM events") == [("summarized", None)]
    assert bench.circuit.last_error is None


async def test_each_failure_in_a_row_doubles_the_wait(tmp_path: Path) -> None:
    async with Workbench(tmp_path, values={"memory.fallbackMs": DAY_MS}) as bench:
        await failing_waits(bench)


async def failing_waits(bench: Workbench) -> None:
    await bench.tell("one")
    bench.backend.verdict = lambda item: TryLater(reason="away")
    waits = []
    for _ in range(10):
        await bench.drain()
        waited = 0
        while not bench.circuit.is_closed:
            bench.clock.forward(5)
            waited += 5
        waits.append(waited)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]


async def test_after_three_unusable_answers_the_built_in_text_stands_in_until_somebody_retries(
    bench: Workbench,
) -> None:
    (event_id,) = await bench.tell("one")
    bench.backend.verdict = lambda item: Cannot(reason="the reply is no summary")
    for attempt in (1, 2):
        result = await bench.drain()
        assert (result.errors, result.first_error) == (1, "the reply is no summary")
        assert bench.rows("SELECT status, attempts FROM events") == [("raw", attempt)]
    await bench.drain()
    stands_in = bench.rows("SELECT status, attempts, last_error FROM events")
    assert stands_in == [("summarized", 3, "the reply is no summary")], "the reason is kept"
    ((model, waits_for),) = bench.rows("SELECT model, waits_for FROM summaries")
    assert (model.partition(":")[0], waits_for) == ("extractive", resummary_queue.RETRY)
    assert bench.rows("SELECT count(*) FROM summary_cache") == [(0,)], "an equal event is asked about"
    asked = len(bench.backend.batches)
    assert ((await bench.drain()).errors, len(bench.backend.batches)) == (0, asked), "and nobody is asked for it again"
    assert await bench.store.read(lambda c: resummary_queue.count_fallen_back(c, event_id)) == 1
    await bench.store.write(lambda c: resummary_queue.retry(c, event_id))
    bench.backend.verdict = summary_of
    result = DrainResult()
    await bench.drainer.rewrite(result, goes_on=lambda: True)
    assert result.rewritten == 1
    live = bench.rows("SELECT model FROM summaries WHERE id NOT IN (SELECT older_id FROM summary_supersedes)")
    assert live == [(bench.backend.name,)]


async def test_what_not_even_the_built_in_backend_can_tell_of_is_skipped_and_retry_brings_it_back(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Item) -> Summary:
        raise ValueError("a renderer's defect")

    (event_id,) = await bench.tell("one")
    bench.backend.verdict = lambda item: Cannot(reason="the reply is no summary")
    monkeypatch.setattr(drain, "in_own_words", fail)
    for _ in range(3):
        await bench.drain()
    assert bench.rows("SELECT status, attempts, last_error FROM events") == [("skipped", 3, "the reply is no summary")]
    assert (await bench.drain()).errors == 0
    await bench.store.write(lambda c: summaries.retry(c, event_id))
    bench.backend.verdict = summary_of
    assert (await bench.drain()).processed == 1
    assert bench.statuses() == {event_id: "summarized"}


async def test_half_a_batch_failing_keeps_the_other_half(bench: Workbench) -> None:
    ids = await bench.tell(*"abcdef")
    refused, later = set(ids[:2]), set(ids[2:4])

    def verdict(item: Item) -> Verdict:
        if item.event_id in refused:
            return Cannot(reason="no")
        return TryLater(reason="wait") if item.event_id in later else summary_of(item)

    bench.backend.verdict = verdict
    result = await bench.drain()
    assert (result.processed, result.errors, result.first_error) == (2, 4, "no")
    assert [status for _, status in sorted(bench.statuses().items())] == ["raw"] * 4 + ["summarized"] * 2
    assert bench.circuit.is_closed, "a backend that worked is not left alone"


async def test_a_backend_that_breaks_its_contract_costs_the_event_at_which_it_does(bench: Workbench) -> None:
    ids = await bench.tell(*"abcd")

    def verdict(item: Item) -> Verdict:
        if item.event_id == ids[1]:
            raise ZeroDivisionError("a secret: hunter2")
        return summary_of(item)

    bench.backend.verdict = verdict
    result = await bench.drain()
    assert (result.processed, result.errors) == (3, 1)
    assert bench.rows("SELECT id, last_error FROM events WHERE last_error IS NOT NULL") == [
        (ids[1], "the backend failed (ZeroDivisionError)")
    ]


async def test_a_remote_backend_gets_nothing_while_the_daily_cap_is_zero(bench: Workbench) -> None:
    await bench.tell("one", "two")
    bench.backend.is_remote = True
    result = await bench.drain()
    assert bench.backend.batches == []
    assert (result.processed, result.errors) == (0, 2)
    assert "dailyTokenCap" in (result.first_error or "")
    assert bench.rows("SELECT DISTINCT status, attempts FROM events") == [("raw", 0)]


async def test_the_daily_cap_is_checked_before_each_call_and_ends_with_the_day(tmp_path: Path) -> None:
    """Each call costs 15 tokens: the third begins below the cap of 40, the fourth would not."""
    async with Workbench(tmp_path, daily_token_cap=40) as bench:
        await bench.tell(*"abcdef")
        bench.backend.is_remote = True
        result = await bench.drain()
        assert (result.processed, result.errors) == (3, 3)
        assert bench.rows("SELECT backend, tokens FROM token_spend") == [("scripted:1", 45)]
        bench.circuit.probe()
        assert (await bench.drain()).processed == 0
        bench.clock.forward(86_400)
        bench.circuit.probe()
        assert (await bench.drain()).processed == 3


async def test_what_is_in_the_cache_needs_no_cap(tmp_path: Path) -> None:
    async with Workbench(tmp_path, daily_token_cap=1000) as bench:
        bench.backend.is_remote = True
        await bench.tell("one")
        await bench.drain()
        bench.by_hand("DELETE FROM summaries", "UPDATE events SET status = 'raw'")
        bench.daily_token_cap = 0
        bench.put_together()
        assert (await bench.drain()).processed == 1
        assert bench.rows("SELECT tokens FROM token_spend") == [(15,)]


@pytest.mark.parametrize(
    "broken",
    [
        "'no json'",
        "'[1, 2]'",
        "''",
        "'" + "[" * 5000 + "'",
        """'{"tool_input":{"command":"\\ud800"}}'""",
        "CAST(x'7B22FF22' AS TEXT)",
        "x'00FF'",
    ],
    ids=["no json", "an array", "empty", "deep", "lone surrogate", "not UTF-8", "blob"],
)
async def test_a_payload_broken_by_hand_stops_nobody_else(bench: Workbench, broken: str) -> None:
    ids = await bench.tell("one", "two", "three")
    bench.by_hand(f"UPDATE events SET payload_json = {broken}, input_hash = 'x' WHERE id = {ids[1]}")
    await bench.settle()
    assert bench.statuses() == dict.fromkeys(ids, "summarized")
    payloads = {item.event_id: item.payload for item in bench.backend.items}
    assert payloads[ids[1]] == {}
    assert bench.hits("three")[0] == ids[2]
    shown = event_views.find_event(bench.store.reader, ids[1])
    assert shown is not None
    assert not isinstance(shown["payload"], dict)


async def test_an_event_deleted_while_the_backend_thinks_gets_no_summary(bench: Workbench) -> None:
    ids = await bench.tell("one", "two")

    async def deleted() -> None:
        bench.by_hand(f"DELETE FROM events WHERE id = {ids[0]}")

    bench.backend.during = deleted
    await bench.drain()
    assert bench.rows("SELECT event_id FROM summaries") == [(ids[1],)]


async def test_a_call_is_linked_to_the_prompt_it_served_and_the_backend_is_told_it(bench: Workbench) -> None:
    prompt = Event(
        client="claude-code",
        session_id="s1",
        kind="prompt",
        tool="UserPromptSubmit",
        payload={"prompt": "mend the parser"},
        ts=NOON_MS,
        identity=("prompt", "p1"),
        prompt_id="p1",
    )
    call = msgspec.structs.replace(bench.call("make test"), prompt_id="p1")
    prompt_event, call_event = (receipt.event_id or 0 for receipt in await bench.store.keep(prompt, call))
    await bench.drain()
    assert {item.event_id: item.request for item in bench.backend.items}[call_event] == "mend the parser"
    assert bench.rows("SELECT src_id, dst_id, edge FROM provenance_edges") == [(call_event, prompt_event, "caused_by")]


async def test_identifiers_are_split_into_a_column_of_the_summary(bench: Workbench) -> None:
    await bench.tell("fixed validateToken in src/auth_test.py")
    await bench.drain()
    ((words,),) = bench.rows("SELECT words FROM summaries")
    assert {"validate", "token", "validatetoken", "auth", "test"} <= set(words.split())


async def test_the_payload_that_a_backend_sees_is_the_stored_one(bench: Workbench) -> None:
    await bench.tell("one")
    await bench.drain()
    ((payload_json,),) = bench.rows("SELECT payload_json FROM events")
    assert bench.backend.items[0].payload == json.loads(payload_json)
