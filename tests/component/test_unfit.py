"""What no table takes, or nobody of ours has written: it costs itself alone, in an import, the log and the spool."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, opened, rebuilt

from siftd.capture.admission import as_stored
from siftd.exchange.format import End, EventLine, Header, MemoryLine, SummaryLine, encode
from siftd.log.spool import VERSION
from siftd.wire.requests import Capture
from siftd.workspace.home import write_private

TOO_LARGE = 2**64


def captured(memory: Memory, number: int) -> Any:
    body = {"tool_input": {"command": f"make part{number}"}}
    return memory.services.intake.from_capture(Capture(session_id="s", tool="Bash", payload=body, ts=NOW), 100)


def export_of(folder: Path, *lines: dict[str, Any]) -> str:
    """Write an export with lines as a person may have changed them."""
    header = Header(version=1, store="another", root="/src", ts=NOW, counts={})
    event = EventLine(id=1, ts=NOW, session_id="s", tool="Bash", payload={"tool_input": {}}, uid="e1")
    rest = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    file = folder / "export.ndjson"
    file.write_bytes(encode(header) + encode(event) + rest + encode(End(lines=1 + len(lines))))
    return str(file)


SUMMARY = json.loads(
    encode(SummaryLine(id=1, event_id=1, ts=NOW, model="extractive:1", prompt_hash="p", text="Ran it."))
)
MEMORY = json.loads(encode(MemoryLine(id=2, ts=NOW, updated_ts=NOW, type="fact", text="It runs.", uid="m2")))


@pytest.mark.parametrize(
    "line", [SUMMARY | {"tokensIn": TOO_LARGE}, SUMMARY | {"tokensOut": -TOO_LARGE}, MEMORY | {"importance": TOO_LARGE}]
)
async def test_an_import_takes_no_number_that_no_table_takes(tmp_path: Path, line: dict[str, Any]) -> None:
    async with opened(tmp_path) as memory:
        told = await memory.ask("import", path=export_of(tmp_path, line))
        assert told["errors"] == 1
        assert await memory.rows("SELECT count(*) FROM events") == [(1,)]
        assert not memory.services.committer.is_behind


async def test_a_record_that_no_table_takes_costs_its_group_nothing(tmp_path: Path) -> None:
    """As an earlier siftd's import, or one to come, may have logged it."""
    told = {"event": 1, "uid": "x", "eventTs": NOW, "text": "t", "model": "m", "promptHash": "p", "tokensIn": TOO_LARGE}
    async with opened(tmp_path) as memory:
        committer, admission = memory.services.committer, memory.services.intake.admission
        await committer.keep(captured(memory, 0))
        poison = admission.admit_intent("summary", told | {"ts": NOW, "scope": "event", "cites": []}, ts=NOW)
        receipts = await asyncio.gather(*map(committer.keep, [captured(memory, 1), poison, captured(memory, 2)]))
        assert [receipt.error for receipt in receipts] == [None] * 3
        await memory.capture(3)
        assert not committer.is_behind
        await memory.capture(4)
        before = await memory.rows("SELECT id FROM events ORDER BY id")
        assert before == [(1,), (2,), (4,), (5,), (6,)]
        assert (await memory.ask("info"))["problems"] == ["left out because it cannot be worked on: record 3"]
    for prepare in (None, rebuilt):
        if prepare is not None:
            await prepare(tmp_path)
        async with opened(tmp_path) as memory:
            assert await memory.rows("SELECT id FROM events ORDER BY id") == before
            assert [each.name for each in Path(memory.services.paths.quarantine).iterdir()] == ["condemned-3"]


async def test_a_rebuild_with_many_records_that_no_table_takes_starts_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(10):
            await memory.capture(number)
            await memory.services.intents.keep("undo", {})
        Path(memory.services.paths.rebuild).touch()
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT count(*) FROM events") == [(10,)]
        assert len(list(Path(memory.services.paths.quarantine).iterdir())) == 10


def spool_file(memory: Memory, number: int, **changed: Any) -> Path:
    kept = {"version": VERSION, **as_stored(captured(memory, number))}
    kept |= {"payload": json.loads(bytes(kept["payload"]))} | changed
    file = Path(memory.services.paths.spool) / f"{NOW + number:013}-{number}.json"
    write_private(file, json.dumps(kept).encode())
    return file


ODD = [
    {"frame_uid": {}},
    {"uid": []},
    {"ts": "then"},
    {"ts": TOO_LARGE},
    {"ts": -1},
    {"session_id": {}},
    {"session_id": None},
    {"tool": 7},
    {"payload": []},
    {"outcome": "splendid"},
    {"input_key": 1.5},
    {"kind": "session", "change": {}},
    {"kind": "opt-out", "session_id": {}},
    {"kind": "opt-out", "session_id": "s", "ts": 1e300},
]


@pytest.mark.parametrize("changed", ODD, ids=repr)
async def test_one_odd_file_holds_up_no_other_of_the_spool(tmp_path: Path, changed: dict[str, Any]) -> None:
    async with opened(tmp_path) as memory:
        odd = spool_file(memory, 0, **changed)
        spool_file(memory, 1)
        await memory.take_spool()
        assert await memory.rows("SELECT payload_json ->> '$.tool_input.command' FROM events") == [("make part1",)]
        assert [each.name for each in Path(memory.services.paths.spool).iterdir()] == [odd.with_suffix(".bad").name]
        assert (await memory.ask("info"))["pausedSince"] is None


async def test_a_capture_that_fails_on_its_own_account_costs_its_group_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as memory:
        committer = memory.services.committer
        resolve = committer.identities.resolve

        def fail(event: Any, way: Any) -> Any:
            if b"part1" in event.payload_json:
                raise ZeroDivisionError
            return resolve(event, way)

        monkeypatch.setattr(committer.identities, "resolve", fail)
        receipts = await asyncio.gather(*(committer.keep(captured(memory, number)) for number in range(3)))
        assert [receipt.error is None for receipt in receipts] == [True, False, True]


async def test_the_spool_waits_while_the_database_is_locked(tmp_path: Path) -> None:
    """A file that only counts a rejection needs the database: a lock is no fault of the file's."""
    async with opened(tmp_path) as memory:
        file = spool_file(memory, 0, kind="rejected", reason="not_json")
        person = sqlite3.connect(memory.services.paths.database, isolation_level=None, timeout=0)
        person.execute("BEGIN IMMEDIATE")
        await memory.take_spool()
        assert file.exists()
        person.close()
        await memory.take_spool()
        assert not file.exists()
        assert (await memory.ask("info"))["rejections"] == [{"reason": "not_json", "count": 1, "lastTs": NOW}]
