"""How a call ended, corrected by its session's file: one event, whatever comes first, whatever is lost on the way."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, opened, rebuilt
from opened_store import OpenedStore
from test_commit import keep_together

from siftd.clients.failed import as_error
from siftd.log.files import RealLogFile
from siftd.log.recovery import iter_records
from siftd.model import Event, Outcome
from siftd.store import turn_summaries
from siftd.store.connection import open_reader
from siftd.store.log_diff import count_differing
from siftd.store.summaries import find_event
from siftd.summarise.extractive import render
from siftd.summarise.items import as_item

OUTPUT = "Traceback (most recent call last):\nAssertionError: expired token accepted\n"
ROW = "SELECT id, outcome, status, input_hash, tokens_est, payload_json FROM events ORDER BY id"


class FullDisk(RealLogFile):
    """A log's file that takes no byte while `is_full`."""

    is_full = False

    def write(self, data: bytes) -> None:
        if type(self).is_full:
            raise OSError(28, os.strerror(28))
        super().write(data)


def told(outcome: Outcome, *, exit_code: int | None = 1, of_file: bool = True, number: int = 1) -> Event:
    answer: dict[str, Any] = {"tool_response": OUTPUT}
    if outcome == "failed":
        answer = {"error": as_error(OUTPUT, exit_code)}
    return Event(
        client="claude-code",
        session_id="s1",
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"command": "python3 -m tests.test_auth"}, **answer},
        ts=NOW - 1_000,
        identity=("tool", f"call_{number}"),
        native_id=f"call_{number}",
        outcome=outcome,
        from_transcript=of_file,
    )


def by_hook(number: int = 1) -> Event:
    return told("ok", of_file=False, number=number)


def kinds(store: OpenedStore) -> list[str]:
    return [each.kind for each in iter_records(store.paths.wal) if each.kind != "segment"]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[OpenedStore]:
    FullDisk.is_full = False
    async with OpenedStore(tmp_path, opener=FullDisk) as opened_store:
        yield opened_store


async def test_what_a_file_says_failed_becomes_what_a_hook_that_knows_would_have_told(
    store: OpenedStore, tmp_path: Path
) -> None:
    await store.keep(by_hook())
    await store.write(lambda c: c.execute("UPDATE events SET status = 'summarized'"))
    (receipt,) = await store.keep(told("failed"))
    assert (receipt.event_id, receipt.is_duplicate) == (1, True)
    async with OpenedStore(tmp_path / "other") as other:
        await other.keep(told("failed"))
        assert store.rows(ROW) == other.rows(ROW), "the same row, and raw again"
    assert kinds(store) == ["capture", "outcome"]
    with closing(open_reader(store.paths.database)) as connection:
        event = find_event(connection, 1)
        assert event is not None
        line = render(as_item(event)).text
        assert line.startswith("`python3 -m tests.test_auth` failed (exit 1): ")
        assert "expired token accepted" in line
        assert count_differing(connection, iter_records(store.paths.wal)) == 0


async def test_the_same_news_twice_is_one_record(store: OpenedStore) -> None:
    await store.keep(by_hook())
    await store.keep(told("failed"))
    before = store.rows(ROW)
    await store.keep(told("failed"))
    await store.keep(told("ok"))
    assert store.rows(ROW) == before
    assert kinds(store) == ["capture", "outcome"]


async def test_hook_and_file_in_one_group_are_one_event_that_failed(store: OpenedStore) -> None:
    receipts = await keep_together(store, by_hook(), told("failed"), told("failed"))
    assert [each.event_id for each in receipts] == [1, 1, 1]
    assert [row[:2] for row in store.rows(ROW)] == [(1, "failed")]
    assert kinds(store) == ["capture", "outcome"]


async def test_a_hook_that_comes_after_the_file_makes_nothing_well(store: OpenedStore) -> None:
    await store.keep(told("failed"))
    await store.keep(by_hook())
    assert [row[:2] for row in store.rows(ROW)] == [(1, "failed")]
    assert kinds(store) == ["capture"]


async def test_an_interrupted_call_keeps_what_it_printed(store: OpenedStore) -> None:
    await store.keep(by_hook())
    before = store.rows(ROW)[0]
    await store.keep(told("interrupted"))
    after = store.rows(ROW)[0]
    assert (before[1], after[1]) == ("ok", "interrupted")
    assert after[3:] == before[3:]


async def test_what_was_told_of_the_turn_is_told_anew(store: OpenedStore) -> None:
    await store.keep(by_hook(), by_hook(2))

    def tell(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE events SET status = 'summarized'")
        for event_id in (1, 2):
            connection.execute(
                "INSERT INTO summaries (id, event_id, ts, model, prompt_hash, text) VALUES (?1, ?1, 1, 'm', 'p', 'ok')",
                (event_id,),
            )
        turn_summaries.cite(connection, 2, [1], 1)

    await store.write(tell)
    await store.keep(told("failed"))
    assert [row[2] for row in store.rows(ROW)] == ["raw", "raw"]
    assert store.rows("SELECT count(*) FROM summaries") == [(0,)]


STEPS = sorted(set(permutations(("hook", "file", "file", "replay"))))


@pytest.mark.parametrize("steps", STEPS, ids="-".join)
async def test_in_whatever_order_it_is_one_event_that_failed(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """`replay`: the store is opened anew, and applies the log from its beginning."""
    cut = steps.index("replay")
    for part in (steps[:cut], steps[cut + 1 :]):
        async with OpenedStore(tmp_path) as store:
            for step in part:
                await store.keep(by_hook() if step == "hook" else told("failed"))
            await store.write(lambda c: c.execute("UPDATE meta SET value = '0' WHERE key = 'applied_seq'"))
    async with OpenedStore(tmp_path) as store:
        assert [(row[1], json.loads(row[5])["error"]) for row in store.rows(ROW)] == [("failed", as_error(OUTPUT, 1))]
        assert kinds(store).count("outcome") == (steps.index("hook") < steps.index("file"))


@pytest.mark.parametrize("replays", [1, 2])
async def test_news_that_the_log_alone_has_is_applied_by_the_replay(tmp_path: Path, replays: int) -> None:
    """As after a crash between the record and the row."""
    async with OpenedStore(tmp_path) as store:
        await store.keep(by_hook())
        person = store.by_hand()
        person.execute("BEGIN IMMEDIATE")
        await store.keep(told("failed"))
        assert kinds(store) == ["capture", "outcome"]
        assert [row[1] for row in store.rows(ROW)] == ["ok"]
        person.execute("ROLLBACK")
    for _ in range(replays):
        async with OpenedStore(tmp_path) as store:
            assert [row[:3] for row in store.rows(ROW)] == [(1, "failed", "raw")]
            before = store.rows(ROW)
            await store.write(lambda c: c.execute("UPDATE meta SET value = '0' WHERE key = 'applied_seq'"))
    async with OpenedStore(tmp_path) as store:
        assert store.rows(ROW) == before, "a replay from the beginning changes nothing"


async def test_news_that_the_log_refuses_is_told_again(store: OpenedStore) -> None:
    await store.keep(by_hook())
    FullDisk.is_full = True
    (receipt,) = await store.keep(told("failed"))
    assert receipt.error is not None, "whoever follows the file comes again"
    FullDisk.is_full = False
    await store.keep(told("failed"))
    assert [row[:2] for row in store.rows(ROW)] == [(1, "failed")]


async def keep(memory: Memory, *events: Event) -> None:
    for each in events:
        receipt = await memory.services.committer.keep(memory.services.intake.admit(each), way="read")
        assert receipt.error is None


@pytest.mark.parametrize("wish", [{"ids": ["e1", "e3"]}, {"session": "s1"}, {"since": 1, "until": NOW}])
async def test_a_forgotten_call_is_not_corrected_and_its_news_goes_with_it(
    tmp_path: Path, wish: dict[str, Any]
) -> None:
    async with opened(tmp_path) as memory:
        await keep(memory, by_hook(), told("failed"), by_hook(2))
        await memory.ask("forget", **wish, dryRun=False)
        await keep(memory, told("failed", number=2))
        assert await memory.rows("SELECT count(*) FROM events") == [(0,)]
        left = [each.kind for each in iter_records(memory.services.storage.paths.wal)]
        assert "outcome" not in left
        assert "capture" not in left


async def test_a_rebuild_tells_it_as_failed(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await keep(memory, by_hook(), told("failed"))
        before = await memory.rows(ROW)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        after = await memory.rows(ROW)
        assert [row[:2] for row in after] == [(1, "failed")]
        assert [row[3:] for row in after] == [row[3:] for row in before]
        assert json.loads(after[0][5])["error"].startswith("Exit code 1\n")
