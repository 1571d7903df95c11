"""A large store for `scripts/bench search`, made through the store's own functions: words as frequent as in a language.

The words follow Zipf's law over 40,000 names of two to four syllables; a summary has about 16 of them, its event about
60; 200 events are a session. Vectors are hash-384's own. Made once a size, the same at every run.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from siftd.embed.hash384 import DIM, NAME, embed
from siftd.search import vectors
from siftd.search.vectors import VectorIndex
from siftd.store import facets, summaries
from siftd.store.connection import open_reader, open_writer
from siftd.store.facets import Facets
from siftd.store.summaries import NewSummary

VOCABULARY = 40_000
QUESTIONS = 100
_BATCH = 2_000
_TOOLS = ("Bash", "Edit", "Read", "UserPromptSubmit", "Stop")
_START_MS = 1_760_000_000_000


class Language:
    """Words by rank, drawn by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        lengths = self._random.integers(2, 5, VOCABULARY)
        self.words = ["".join(self._random.choice(syllables, n)) for n in lengths]
        shares = 1 / np.arange(1, VOCABULARY + 1)
        self._upto = np.cumsum(shares / shares.sum())

    def text(self, words: int) -> str:
        drawn = np.searchsorted(self._upto, self._random.random(words))
        return " ".join(self.words[min(at, VOCABULARY - 1)] for at in drawn)


def fill(database: Path, count: int) -> None:
    """Put `count` events with summaries, words and vectors into a fresh store."""
    connection = open_writer(str(database))
    language = Language(1)
    for start in range(0, count, _BATCH):
        connection.execute("BEGIN IMMEDIATE")
        _fill_batch(connection, language, range(start + 1, min(start + _BATCH, count) + 1))
        connection.execute("COMMIT")
    connection.close()


def _fill_batch(connection: sqlite3.Connection, language: Language, ids: range) -> None:
    texts = [language.text(16) for _ in ids]
    connection.executemany(
        "INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json, outcome) VALUES (?, ?, ?, ?, '', '{}', 'ok')",
        [(n, _START_MS + n * 1000, f"session-{n // 200}", _TOOLS[n % len(_TOOLS)]) for n in ids],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO sessions (session_id, started_ts, last_ts) VALUES (?, ?, ?)",
        [(f"session-{n // 200}", _START_MS + n * 1000, _START_MS + (n + 200) * 1000) for n in ids],
    )
    new = [NewSummary(n, "bench", "", f"bench-{n}", text, "", 0, 0, 0.8) for n, text in zip(ids, texts, strict=True)]
    made = summaries.insert_summaries(connection, new, _START_MS)
    facets.insert(
        connection,
        [Facets(n, f"{text} {language.text(44)}", [], []) for n, text in zip(ids, texts, strict=True)],
    )
    packed = embed(texts).astype("<f4")
    summaries.insert_vectors(
        connection, NAME, DIM, [(s, row.tobytes(), "") for s, row in zip(made, packed, strict=True)]
    )


def questions() -> list[str]:
    """Return questions in the same words: some rare, some common."""
    asked = Language(1)
    other = np.random.default_rng(7)
    return [f"{asked.text(4)} {' '.join(other.choice(asked.words[200:4000], 2))}" for _ in range(QUESTIONS)]


def index_figures(database: Path) -> Iterator[dict[str, Any]]:
    """Measure the index alone: one scan of all vectors, the search for the nearest, and what the first pass keeps."""
    connection = open_reader(str(database))
    index = VectorIndex(NAME, DIM)
    started = time.perf_counter()
    index.refresh(connection)
    read = time.perf_counter() - started
    asked = embed(questions())
    scan = _median_ms(lambda vector: (index._matrix[: len(index)] @ vector).max(), asked)
    nearest = _median_ms(lambda vector: _first(index, vector), asked)
    found = [set(_first(index, vector)) for vector in asked]
    usual, vectors.COARSE_FROM = vectors.COARSE_FROM, len(index)
    exact = [set(_first(index, vector)) for vector in asked]
    vectors.COARSE_FROM = usual
    kept = sum(len(one & other) for one, other in zip(found, exact, strict=True)) / sum(map(len, exact))
    batch = list(index._rows)[:16]
    alike = _median_ms(lambda _: index.alike(batch, 0.95, 32), asked[:20])
    connection.close()
    yield {
        "what": f"  nearest by vectors alone, {len(index):,}, against one scan of all",
        "goal": "≤ 1.5 ×",
        "ratio": nearest / scan,
        "ms": nearest,
        "yardstick_ms": scan,
        "recall": kept,
    }
    yield {"what": f"  superseding a batch of 16 against {len(index):,}", "goal": "≤ 60 ms at 100,000", "ms": alike}
    yield {"what": f"  reading {len(index):,} vectors after a start", "goal": "", "ms": read * 1000}


def _first(index: VectorIndex, vector: Any) -> list[int]:
    nearest = index.nearest(vector)
    return [next(nearest)[0] for _ in range(10)]


def _median_ms(work: Any, arguments: Any) -> float:
    took = []
    for argument in arguments:
        started = time.perf_counter()
        work(argument)
        took.append(time.perf_counter() - started)
    return float(np.median(took)) * 1000
