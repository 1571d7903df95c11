"""How a project weighs its searches: search before project before file before default, each number by itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, Memory, opened, rebuilt

from siftd.errors import RequestInvalid

REKAL = {"w_fts": 0.4, "w_vec": 0.4, "w_recency": 0.2, "half_life": 30}


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as each:
        yield each


def write_file(folder: Path, text: str) -> None:
    (folder / ".siftd").mkdir(exist_ok=True)
    (folder / ".siftd" / "config.json").write_text(text)


async def scoring(memory: Memory, **values: Any) -> dict[str, tuple[Any, str]]:
    """Return each number with where it comes from."""
    told = (await memory.ask("set_config", values=values))["scoring"]
    return {name: (each["value"], each["from"]) for name, each in told.items()}


async def why(memory: Memory, **weights: float) -> dict[str, Any]:
    """Return the arithmetic of the one hit there is."""
    (hit,) = (await memory.ask("search", query="what does the job queue run on", weights=weights))["hits"]
    told: dict[str, Any] = hit["why"]
    return told


async def test_each_number_comes_by_itself_from_where_it_is_said_first(memory: Memory, tmp_path: Path) -> None:
    assert await scoring(memory) == {
        "w_fts": (1.0, "default"), "w_vec": (1.0, "default"), "w_recency": (1.0, "default"),
        "half_life": (30.0, "default"),
    }  # fmt: skip
    write_file(tmp_path, json.dumps({"w_fts": 0.5, "half_life": 7}))
    assert await scoring(memory, half_life=14, w_vec=2) == {
        "w_fts": (0.5, "file"), "w_vec": (2.0, "project"), "w_recency": (1.0, "default"),
        "half_life": (14.0, "project"),
    }  # fmt: skip
    assert (await scoring(memory, half_life=None))["half_life"] == (7.0, "file")
    (tmp_path / ".siftd" / "config.json").unlink()
    assert (await scoring(memory))["w_fts"] == (1.0, "default")
    assert {name: value for name, (value, _) in (await scoring(memory, **REKAL)).items()} == REKAL


async def test_the_numbers_scale_the_legs_and_a_search_has_the_last_word(memory: Memory, tmp_path: Path) -> None:
    await memory.ask("remember", text="The job queue runs on Postgres")
    memory.clock.at += 30 * DAY
    plain = await why(memory)
    assert {"words", "vector"} <= set(plain)
    assert plain["recency"] == pytest.approx(0.2)
    write_file(tmp_path, json.dumps({"w_fts": 0}))
    by_vector = await why(memory)
    assert "words" not in by_vector
    assert await why(memory, w_fts=1) == plain
    await scoring(memory, w_fts=1, w_vec=0, w_recency=2, half_life=15)
    by_words = await why(memory)
    assert "vector" not in by_words
    assert by_words["recency"] == pytest.approx(0.2), "twice as much, and a quarter of it is left"
    assert by_words["own"] + by_vector["own"] == pytest.approx(plain["own"], abs=1e-5)


async def test_what_was_set_survives_a_rebuild(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await scoring(memory, w_fts=3, half_life=2)
        before = await scoring(memory, half_life=None, w_recency=0)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await scoring(memory) == before


@pytest.mark.parametrize(
    ("name", "value"), [("w_fts", -1), ("w_vec", 11), ("half_life", 0), ("words", 1), ("memory.backend", None)]
)
async def test_what_is_no_number_of_these_is_refused_with_the_remedy(memory: Memory, name: str, value: Any) -> None:
    with pytest.raises(RequestInvalid, match=r"is a number from|no such number"):
        await memory.ask("set_config", values={name: value})


@pytest.mark.parametrize(
    "text", ["not json", "[1]", "[" * 100_000, '{"w_fts": "much"}', '{"w_fts": true}', '{"w_fts": 1e999}',
             '{"memory.backend": "anthropic"}', '{"memory.dailyTokenCap": 1000000}', " " * 70_000 + "{}"]
)  # fmt: skip
async def test_a_file_that_says_anything_else_decides_nothing_and_is_told(
    memory: Memory, tmp_path: Path, text: str
) -> None:
    before = await scoring(memory)
    write_file(tmp_path, text)
    assert await scoring(memory) == before
    assert ".siftd/config.json" in (await memory.ask("info"))["config"]["problem"]
    assert (await memory.ask("info"))["backend"]["name"] == "extractive"


async def test_a_link_in_the_files_place_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"w_fts": 9}')
    (tmp_path / ".siftd").mkdir()
    (tmp_path / ".siftd" / "config.json").symlink_to(tmp_path / "elsewhere")
    assert (await scoring(memory))["w_fts"] == (1.0, "default")


async def test_what_a_person_changes_with_sqlite3_is_followed_by_the_next_search_after_a_sweep(memory: Memory) -> None:
    async def sureness() -> float:
        (hit,) = (await memory.ask("search", query="part1", k=1))["hits"]
        return float(hit["why"]["confidence"])

    await memory.capture(1)
    await memory.ask("drain")
    before = await sureness()
    with closing(sqlite3.connect(memory.services.paths.database, isolation_level=None)) as person:
        person.execute("UPDATE summaries SET confidence = 0.1")
    memory.clock.at += DAY
    await memory.ask("drain")
    assert await sureness() < 0 < before
