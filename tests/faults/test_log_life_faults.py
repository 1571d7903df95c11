"""A kill between any two steps of capturing, migrating, sealing, pruning, rebuilding, forgetting; a step that fails."""

from __future__ import annotations

import functools
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from noted_project import move_notes, put, register
from opened_memory import DAY, NOW, Hands, Memory
from opened_memory import opened as opened_by_folder

from siftd.consolidate.consolidator import NOTES
from siftd.log import sealing
from siftd.log.recovery import iter_records, recover
from siftd.notes.layout import Bookkeeping
from siftd.store import snapshots
from siftd.store.migrate import known_migrations
from siftd.store.scrubbing import Scrubbed
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home, WorkspacePaths

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("killed_steps.py")
MOST = int(os.environ.get("SIFTD_TEST_KILLS", "14"))
"""Kills for each kind of work, spread over its steps; a third as many failures."""
FAULTS = pytest.mark.parametrize("fault", ["kill", "fail"])
WORD = "zanzibar"
EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"
KEY = "0123456789abcdef"
opened = functools.partial(opened_by_folder, key=KEY)
"""Wherever a home was copied to, it is that of the same workspace."""


def paths_of(folder: Path) -> WorkspacePaths:
    return Home(str(folder / "home")).for_workspace(KEY)


def fault_at_every_step(work: str, folder: Path, fault: str = "kill", most: int = MOST) -> list[Path]:
    """Return the folders that the faults left."""
    most = most if fault == "kill" else max(2, most // 3)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), work, str(folder), str(most), fault], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"{work}: {told['steps']} steps, {fault} at {told['tried']}")
    return [folder / str(number) for number in told["tried"]]


async def fill(memory: Memory, count: int = 6) -> None:
    """Capture events over two sealed segments and the active one."""
    for number in range(count):
        await memory.capture(number)
        if number % 2:
            await memory.services.committer.seal_log()


def words_left(home: Path) -> list[str]:
    found = []
    for each in sorted(home.rglob("*")):
        data = each.read_bytes() if each.is_file() else b""
        if WORD.encode() in data + (gzip.decompress(data) if each.suffix == ".gz" else b""):
            found.append(each.name)
    return found


@FAULTS
async def test_a_fault_while_capturing_loses_and_doubles_nothing_acknowledged(tmp_path: Path, fault: str) -> None:
    """Before the write, half through it, before the sync, between log and insert, in the insert, before the answer."""
    async with opened(tmp_path) as memory:
        await fill(memory, 2)
    for folder in fault_at_every_step("capture", tmp_path, fault, 2 * MOST):
        acked = (
            dict(line.split(" ", 1) for line in (folder / "acked").read_text().splitlines())
            if (folder / "acked").exists()
            else {}
        )
        async with opened(folder) as memory:
            rows = await memory.rows("SELECT id, payload_json FROM events WHERE id > 2")
            found = {str(event_id): json.loads(payload)["tool_input"]["command"] for event_id, payload in rows}
            assert found.items() >= acked.items()
            assert len(set(found.values())) == len(found) <= len(acked) + 1
            assert await memory.rows("PRAGMA integrity_check") == [("ok",)]
            assert await memory.capture(9) > max(map(int, found), default=2)


@FAULTS
async def test_a_fault_while_documents_are_read_in_loses_none_and_leaves_none_half_cut(
    tmp_path: Path, fault: str
) -> None:
    """Before the write, between log and insert, between two pieces of chunks, before the last of them."""
    async with opened(tmp_path) as memory:
        await fill(memory, 2)
    for folder in fault_at_every_step("ingest", tmp_path, fault, 2 * MOST):
        file = folder / "acked"
        acked = set(file.read_text().splitlines()) if file.exists() else set()
        async with opened(folder) as memory:
            await memory.services.consolidator.tick()
            found = dict(await memory.rows("SELECT path, id FROM documents"))
            assert acked <= found.keys()
            for document_id in found.values():
                chunks = await memory.rows("SELECT heading FROM chunks WHERE document_id = ? ORDER BY 1", document_id)
                assert chunks == [(f"Part {part}",) for part in range(4)]
            assert await memory.rows("SELECT count(*) FROM documents WHERE chunk_count <> 4") == [(0,)]
            assert await memory.rows("PRAGMA integrity_check") == [("ok",)]
            assert await memory.capture(9) > max(found.values(), default=2)


async def test_a_kill_while_migrating_leaves_a_database_that_the_next_start_finishes(tmp_path: Path) -> None:
    ensure_workspace(paths_of(tmp_path))
    for folder in fault_at_every_step("open", tmp_path):
        async with opened(folder) as memory:
            assert await memory.capture(1) == 1
            assert await memory.rows("SELECT count(*) FROM migrations") == [(len(known_migrations()),)]


@FAULTS
async def test_a_fault_while_sealing_and_compressing_loses_and_doubles_nothing(tmp_path: Path, fault: str) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
    for folder in fault_at_every_step("seal", tmp_path, fault):
        wal = paths_of(folder).wal
        acked = [int(line) for line in (folder / "acked").read_text().split()] if (folder / "acked").exists() else []
        found = recover(wal, applied=0, quarantine=paths_of(folder).quarantine)
        kept = [record.seq for record in found.records]
        assert kept == sorted(set(kept))
        assert set(kept) >= {1, 2, 3, 4, 5, 6, *acked}
        assert len(kept) <= 6 + len(acked) + 1
        sealing.compress(wal)
        assert [record.seq for record in iter_records(wal)] == kept
        assert list(Path(wal).parent.glob(".wal*")) == []
        async with opened(folder) as memory:
            assert await memory.rows("SELECT count(*) FROM events") == [(6,)]
            assert await memory.capture(9) > max([6, *acked])


@FAULTS
async def test_a_fault_while_pruning_leaves_a_log_that_the_snapshot_completes(tmp_path: Path, fault: str) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        before = await memory.rows(EVERYTHING)
        for each in sealing.list_sealed(memory.services.paths.wal):
            os.utime(each.path, ((NOW - 9 * DAY) // 1000 - 10**8,) * 2)
    for folder in fault_at_every_step("prune", tmp_path, fault):
        for each in Path(paths_of(folder).folder).glob("db.sqlite*"):
            each.unlink()
        async with opened(folder) as memory:
            assert await memory.rows(EVERYTHING) == before
            assert await memory.capture(9) == 7


@pytest.mark.parametrize(("has_snapshot", "fault"), [(True, "kill"), (False, "kill"), (True, "fail")])
async def test_a_fault_while_rebuilding_ends_with_every_event_under_its_id(
    tmp_path: Path, has_snapshot: bool, fault: str
) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory, 4)
        paths = memory.services.paths
        if has_snapshot:
            snapshots.make_snapshot(paths.database, paths.snapshots)
            for each in sealing.list_sealed(paths.wal):
                each.path.unlink()
        await memory.capture(4)
        before = await memory.rows(EVERYTHING)
    Path(paths.rebuild).touch()
    for folder in fault_at_every_step("open", tmp_path, fault):
        async with opened(folder) as memory:
            assert await memory.rows(EVERYTHING) == before
            assert await memory.rows("PRAGMA integrity_check") == [("ok",)]
            assert await memory.capture(9) == 6


@FAULTS
async def test_a_fault_while_forgetting_brings_nothing_back_and_takes_nothing_else(tmp_path: Path, fault: str) -> None:
    payload = {"tool_input": {"command": f"echo {WORD}"}, "tool_response": {"stdout": WORD}}
    async with opened(tmp_path) as memory:
        await fill(memory)
        gone = await memory.capture(6, payload=payload, uid="gone")
        await memory.capture(7)
        await memory.ask("drain")
        paths = memory.services.paths
        snapshots.make_snapshot(paths.database, paths.snapshots)
        kept = [row for row in await memory.rows(EVERYTHING) if row[0] != gone]

        async def not_yet() -> None:
            """The daemon dies before it erases."""

        memory.services.forgetter.finish = not_yet  # type: ignore[method-assign]
        assert (await memory.ask("forget", ids=[f"e{gone}"], dryRun=False))["matched"] == 1
    assert len(words_left(tmp_path / "home")) >= 3
    for folder in fault_at_every_step("open", tmp_path, fault):
        async with opened(folder, Hands()) as memory:
            assert words_left(folder / "home") == []
            assert await memory.rows(EVERYTHING) == kept
            assert await memory.rows("SELECT count(*) FROM forgets WHERE done_ts IS NULL") == [(0,)]
        for each in Path(paths_of(folder).folder).glob("db.sqlite*"):
            each.unlink()
        async with opened(folder, Hands()) as memory:
            assert await memory.rows(EVERYTHING) == kept
            assert words_left(folder / "home") == []


@FAULTS
async def test_a_fault_while_notes_lose_what_is_forgotten_costs_no_other_byte(tmp_path: Path, fault: str) -> None:
    """The daemon that goes on knows no word of it."""
    project = register(tmp_path, key=KEY)
    put(project, state=f"# State\r\n\r\n- {WORD}\r\n- apples \r\n", todo=f"- [ ] call {WORD}\n- rest")
    Path(project.inbox, "one.md").write_text(f"Take {WORD} in")
    Path(Bookkeeping(Home(str(tmp_path / "home")), project.id).last).write_text(json.dumps({"summary": f"of {WORD}"}))
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.do(NOTES)

        async def not_yet() -> None:
            """The daemon dies before it erases."""

        memory.services.forgetter.finish = not_yet  # type: ignore[method-assign]
        assert (await memory.ask("forget", query=WORD, dryRun=False))["byKind"]["note"] == 3
    for folder in fault_at_every_step("notes", tmp_path, fault, 2 * MOST):
        home = paths_of(folder).home
        move_notes(home)
        own = Bookkeeping(home, project.id)
        async with opened(folder, Hands()) as memory:
            assert (await memory.ask("info"))["forget"]["pending"] == []
            assert words_left(folder / "home") == []
        assert Path(own.files, "state.md").read_bytes() == b"# State\r\n\r\n- apples \r\n"
        assert Path(own.files, "todo.md").read_bytes() == b"- rest"
        assert os.listdir(f"{own.files}/inbox") == []
        assert json.loads(Path(own.last).read_text()) == {"summary": ""}


async def test_a_kill_while_scrubbing_leaves_no_secret_once_it_is_done_again(tmp_path: Path) -> None:
    payload = {"tool_input": {"command": f"echo {WORD}"}, "tool_response": {"stdout": WORD}}
    async with opened(tmp_path) as memory:
        await fill(memory)
        held = await memory.capture(6, payload=payload, uid="held")
        await memory.services.committer.seal_log()
        await memory.capture(7)
        await memory.ask("drain")
        paths = memory.services.paths
        snapshots.make_snapshot(paths.database, paths.snapshots)
        untouched = [row for row in await memory.rows(EVERYTHING) if row[0] != held]

        async def not_yet() -> Scrubbed:
            """The daemon dies before it scrubs."""
            return Scrubbed()

        memory.services.scrubber.finish = not_yet  # type: ignore[method-assign]
        await memory.ask("scrub", dryRun=False)
    assert len(words_left(tmp_path / "home")) >= 3
    rules = [{"name": "word", "pattern": WORD, "example": WORD}]
    for number, folder in enumerate(fault_at_every_step("scrub", tmp_path)):
        for is_rebuilt in (False, True)[: 1 + number % 2]:
            async with opened(folder, Hands(), redact_rules=rules) as memory:
                await memory.services.maintenance.run()
                rows = await memory.rows(EVERYTHING)
                assert [row for row in rows if row[0] != held] == untouched, is_rebuilt
                assert [row[6] for row in rows if row[0] == held] != []
                assert words_left(folder / "home") == []
            for each in Path(paths_of(folder).folder).glob("db.sqlite*"):
                each.unlink()
