"""Loops of the background that a damaged page, a person's row, a loud client or a server's nonsense must not hold."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest
from model_server import KINDS, Kind, Reply, needs_library, running, said
from opened_memory import DAY, NOW, opened
from structlog.testing import capture_logs
from workbench import Workbench, nobody

from siftd.consolidate.indexing import RawIndexer
from siftd.errors import StoreCorrupt
from siftd.store import event_index
from siftd.store.ids import ID_MAX
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

ENOUGH_SECONDS = 60
"""For what ended never."""


def damage_a_leaf_of_events(database: Path) -> None:
    """Zero half a page, as a lost disk block does, so that an index still lists events whose rows are gone."""
    whole = database.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    for start in range(size, len(whole), size):
        database.write_bytes(whole[: start + size // 2] + bytes(size // 2) + whole[start + size :])
        connection = sqlite3.connect(database)
        try:
            ids = event_index.list_unindexed(connection, ID_MAX, 64)
            rows = [event_index.find_payload(connection, each) for each in ids]
        except sqlite3.Error:
            continue
        finally:
            connection.close()
        if ids and None in rows:
            return
    raise AssertionError("no page is such a leaf")


async def test_a_damaged_page_ends_the_indexing_and_has_the_database_set_aside(tmp_path: Path) -> None:
    """Events that only an index knows are never indexed; a loop until nothing is left would go on for ever."""
    async with opened(tmp_path) as memory:
        for number in range(60):
            await memory.capture(number, payload={"tool_input": {"command": f"make part{number} " + "x" * 600}})
        before = await memory.rows("SELECT id, payload_json FROM events ORDER BY id")
    paths = Home(str(tmp_path / "home")).for_workspace(find_workspace(str(tmp_path)).key)
    for suffix in ("-wal", "-shm"):
        assert not Path(f"{paths.database}{suffix}").exists()
    damage_a_leaf_of_events(Path(paths.database))
    async with opened(tmp_path) as memory:
        with anyio.fail_after(ENOUGH_SECONDS), capture_logs() as logs:
            await memory.services.consolidator.tick()
            memory.clock.at += DAY
            with pytest.raises(StoreCorrupt):
                await memory.ask("drain")
        assert {"event": "tick_failed", "stage": "supersede", "error": "store_corrupt", "log_level": "warning"} in logs
        assert Path(paths.rebuild).exists()
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id, payload_json FROM events ORDER BY id") == before
        await memory.ask("drain")


async def test_a_stage_that_fails_costs_no_other_of_the_tick(tmp_path: Path) -> None:
    """What was forgotten is erased by the maintenance, whatever a model server says."""
    done: list[str] = []
    async with Workbench(tmp_path) as bench:
        await bench.tell("one")

        async def overflow() -> None:
            raise OverflowError

        async def keep_up() -> None:
            done.append("maintained")

        bench.drainer.drain = lambda *_, **__: overflow()  # type: ignore[assignment, method-assign, misc]
        bench.keep_up = keep_up  # type: ignore[method-assign]
        with capture_logs() as logs:
            await bench.consolidator.tick()
    assert done == ["maintained"]
    assert [each["stage"] for each in logs if each["event"] == "tick_failed"] == ["summarise"]


async def test_a_watermark_that_is_no_number_is_begun_anew(tmp_path: Path) -> None:
    async with Workbench(tmp_path) as bench:
        await bench.tell("the same", "the same")
        bench.by_hand("INSERT INTO meta VALUES ('superseded_upto_change', 'x')")
        await bench.consolidator.drain(None, nobody)
        assert bench.rows("SELECT count(*) FROM summary_supersedes") == [(1,)]


@pytest.mark.parametrize("count", [10**30, -(10**30)])
@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
async def test_tokens_that_no_model_can_have_counted_are_neither_stored_nor_given_back(
    tmp_path: Path, kind: Kind, count: int
) -> None:
    """The database has no such number, and a negative one would lower what was spent of the cap."""
    needs_library(kind)

    def nonsense(_: dict[str, Any]) -> Reply:
        status, headers, body = kind.reply(said("Ran `one`."))

        def twisted(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: twisted(item) for key, item in value.items()}
            return count if isinstance(value, int) and not isinstance(value, bool) and value > 1 else value

        return status, headers, twisted(body)

    async with running() as server, Workbench(tmp_path) as bench:
        server.choose = nonsense
        bench.backend = kind.backend(server.url, 5.0)  # type: ignore[assignment]
        bench.put_together()
        await bench.tell("one")
        await bench.consolidator.drain(None, nobody)
        assert bench.rows("SELECT status FROM events") == [("summarized",)]
        ((least,),) = bench.rows("SELECT min(tokens_in + tokens_out) FROM summaries")
        assert least >= 0
        assert bench.rows("SELECT count(*) FROM token_spend WHERE tokens < 0") == [(0,)]


async def test_a_client_that_never_stops_keeps_neither_tick_nor_drain_from_ending(tmp_path: Path) -> None:
    """Each reading finds another capture; what was there when the work began is what it ends with."""
    async with Workbench(tmp_path, values={"memory.consolidator.tickMs": 1000}) as bench:
        await bench.tell("one", "two", "three")
        read, calls = bench.store.read, 0

        async def read_and_capture(work: Any) -> Any:
            nonlocal calls
            calls += 1
            bench.clock.forward(0.01)
            await bench.tell(f"more {calls}")
            return await read(work)

        bench.store.read = read_and_capture  # type: ignore[method-assign, assignment]
        with anyio.fail_after(ENOUGH_SECONDS):
            assert await RawIndexer(bench.store).run_all()
            await bench.consolidator.tick()
            result = await bench.consolidator.drain(None, nobody)
        assert 0 < result.processed < calls


@pytest.mark.parametrize("event_id", [1_763_765_000_000, 2**62, 2**63 - 1])
async def test_a_row_with_an_enormous_id_costs_nothing_and_stops_nothing(tmp_path: Path, event_id: int) -> None:
    """A person inserted it with a time for an id. Ids that nobody has are not gone through one by one."""
    names = "id, ts, session_id, tool, input_hash, payload_json"
    row = f"INSERT INTO events ({names}) VALUES (?, ?, 's', 'Bash', 'h', '{{}}')"
    async with opened(tmp_path) as memory:
        first = await memory.capture(1)
        await memory.by_hand(row, event_id, NOW)
        with anyio.fail_after(ENOUGH_SECONDS):
            await memory.ask("drain")
            second = await memory.capture(2)
            await memory.services.consolidator.tick()
            await memory.ask("forget", ids=[f"e{first}"], dryRun=False)
        assert first < second
    async with opened(tmp_path) as memory:
        third = await memory.capture(3)
        assert second < third < 2**63 - 1
        assert third < ID_MAX
        assert await memory.rows("SELECT id FROM events ORDER BY id") == sorted([(second,), (third,), (event_id,)])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET ts = '2026-01-01'",
        "UPDATE events SET ts = x'00'",
        "UPDATE sessions SET last_ts = '2026-01-01 10:00'",
        "UPDATE summaries SET confidence = 'high'",
        "UPDATE summaries SET ts = 'yesterday'",
        "UPDATE facts SET updated_ts = '2026-01-01'",
        "UPDATE facts SET importance = 'very'",
        "UPDATE facts SET valid_to = 'never'",
    ],
)
async def test_a_date_typed_as_text_ends_neither_the_daemon_nor_a_search(tmp_path: Path, statement: str) -> None:
    async with opened(tmp_path) as memory:
        for number in range(3):
            await memory.capture(number)
        await memory.ask("remember", text="Sessions expire after part1 minutes", pin=True)
        await memory.ask("drain")
        await memory.by_hand(statement)
        await memory.services.injector.keep()
        assert (await memory.ask("search", query="part1"))["hits"]
        await memory.ask("recall", prompt="what became of part1, was it built")
        for kind in ("timeline", "sessions", "memories", "conversations"):
            listed = next(each for each in (await memory.ask(kind)).values() if isinstance(each, list))
            times = [value for row in listed for name, value in row.items() if name.lower().endswith("ts")]
            assert listed
            assert all(isinstance(each, int | None) for each in times), (kind, times)
        await memory.services.consolidator.tick()
        await memory.capture(9)


async def test_a_date_typed_as_text_becomes_the_time_that_it_means(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        await memory.by_hand("UPDATE events SET ts = '2026-01-01'")
        await memory.services.consolidator.tick()
        assert await memory.rows("SELECT ts FROM events") == [(1_767_225_600_000,)]
