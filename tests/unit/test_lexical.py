"""Postings: the best rows are those that reading everything would give."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from siftd.search import lexical
from siftd.store import postings

DEPTH = 5
WORDS = [f"w{rank}" for rank in range(300)]


@pytest.fixture
def texts() -> Iterator[sqlite3.Connection]:
    """2,000 rows of eight words, which are as unlike in frequency as those of a language."""
    chance = random.Random(1)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
        rows = (chance.choices(WORDS, [1 / (rank + 1) for rank in range(len(WORDS))], k=8) for _ in range(2_000))
        connection.executemany("INSERT INTO texts VALUES (?)", [(" ".join(row),) for row in rows])
        yield connection


def test_the_best_rows_are_those_of_reading_everything_and_less_is_read(
    texts: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "FIRST_POSTINGS", 4)
    read = 0

    def counting(*args: object, newest: object = postings.newest, **fields: object) -> str:
        nonlocal read
        found: str = newest(*args, **fields)  # type: ignore[operator]
        read += found.count(",") + bool(found)
        return found

    monkeypatch.setattr(postings, "newest", counting)
    chance = random.Random(2)
    totals = [0, 0]
    for _ in range(40):
        question = [f'"{word}"' for word in chance.sample(WORDS, 5)]
        every = lexical.find(texts, "texts", 2_000, question)
        totals[0] += read
        read = 0
        enough = lexical.find(texts, "texts", 2_000, question, is_enough=lambda ids: len(ids) >= DEPTH)
        totals[1] += read
        read = 0
        assert best(enough) == best(every)
        assert enough.weights == every.weights
    assert totals[1] < totals[0] / 2


def best(found: lexical.Matches) -> list[tuple[float, int]]:
    """Return the first rows, with every one that shares the last place."""
    cut = np.sort(found.shares)[::-1][:DEPTH].min()
    kept = found.shares >= cut - 1e-9
    return sorted(zip(found.shares[kept].round(9).tolist(), found.ids[kept].tolist(), strict=True))
