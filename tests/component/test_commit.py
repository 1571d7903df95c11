"""The committer over a real log and a real database."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from opened_store import OpenedStore, left_out
from structlog.testing import capture_logs

from siftd.errors import DiskFull, EnvelopeRejected, LogBroken, StoreError
from siftd.log.files import RealLogFile
from siftd.log.recovery import iter_records
from siftd.model import Event, SessionChange


class FaultyFile(RealLogFile):
    """A log's file whose calls fail while a fault is set."""

    faults: dict[str, int]
    syncs: int

    def write(self, data: bytes) -> None:
        if (fault := self.faults.get("write")) is not None:
            super().write(data[: len(data) // 2])
            raise OSError(fault, os.strerror(fault))
        super().write(data)

    def sync(self) -> None:
        type(self).syncs += 1
        if (fault := self.faults.get("sync")) is not None:
            raise OSError(fault, os.strerror(fault))
        super().sync()

    def truncate(self, size: int) -> None:
        if (fault := self.faults.get("truncate")) is not None:
            raise OSError(fault, os.strerror(fault))
        super().truncate(size)


@pytest.fixture
def disk() -> type[FaultyFile]:
    """The files of one test's log, their faults and the number of their syncs."""

    class Disk(FaultyFile):
        faults: dict[str, int] = {}  # noqa: RUF012
        syncs = 0

    return Disk


@pytest.fixture
async def store(tmp_path: Path, disk: type[FaultyFile]) -> AsyncIterator[OpenedStore]:
    async with OpenedStore(tmp_path, opener=disk) as opened:
        yield opened


def call(tool_use_id: str, command: str = "ls", *, session: str = "s1", transcript: bool = False, **more: Any) -> Event:
    return Event(
        client="claude-code",
        session_id=session,
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"command": command}, "tool_response": {"stdout": ""}},
        ts=1000,
        identity=("tool", tool_use_id),
        native_id=tool_use_id,
        outcome="ok",
        from_transcript=transcript,
        **more,
    )


def prompt(text: str, *, session: str = "s1", occurrence: int | None = None) -> Event:
    """A prompt of a client that gives it no id."""
    return Event(
        client="claude-code",
        session_id=session,
        kind="prompt",
        tool="UserPromptSubmit",
        payload={"prompt": text},
        ts=1000,
        identity=("prompt", text),
        occurrence=occurrence,
        from_transcript=occurrence is not None,
    )


async def stall(store: OpenedStore) -> Callable[[], None]:
    """Keep the committer's thread busy until what is returned is called, so that captures gather behind it."""
    import threading

    entered, gate = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def wait(_: object) -> None:
        loop.call_soon_threadsafe(entered.set)
        gate.wait(10)

    blocked = loop.create_task(store.committer.run(wait))
    await entered.wait()

    def go_on() -> None:
        gate.set()
        blocked.add_done_callback(lambda task: task.result())

    return go_on


async def keep_together(store: OpenedStore, *events: Event | SessionChange) -> list[Any]:
    go_on = await stall(store)
    kept = asyncio.ensure_future(store.keep(*events))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    go_on()
    return await kept


def logged(store: OpenedStore) -> list[int]:
    return [record.seq for record in iter_records(store.paths.wal)]


async def test_captures_that_wait_together_share_one_sync(store: OpenedStore, disk: type[FaultyFile]) -> None:
    before = disk.syncs
    receipts = await keep_together(store, *(call(f"t{number}") for number in range(50)))
    assert [receipt.event_id for receipt in receipts] == list(range(1, 51))
    assert disk.syncs - before == 1
    assert [row[0] for row in store.rows()] == list(range(1, 51))
    assert logged(store) == list(range(1, 51))


async def test_a_frame_that_is_delivered_twice_is_one_row(store: OpenedStore) -> None:
    event = prompt("hello")
    [first] = await store.keep(event, frame_uid="f1")
    [again] = await store.keep(event, frame_uid="f1")
    [other] = await store.keep(event, frame_uid="f2")
    assert (first.is_duplicate, again.is_duplicate, other.is_duplicate) == (False, True, False)
    assert again.event_id == first.event_id
    assert len(store.rows()) == 2


async def test_the_natural_uid_makes_hook_and_transcript_one_row(store: OpenedStore) -> None:
    [live] = await store.keep(call("t1"), frame_uid="f1")
    [read] = await store.keep(call("t1", transcript=True))
    assert (read.event_id, read.is_duplicate) == (live.event_id, True)


@pytest.mark.parametrize("together", [True, False])
async def test_a_tool_use_id_that_comes_back_with_another_input_is_a_new_event(
    store: OpenedStore, together: bool
) -> None:
    events = [call("t1", "ls"), call("t1", "pwd"), call("t1", "ls")]
    if together:
        receipts = await keep_together(store, *events)
    else:
        receipts = [(await store.keep(event))[0] for event in events]
    assert [receipt.is_duplicate for receipt in receipts] == [False, False, True]
    assert receipts[2].event_id == receipts[0].event_id
    assert len(store.rows()) == 2


@pytest.mark.parametrize("together", [True, False])
async def test_what_a_fork_copied_is_skipped(store: OpenedStore, together: bool) -> None:
    events = [call("t1"), call("t1", session="s2", transcript=True), call("t1", "pwd", session="s2", transcript=True)]
    if together:
        receipts = await keep_together(store, *events)
    else:
        receipts = [(await store.keep(event))[0] for event in events]
    assert [receipt.is_duplicate for receipt in receipts] == [False, True, False]


async def test_a_live_call_is_never_taken_for_a_forks_copy(store: OpenedStore) -> None:
    receipts = await store.keep(call("t1"), call("t1", session="s2"))
    assert not any(receipt.is_duplicate for receipt in receipts)


async def test_prompts_without_an_id_are_told_apart_by_counting(store: OpenedStore) -> None:
    live = await store.keep(prompt("go on"), prompt("go on"))
    read = await store.keep(*(prompt("go on", occurrence=number) for number in (1, 2, 3)))
    assert [receipt.is_duplicate for receipt in live] == [False, False]
    assert [receipt.is_duplicate for receipt in read] == [True, True, False]


async def steps_of(store: OpenedStore, event: Event) -> int:
    """Return how many instructions of SQLite's machine it takes to keep an event."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    await store.write(lambda c: c.set_progress_handler(count, 1))
    await store.keep(event)
    await store.write(lambda c: c.set_progress_handler(None, 1))
    return steps


@pytest.mark.slow
async def test_a_prompt_costs_no_more_for_the_equal_ones_before_it(store: OpenedStore) -> None:
    """Who says "continue" all day pays the same each time; the uids are those of a transcript's count."""
    await store.keep(*[prompt("go on")] * 20)
    before = await steps_of(store, prompt("go on"))
    await store.keep(*[prompt("go on")] * 1_500)
    assert await steps_of(store, prompt("go on")) < 1.5 * before
    read = await store.keep(*(prompt("go on", occurrence=number) for number in range(1, 1_524)))
    assert [receipt.is_duplicate for receipt in read] == [True] * 1_522 + [False]
    [again] = await store.keep(prompt("go on"))
    assert (again.is_duplicate, store.rows("SELECT count(DISTINCT uid) FROM events")) == (False, [(1_524,)])


async def test_a_prompt_is_kept_though_an_equal_earlier_one_was_deleted_by_hand(store: OpenedStore) -> None:
    await store.keep(prompt("go on"), prompt("go on"))
    store.by_hand().execute("DELETE FROM events WHERE id = 1")
    [receipt] = await store.keep(prompt("go on"))
    assert not receipt.is_duplicate
    assert [row[0] for row in store.rows()] == [2, 3]


async def test_a_locked_database_leaves_the_log_alone_and_catches_up(store: OpenedStore) -> None:
    await store.keep(call("t1"))
    person = store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    with capture_logs() as logs:
        receipts = await store.keep(call("t2"), call("t3"))
        [again] = await store.keep(call("t3"))
        copied = await store.keep(call("t2", session="s2", transcript=True))
    assert [receipt.event_id for receipt in receipts] == [2, 3]
    assert (again.event_id, again.is_duplicate, copied[0].event_id) == (3, True, 2)
    assert store.committer.is_behind
    assert len(store.rows()) == 1
    assert logged(store) == [1, 2, 3]
    assert [line["event"] for line in logs] == ["store_behind"]
    person.execute("ROLLBACK")
    await store.keep(call("t4"))
    assert not store.committer.is_behind
    assert [row[0] for row in store.rows()] == [1, 2, 3, 4]


async def test_a_job_says_that_the_database_is_locked(store: OpenedStore) -> None:
    person = store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError):
        await store.committer.run(lambda connection: connection.execute("DELETE FROM events"))
    person.execute("ROLLBACK")


def insert_by_hand(person: Any, count: int) -> None:
    for _ in range(count):
        person.execute(
            "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (1, 'hand', 'Note', 'h', '{}')"
        )


async def test_a_row_inserted_by_hand_takes_the_next_id(store: OpenedStore) -> None:
    await store.keep(call("t1"))
    insert_by_hand(store.by_hand(), 2)
    [receipt] = await store.keep(call("t2"))
    assert receipt.event_id == 4
    assert [(row[0], row[1]) for row in store.rows()] == [(1, "s1"), (2, "hand"), (3, "hand"), (4, "s1")]


async def test_rows_inserted_under_a_lock_make_way_for_what_the_log_took_meanwhile(store: OpenedStore) -> None:
    person = store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    await store.keep(call("t1"), call("t2"))
    insert_by_hand(person, 3)
    person.execute("INSERT INTO summaries (event_id, ts, model, prompt_hash, text) VALUES (2, 1, 'm', 'p', 'by hand')")
    person.execute("COMMIT")
    [receipt] = await keep_together(store, call("t3"))
    rows = store.rows()
    assert [row[0] for row in rows if row[1] == "s1"] == [1, 2, receipt.event_id]
    assert sum(row[1] == "hand" for row in rows) == 3
    owner = store.rows("SELECT e.session_id FROM summaries s JOIN events e ON e.id = s.event_id")
    assert owner == [("hand",)]
    insert_by_hand(person, 1)
    assert len(store.rows()) == 7


async def test_two_rows_in_the_way_of_one_group_both_make_way(store: OpenedStore) -> None:
    await store.write(lambda connection: insert_by_hand(connection, 2))

    def take_their_ids(connection: Any) -> None:
        from siftd.log.record import record_of
        from siftd.store.events import replay_records

        admitted = [store.intake.admit(call("t1")), store.intake.admit(call("t2"))]
        replay_records(connection, [record_of(each, seq, f"u{seq}") for seq, each in enumerate(admitted, 1)], left_out)

    await store.write(take_their_ids)
    assert [(row[0], row[1]) for row in store.rows()] == [(1, "s1"), (2, "s1"), (3, "hand"), (4, "hand")]
    [receipt] = await store.keep(call("t3"))
    assert receipt.event_id == 5


async def test_a_full_disk_refuses_and_later_captures_succeed(store: OpenedStore, disk: type[FaultyFile]) -> None:
    await store.keep(call("t1"))
    size = store.committer.log_bytes
    disk.faults["write"] = errno.ENOSPC
    with capture_logs():
        [refused] = await store.keep(call("t2"), frame_uid="f2")
    assert isinstance(refused.error, DiskFull)
    assert store.committer.refusing == "disk_full", "`mem info` says so"
    assert Path(store.paths.wal).stat().st_size == size
    disk.faults.clear()
    [kept] = await store.keep(call("t2"), frame_uid="f2")
    assert not kept.is_duplicate
    assert store.committer.refusing is None
    assert len(store.rows()) == 2
    assert logged(store)[-1] == kept.event_id


async def test_a_repeat_of_what_was_refused_is_refused_too(store: OpenedStore, disk: type[FaultyFile]) -> None:
    await store.keep(call("t0"))
    go_on = await stall(store)
    disk.faults["write"] = errno.ENOSPC
    kept = asyncio.ensure_future(store.keep(call("t0"), call("t1"), call("t1")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    go_on()
    with capture_logs():
        known, first, again = await kept
    assert known.is_duplicate
    assert isinstance(first.error, DiskFull)
    assert isinstance(again.error, DiskFull)


async def test_a_half_written_line_that_cannot_be_cut_off_harms_no_later_record(
    store: OpenedStore, disk: type[FaultyFile]
) -> None:
    await store.keep(call("t1"))
    disk.faults.update(write=errno.ENOSPC, truncate=errno.EIO)
    with capture_logs():
        [refused] = await store.keep(call("t2"))
    assert refused.error is not None
    disk.faults.clear()
    [kept] = await store.keep(call("t3"))
    assert logged(store) == [1, kept.event_id]


async def test_after_a_failed_sync_the_log_goes_on_in_a_new_segment(store: OpenedStore, disk: type[FaultyFile]) -> None:
    await store.keep(call("t1"))
    disk.faults["sync"] = errno.EIO
    with capture_logs():
        [refused] = await store.keep(call("t2"))
        assert isinstance(refused.error, LogBroken)
        disk.faults = {"write": errno.ENOSPC}
        await store.keep(call("t3"))
        [still] = await store.keep(call("t3"))
        assert isinstance(still.error, DiskFull)
    disk.faults = {}
    [kept] = await store.keep(call("t4"))
    assert kept.error is None
    assert logged(store)[-1] == kept.event_id
    assert logged(store)[0] == 1
    assert [row[0] for row in store.rows()] == [1, kept.event_id]


@pytest.mark.parametrize("faults", [{"sync": errno.EIO}, {"sync": errno.EIO, "truncate": errno.EIO}])
async def test_no_byte_stays_of_what_a_failed_sync_refused(
    store: OpenedStore, disk: type[FaultyFile], faults: dict[str, int]
) -> None:
    """Not even where the segment cannot be cut back: its good part is copied and takes its place."""
    await store.keep(call("t1", "good-one"))
    disk.faults.update(faults)
    with capture_logs():
        [refused] = await store.keep(call("t2", "refused-one"))
    assert isinstance(refused.error, LogBroken)
    disk.faults.clear()
    segments = [each.read_bytes() for each in Path(store.paths.folder).glob("wal*")]
    assert sum(b"good-one" in each for each in segments) == 1
    assert not any(b"refused-one" in each for each in segments)
    await store.keep(call("t3", "next-one"))
    assert logged(store) == [1, 3]


async def test_nothing_is_appended_behind_what_was_refused_and_cannot_be_taken_back(
    store: OpenedStore, disk: type[FaultyFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the database catch up from such a log; once the disk is well again all goes on."""

    def fail(path: Path, data: bytes) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    await store.keep(call("t1"))
    person = store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    with capture_logs(), monkeypatch.context() as patched:
        await store.keep(call("t2"))
        patched.setattr("siftd.log.writer.write_private", fail)
        disk.faults.update(sync=errno.EIO, truncate=errno.EIO)
        await store.keep(call("t3", "refused-one"))
        disk.faults.clear()
        person.execute("ROLLBACK")
        [refused] = await store.keep(call("t4"))
        assert isinstance(refused.error, LogBroken)
        with pytest.raises(StoreError):
            await store.committer.seal_log()
    [kept] = await store.keep(call("t5"))
    assert kept.error is None
    assert [row[0] for row in store.rows()] == logged(store) == [1, 2, kept.event_id]


async def test_what_comes_behind_an_opt_out_that_the_log_refuses_is_refused_or_kept_but_never_dropped(
    store: OpenedStore, disk: type[FaultyFile]
) -> None:
    """They waited together: the one behind must not be answered as dropped for the sake of a wish that nobody kept."""
    asked = store.intake.opt_out("s1", 0)
    go_on = await stall(store)
    kept = [asyncio.ensure_future(store.committer.keep(each)) for each in (asked, store.intake.admit(call("t1")))]
    disk.faults["sync"] = errno.EIO
    await asyncio.sleep(0)
    go_on()
    with capture_logs():
        receipts = await asyncio.gather(*kept)
    assert [type(receipt.error) for receipt in receipts] == [LogBroken, LogBroken]
    disk.faults.clear()
    [receipt] = await store.keep(call("t1"))
    assert receipt.event_id is not None
    await store.committer.keep(asked)
    [receipt] = await store.keep(call("t2"))
    assert (receipt.is_duplicate, receipt.event_id) == (True, None)


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path) as store:
        person = store.by_hand()
        person.execute("BEGIN IMMEDIATE")
        with capture_logs():
            await store.keep(call("t1"), call("t2"))
        person.close()
    async with OpenedStore(tmp_path) as store:
        assert [row[0] for row in store.rows()] == [1, 2]
        [again] = await store.keep(call("t2"))
        assert again.is_duplicate
        [new] = await store.keep(call("t3"))
        assert new.event_id == 3


async def test_an_old_start_does_not_reopen_a_session_that_ended(store: OpenedStore) -> None:
    def change(kind: Any, ts: int) -> SessionChange:
        return SessionChange(client="claude-code", session_id="s1", change=kind, ts=ts)

    await store.keep(change("start", 10), change("end", 20), change("start", 10))
    assert store.rows("SELECT started_ts, ended_ts FROM sessions") == [(10, 20)]
    await store.keep(change("start", 30))
    assert store.rows("SELECT started_ts, ended_ts FROM sessions") == [(10, None)]


@pytest.mark.parametrize("ts", [-1, 2**63, 10**15])
async def test_a_time_that_no_calendar_has_is_rejected(store: OpenedStore, ts: int) -> None:
    import msgspec

    with pytest.raises(EnvelopeRejected, match="before 1970"):
        store.intake.admit(msgspec.structs.replace(call("t1"), ts=ts))
    with pytest.raises(EnvelopeRejected, match="before 1970"):
        store.intake.admit(SessionChange(client="c", session_id="s1", change="start", ts=ts))


async def test_a_receiver_that_fails_keeps_no_other_from_its_receipt(store: OpenedStore) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    go_on = await stall(store)
    store.committer.submit(store.intake.admit(call("t1")), fail)
    kept = asyncio.ensure_future(store.keep(call("t2")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    go_on()
    with capture_logs() as logs:
        assert [receipt.event_id for receipt in await kept] == [2]
    assert [line["event"] for line in logs] == ["receipt_undelivered"]


async def test_stopping_finishes_everything_that_was_submitted(tmp_path: Path) -> None:
    receipts: list[Any] = []
    async with OpenedStore(tmp_path) as store:
        for number in range(300):
            store.committer.submit(store.intake.admit(call(f"t{number}")), receipts.append)
    assert [receipt.event_id for receipt in receipts] == list(range(1, 301))
    async with OpenedStore(tmp_path) as store:
        assert len(store.rows()) == 300


async def test_applied_seq_follows_the_rows(store: OpenedStore) -> None:
    await store.keep(*(call(f"t{number}") for number in range(5)))
    assert store.rows("SELECT value FROM meta WHERE key = 'applied_seq'") == [("5",)]


async def test_a_change_of_a_session_that_comes_twice_is_one_record(store: OpenedStore) -> None:
    """From a hook that gave up waiting, and from the courier that it left."""
    start = SessionChange(client="c", session_id="s1", change="start", ts=1_790_000_000_000)
    first, again, other = [
        await store.committer.keep(store.intake.admit(start, frame_uid=uid)) for uid in ("f1", "f1", "f2")
    ]
    assert (first.is_duplicate, again.is_duplicate, other.is_duplicate) == (False, True, False)
    assert (again.event_id, again.dropped, other.seq) == (None, None, first.seq + 1)
