"""What is taken out of documents goes from every file of ours, and stays away for as long as it should."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from opened_memory import DAY, Hands, Memory, opened, rebuilt
from test_documents import CHUNKS, MANUAL, found, ingest
from test_forget import WORD, everywhere
from test_scrub import NUMBER, RULE, configure

from siftd.errors import NothingFound, RequestInvalid
from siftd.log import sealing
from siftd.store import snapshots
from siftd.store.document_rescue import rescue_documents
from siftd.store.documents import Source
from siftd.store.tombstones import Keys

SECRET = MANUAL.replace("six in the morning", f"six in {WORD}")
HOME = "home"


async def forget(memory: Memory, **asked: Any) -> dict[str, Any]:
    return await memory.ask("forget", dryRun=False, **asked)


async def fill(memory: Memory) -> str:
    """Read a document with the word in, over two segments and a snapshot; return its id."""
    answer = await ingest(memory, SECRET, title=f"All of {WORD}", metadata={"by": WORD})
    await ingest(memory, path="/src/other.md", title="Another")
    await memory.services.consolidator.tick()
    await memory.services.committer.seal_log()
    snapshots.make_snapshot(memory.services.paths.database, memory.services.paths.snapshots)
    sealing.compress(memory.services.paths.wal)
    assert len(everywhere(Path(memory.services.paths.home.root))) >= 3
    return str(answer["id"])


@pytest.mark.parametrize("by", ["id", "query", "file", "time"])
async def test_a_forgotten_document_is_in_no_byte_of_the_home(tmp_path: Path, by: str) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        cited = await fill(memory)
        clock.at += DAY
        asked: dict[str, Any] = {
            "id": {"ids": [cited]},
            "query": {"query": WORD.upper()},
            "file": {"file": "manual.md"},
            "time": {"since": clock.at - 2 * DAY},
        }[by]
        dry = await memory.ask("forget", dryRun=True, **asked)
        number = 2 if by == "time" else 1
        assert dry["byKind"]["document"] == number
        assert (await memory.ask("documents"))["count"] == 2, "a dry run changes nothing"
        assert (await forget(memory, **asked))["pending"] == []
        assert everywhere(tmp_path / HOME) == []
        assert (await memory.ask("documents"))["count"] == 2 - number
        assert bool(await found(memory, "okapi install")) == (by != "time")
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        assert (await memory.ask("documents"))["count"] == 2 - number
        assert everywhere(tmp_path / HOME) == []


async def test_one_that_was_let_go_is_still_forgotten_from_the_log(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        cited = await fill(memory)
        await memory.ask("remove_documents", ids=[cited])
        assert everywhere(tmp_path / HOME) != []
        clock.at += 1
        assert (await forget(memory, ids=[cited]))["byKind"]["document"] == 1
        assert everywhere(tmp_path / HOME) == []


async def test_what_a_document_said_once_goes_and_what_it_says_now_stays_under_its_id(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        cited = await fill(memory)
        again = await ingest(memory)
        assert again["id"] == cited
        clock.at += 1
        answer = await forget(memory, query=WORD)
        assert (answer["byKind"]["document"], answer["byKind"]["record"]) == (0, 1)
        assert everywhere(tmp_path / HOME) == []
        assert (await memory.ask("show", id=cited))["item"]["text"] == MANUAL
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        assert (await memory.ask("show", id=cited))["item"]["text"] == MANUAL


async def test_a_forgotten_document_may_be_read_in_again_by_whoever_wants_it(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        cited = await fill(memory)
        clock.at += DAY
        await forget(memory, ids=[cited])
        clock.at += DAY
        again = await ingest(memory)
        assert (again["status"], again["id"] != cited) == ("added", True)
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        assert (await memory.ask("show", id=again["id"]))["item"]["text"] == MANUAL


async def test_an_export_of_before_brings_no_forgotten_document_back(tmp_path: Path) -> None:
    clock = Hands()
    file = tmp_path / "all.jsonl"
    async with opened(tmp_path, clock) as memory:
        cited = await fill(memory)
        await memory.ask("export", path=str(file))
        clock.at += 1
        await forget(memory, ids=[cited])
        answer = await memory.ask("import", path=str(file))
        assert (answer["added"].get("documents", 0), answer["forgotten"]) == (0, 1)
        file.unlink()
        assert everywhere(tmp_path / HOME) == []


@pytest.mark.parametrize("cited", ["d1:5", "d99"])
async def test_no_line_and_nothing_that_is_not_there_is_forgotten(tmp_path: Path, cited: str) -> None:
    async with opened(tmp_path) as memory:
        await ingest(memory)
        if ":" in cited:
            with pytest.raises(RequestInvalid, match="whole"):
                await forget(memory, ids=[cited])
        else:
            assert (await forget(memory, ids=[cited]))["matched"] == 0
        assert (await memory.ask("documents"))["count"] == 1


async def test_prune_leaves_what_was_read_in_on_purpose(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock, store_keepDays=1) as memory:
        await memory.capture(1)
        cited = await fill(memory)
        clock.at += 40 * DAY
        await memory.capture(2, ts=clock.at)
        assert (await memory.ask("prune"))["events"] == 1
        assert (await memory.ask("show", id=cited))["item"]["text"] == SECRET
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock, store_keepDays=1) as memory:
        assert (await memory.ask("show", id=cited))["item"]["text"] == SECRET


async def test_a_scrub_looks_at_the_whole_text_and_cuts_it_anew(tmp_path: Path) -> None:
    """The number stands across two chunks, where neither holds all of it."""
    words = " ".join(f"word{number}" for number in range(2_000))
    workspaces = tmp_path / HOME / "default" / "workspaces"
    async with opened(tmp_path) as memory:
        for shift in range(40):
            at = 3_000 + 13 * shift
            text = f"{words[:at]}{NUMBER}{words[at:]}"
            await ingest(memory, text, f"/src/{shift}.txt", type="text", title=f"Of {NUMBER}", metadata={"by": NUMBER})
        await memory.services.consolidator.tick()
        configure(tmp_path, redact_rules=[RULE])
        dry = await memory.ask("scrub", dryRun=True)
        assert dry["changed"]["document_texts"] == 40
        assert everywhere(workspaces, NUMBER) != []
        answer = await memory.ask("scrub", dryRun=False)
        assert (answer["pending"], answer["changed"]["document_texts"]) == ([], 40)
        assert everywhere(workspaces, NUMBER) == []
        assert everywhere(workspaces, NUMBER[:-2]) == [], "nor a part of it"
        rows = await memory.rows(CHUNKS)
        assert any("[REDACTED:customer-number" in row[3] for row in rows)
        assert {row[0] for row in await memory.rows("SELECT split_by IS NOT NULL FROM documents")} == {1}
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert (await memory.ask("documents"))["count"] == 40
        assert everywhere(workspaces, NUMBER) == []


async def test_nothing_of_a_document_is_in_what_the_daemon_logs_or_refuses_with(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        with pytest.raises(NothingFound) as refused:
            await memory.ask("remove_documents", ids=["d99"])
        assert WORD not in json.dumps([refused.value.message, refused.value.hint])
        log = Path(memory.services.paths.daemon_log)
        assert not log.exists() or WORD not in log.read_text()


async def test_a_database_that_was_set_aside_gives_documents_back_but_none_that_was_forgotten(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path / "a", clock) as memory:
        cited = await fill(memory)
        other = await ingest(memory, path="/src/third.md")
        set_aside = snapshots.make_snapshot(memory.services.paths.database, str(tmp_path / "aside")).path
    async with opened(tmp_path / "b", clock) as memory:
        await ingest(memory, "What is here stays.", path="/src/other.md")
        clock.at += DAY
        storage = memory.services.storage

        def forget_and_rescue(connection: Any) -> int:
            keys = Keys(storage.secret)
            source = Source("/src/manual.md", None, "")
            row = ("document", keys.document(source), 0, clock.at, "9")
            connection.execute("INSERT INTO tombstones (kind, key, since, until, detail) VALUES (?, ?, ?, ?, ?)", row)
            storage.tombstones.reload()
            with sqlite3.connect(set_aside) as old:
                return rescue_documents(connection, old, storage.tombstones)

        assert await memory.services.store.write(forget_and_rescue) == 1
        await memory.services.consolidator.tick()
        paths = {each["path"]: each["id"] for each in (await memory.ask("documents"))["documents"]}
        assert paths.keys() == {"/src/other.md", "/src/third.md"}
        assert paths["/src/third.md"] == other["id"] != cited
        assert (await memory.ask("show", id=other["id"]))["item"]["chunks"] == 3
