"""The tick, and the drain that a person asks for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs
from workbench import Workbench, nobody, summary_of

from siftd.consolidate.drain import DrainResult
from siftd.summarise.contract import TryLater


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path, values={"memory.consolidator.tickMs": 1000}) as opened:
        yield opened


@contextlib.asynccontextmanager
async def ticking(bench: Workbench) -> AsyncIterator[asyncio.Event]:
    """Run the ticks; the event is set when the second begins, so that the first is over."""
    again = asyncio.Event()
    take_spool = bench.take_spool

    async def counted() -> None:
        await take_spool()
        if bench.spooled > 1:
            again.set()

    bench.take_spool = counted  # type: ignore[method-assign]
    task = asyncio.ensure_future(bench.consolidator.run())
    try:
        yield again
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_drain_reports_what_it_did(bench: Workbench) -> None:
    ids = await bench.tell("one", "two", "three")
    bench.backend.verdict = lambda item: TryLater(reason="away") if item.event_id == ids[2] else summary_of(item)
    result = await bench.consolidator.drain(None, nobody)
    assert (result.processed, result.errors, result.embedded, result.pending) == (2, 1, 2, 1)
    assert (result.first_error, bench.spooled) == ("away", 1)


async def test_a_drain_with_a_limit_leaves_the_rest_pending(bench: Workbench) -> None:
    await bench.tell(*"abcdef")
    result = await bench.consolidator.drain(4, nobody)
    assert (result.processed, result.pending) == (4, 2)


async def test_a_drain_tells_how_far_it_is_after_each_batch(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(40)))
    seen: list[int] = []

    async def on_batch(result: DrainResult) -> None:
        seen.append(result.processed)

    await bench.consolidator.drain(None, on_batch)
    assert seen == [16, 32, 40]


async def test_a_person_who_asks_now_is_not_told_to_wait_for_the_circuit(bench: Workbench) -> None:
    await bench.tell("one")
    bench.circuit.open("away", 3600)
    assert (await bench.consolidator.drain(None, nobody)).processed == 1


async def test_two_drains_do_not_do_the_same_twice(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(40)))
    results = await asyncio.gather(*(bench.consolidator.drain(None, nobody) for _ in range(2)))
    assert sorted(result.processed for result in results) == [0, 40]
    assert len(bench.backend.asked) == 40


async def test_superseding_is_done_at_most_once_in_its_period(bench: Workbench) -> None:
    async def drained() -> int:
        await bench.tell("the same", "the same")
        await bench.consolidator.drain(None, nobody)
        return int(bench.rows("SELECT count(*) FROM summary_supersedes")[0][0])

    assert await drained() == 1
    bench.clock.forward(299)
    assert await drained() == 1
    bench.clock.forward(1)
    assert await drained() == 5


async def test_superseding_that_needs_more_than_its_share_of_a_tick_goes_on_at_the_next(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siftd.consolidate.superseding._SLICE_MAX", 16)
    await bench.tell(*["the same"] * 40)
    superseder = bench.superseder
    find_pairs = superseder.find_pairs
    looked = []

    async def slow() -> tuple[list[tuple[int, int, float]], int, bool]:
        bench.clock.forward(0.1)
        looked.append(await find_pairs())
        return looked[-1]

    superseder.find_pairs = slow  # type: ignore[method-assign]
    await bench.consolidator.tick()
    assert len(looked) == 2, "its share of a tick's second"
    await bench.consolidator.tick()
    assert looked[-1][-1], "everything is compared"
    await bench.consolidator.tick()
    assert len(looked) == 3, "and now it is not due for a while"


async def test_a_slow_backend_with_more_to_do_leaves_vectors_and_superseding_their_turn(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(64)))

    async def slow() -> None:
        bench.clock.forward(5)

    bench.backend.during = slow
    await bench.consolidator.tick()
    assert len(bench.backend.asked) == 16
    assert bench.rows("SELECT count(*) FROM summary_embeddings") == [(16,)]
    compared = "SELECT count(*) FROM meta WHERE key = 'superseded_upto_change' AND CAST(value AS INTEGER) >= 16"
    assert bench.rows(compared) == [(1,)]


async def test_a_stopped_consolidator_finishes_its_batch_and_begins_no_other(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(40)))

    async def stop() -> None:
        bench.consolidator.stop()

    bench.backend.during = stop
    result = await bench.consolidator.drain(None, nobody)
    await bench.consolidator.finished()
    assert (result.processed, result.embedded, bench.consolidator.is_stopping) == (16, 0, True)


@pytest.mark.slow
async def test_a_tick_takes_the_spool_in_and_brings_everything_up_to_date(bench: Workbench) -> None:
    bench.by_hand(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json)"
        """ VALUES (5, 'nobody', 'Edit', 'x', '{"tool_input":{"command":"by hand","file_path":"/src/a.py"}}')"""
    )
    await bench.tell(*(f"call {number}" for number in range(40)))
    with anyio.fail_after(10):
        async with ticking(bench) as again:
            await again.wait()
    assert set(bench.statuses().values()) == {"summarized"}
    assert bench.rows("SELECT count(*) FROM summary_embeddings") == [(41,)]
    assert bench.hits("by hand", file="src/a.py") == [1]


@pytest.mark.slow
async def test_a_tick_ends_when_its_share_of_time_is_over(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(64)))

    async def slow() -> None:
        bench.clock.forward(0.3)

    bench.backend.during = slow
    with anyio.fail_after(10):
        async with ticking(bench) as again:
            while len(bench.backend.batches) < 2:
                await anyio.sleep(0)
            await bench.consolidator.finished()
            assert (len(bench.backend.batches), again.is_set()) == (2, False)


@pytest.mark.slow
async def test_a_fault_in_a_tick_is_told_and_the_next_tick_goes_on(bench: Workbench) -> None:
    await bench.tell("one")
    faults = iter([RuntimeError("captured text: hunter2")])

    async def failing() -> None:
        bench.spooled += 1
        if (fault := next(faults, None)) is not None:
            raise fault

    bench.take_spool = failing  # type: ignore[method-assign]
    with capture_logs() as logs, anyio.fail_after(10):
        async with ticking(bench) as again:
            await again.wait()
            await bench.consolidator.finished()
    assert bench.statuses() == {1: "summarized"}
    assert [entry for entry in logs if entry["event"] == "tick_failed"] == [
        {"event": "tick_failed", "stage": "take in", "error": "RuntimeError", "log_level": "error"}
    ]
    assert "hunter2" not in str(logs)


@pytest.mark.slow
async def test_what_was_captured_is_indexed_soon_after(bench: Workbench) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bench.consolidator.run_indexer)
        with anyio.fail_after(10):
            for text in ("zebra", "okapi"):
                await bench.tell(text)
                bench.consolidator.note_capture()
                while not bench.hits(text):
                    await anyio.sleep(0.01)
        bench.consolidator.stop()


@pytest.mark.slow
async def test_an_index_that_cannot_be_written_for_a_while_is_said_once_and_caught_up(bench: Workbench) -> None:
    person = bench.store.by_hand()
    with capture_logs() as logs, anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            await bench.tell("zebra")
            person.execute("BEGIN IMMEDIATE")
            tries = count_tries(bench)
            tasks.start_soon(bench.consolidator.run_indexer)
            while len(tries) < 3:
                bench.consolidator.note_capture()
                await anyio.sleep(0.01)
            person.execute("ROLLBACK")
            person.close()
            while not bench.hits("zebra"):
                bench.consolidator.note_capture()
                await anyio.sleep(0.01)
            bench.consolidator.stop()
            bench.consolidator.note_capture()
    assert [entry["event"] for entry in logs] == ["indexing_failed"]


def count_tries(bench: Workbench) -> list[None]:
    """Return a list that grows with each run of the indexer."""
    tries: list[None] = []
    run = bench.indexer.run

    async def counted() -> int:
        tries.append(None)
        return await run()

    bench.indexer.run = counted  # type: ignore[method-assign]
    return tries


async def test_a_lock_held_by_a_person_fails_one_drain_and_loses_nothing(bench: Workbench) -> None:
    from siftd.errors import StoreError

    await bench.tell("one")
    person = bench.store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError):
        await bench.consolidator.drain(None, nobody)
    person.execute("ROLLBACK")
    person.close()
    assert (await bench.consolidator.drain(None, nobody)).processed == 1
