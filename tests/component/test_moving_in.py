"""Moving in from another memory: once, redacted, dated, from outside; what was forgotten here stays forgotten."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opened_memory import Memory, opened, rebuilt
from other_stores import other_store

from siftd.errors import RequestInvalid

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FACTS = "SELECT text, category, project, said_by, ts, uid, waits FROM facts ORDER BY ts, text"


async def take_in(memory: Memory, path: str, source: str = "rekal", **options: Any) -> dict[str, Any]:
    return await memory.ask("import", path=path, source=source, **options)


async def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    path = other_store(tmp_path, "rekal")
    async with opened(tmp_path) as memory:
        first = await take_in(memory, path)
        before = await memory.rows(FACTS)
        again = await take_in(memory, path)
        assert (first["added"]["memories"], first["added"]["links"], first["errors"]) == (4, 2, 0)
        assert (again["added"]["memories"], again["added"]["links"]) == (0, 0)
        assert sum(again["known"].values()) == 6
        assert await memory.rows(FACTS) == before


async def test_what_was_superseded_there_is_not_found_here_also_after_a_rebuild(tmp_path: Path) -> None:
    path = other_store(tmp_path, "rekal")

    async def found(memory: Memory) -> str:
        return json.dumps((await memory.ask("search", query="which port does the API listen on"))["hits"])

    async with opened(tmp_path) as memory:
        await take_in(memory, path)
        text = await found(memory)
        assert "9090" in text
        assert "8080" not in text
        before = await memory.rows(FACTS)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows(FACTS) == before
        text = await found(memory)
        assert "9090" in text
        assert "8080" not in text


async def test_dates_types_and_projects_are_kept_and_nobody_vouches_for_the_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await take_in(memory, other_store(tmp_path, "claude-mem"), "claude-mem")
        rows = await memory.rows(FACTS)
        assert [(row[1], row[2], row[3], row[4]) for row in rows] == [
            ("issue", "shop", "outside", 1_767_323_045_000),
            ("decision", "shop", "outside", 1_767_323_105_000),
            ("episode", "shop", "outside", 1_767_323_165_000),
        ]


async def test_where_a_person_says_that_it_is_their_own_their_words_are_theirs(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("- Never push to main without a review\n")
    async with opened(tmp_path) as memory:
        await take_in(memory, str(file), "claude-md", own=True)
        assert [row[3] for row in await memory.rows(FACTS)] == ["person"]


async def test_a_secret_of_the_other_memory_is_never_written(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(f"- The deploy token is {TOKEN}\n")
    async with opened(tmp_path) as memory:
        await take_in(memory, str(file), "claude-md")
        ((text, *_),) = await memory.rows(FACTS)
        assert "[REDACTED:" in text
        assert TOKEN.encode() not in memory.log_bytes()


async def test_what_was_forgotten_here_stays_out(tmp_path: Path) -> None:
    path = other_store(tmp_path, "rekal")
    async with opened(tmp_path) as memory:
        await take_in(memory, path)
        await memory.ask("forget", query="Prefer small commits", dryRun=False)
        again = await take_in(memory, path)
        assert (again["forgotten"], again["added"]["memories"]) == (1, 0)
        assert "Prefer small commits" not in json.dumps(await memory.rows(FACTS))


async def test_a_rehearsal_says_the_same_and_keeps_nothing(tmp_path: Path) -> None:
    path = other_store(tmp_path, "rekal")
    async with opened(tmp_path) as memory:
        before = memory.log_bytes()
        rehearsed = await take_in(memory, path, dryRun=True)
        assert await memory.rows(FACTS) == []
        assert memory.log_bytes() == before
        assert rehearsed == await take_in(memory, path)


async def test_what_says_the_same_twice_is_taken_once_and_its_links_follow(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text('[{"id":"1","memory":"Uses pnpm"},{"id":"2","memory":"Uses pnpm"},{"id":"3","memory":" "}]')
    async with opened(tmp_path) as memory:
        answer = await take_in(memory, str(file), "mem0")
        assert answer["added"]["memories"] == 1
        assert answer["leftBehind"] == {
            "a memory that says what another of it says": 1,
            "a result without an id or a text": 1,
        }


async def test_a_document_is_left_behind_and_the_rest_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text(json.dumps([{"id": "1", "memory": "x" * 10_001}, {"id": "2", "memory": "Uses pnpm"}]))
    async with opened(tmp_path) as memory:
        answer = await take_in(memory, str(file), "mem0")
        assert (answer["added"]["memories"], answer["errors"]) == (1, 0)
        assert list(answer["leftBehind"]) == ["a memory of more than 10,000 characters: a document"]


@pytest.mark.parametrize("name", ["nothing.db", "text.db"])
async def test_what_is_no_store_is_refused_and_quoted_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.db").write_text("my diary")
    async with opened(tmp_path) as memory:
        with pytest.raises(RequestInvalid, match="rekal") as caught:
            await take_in(memory, str(tmp_path / name))
        assert "diary" not in f"{caught.value} {caught.value.hint}"


async def test_a_store_of_enormous_texts_is_read_in_little_memory(tmp_path: Path) -> None:
    """What is too long for a fact is let go as it is read, not once all of it is."""
    path = other_store(tmp_path, "rekal")
    with closing(sqlite3.connect(path)) as connection:
        many = ((f"long {number}",) for number in range(40))
        sql = "INSERT INTO memories (id, content) VALUES (?, CAST(zeroblob(4000000) AS TEXT))"
        connection.executemany(sql, many)
        connection.commit()
    async with opened(tmp_path) as memory:
        tracemalloc.start()
        try:
            answer = await take_in(memory, path)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (answer["added"]["memories"], sum(answer["leftBehind"].values())) == (4, 40)
        assert most < 60_000_000
