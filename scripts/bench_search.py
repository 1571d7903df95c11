"""A large store for `scripts/bench search`, in words as frequent as in a language.

The words follow Zipf's law over 40,000 names of two to four syllables; a summary has about 16 of them, its event about
60; 200 events are a session, whose last summary tells it. Vectors are the sums of those that blend-384 gives the words:
its own but for what pairs of words add, a twentieth, which would take an hour for a million. The same at every run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the daemon

import numpy as np

from siftd.clients.older import kind_and_action
from siftd.embed.blend384 import DIM, NAME, embed, embed_question
from siftd.filters import Filters
from siftd.search import vectors
from siftd.search.query import Question
from siftd.search.retrievers import Retrievers
from siftd.search.row_cache import Rows
from siftd.search.vectors import VectorIndex
from siftd.store import fulltext
from siftd.store.access import Database
from siftd.store.connection import open_reader, open_writer
from siftd.store.scope import Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

VOCABULARY = 40_000
QUESTIONS = 100
_BATCH = 2_000
_SESSION_EVENTS = 200
_SUMMARY_WORDS = 16
_EVENT_WORDS = 60
_TOOLS = ("Bash", "Edit", "Read", "UserPromptSubmit", "Stop")
_START_MS = 1_760_000_000_000
_LATE = ("summaries_inserted", "event_words_inserted", "embeddings_inserted")
"""Triggers that keep full text and the journal of vectors row by row."""
_EVENT = """
INSERT INTO events (id, ts, session_id, tool, kind, action, input_hash, payload_json, outcome, status)
VALUES (?, ?, ?, ?, ?, ?, '', '{}', 'ok', 'summarized')
"""
_SESSION = "INSERT OR IGNORE INTO sessions (session_id, started_ts, last_ts) VALUES (?, ?, ?)"
_SUMMARY = """
INSERT INTO summaries (id, event_id, ts, model, prompt_hash, text, confidence, words, scope)
VALUES (?, ?, ?, 'bench', '', ?, 0.8, '', ?)
"""
_VECTOR = "INSERT INTO summary_embeddings (summary_id, dim, vec, embedder) VALUES (?, ?, ?, ?)"


class Language:
    """Words by rank, drawn by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        lengths = self._random.integers(2, 5, VOCABULARY)
        self.words = ["".join(self._random.choice(syllables, n)) for n in lengths]
        shares = 1 / np.arange(1, VOCABULARY + 1)
        self._upto = np.cumsum(shares / shares.sum())

    def draw(self, *shape: int) -> NDArray[np.int64]:
        """Return ranks of words."""
        drawn: NDArray[np.int64] = np.searchsorted(self._upto[:-1], self._random.random(shape))
        return drawn

    def text(self, ranks: NDArray[np.int64]) -> str:
        return " ".join(map(self.words.__getitem__, ranks.tolist()))


def fill(database: Path, count: int) -> None:
    """Put `count` events with summaries, words and vectors into a fresh store.

    By plain inserts, full text in one go at the end, and the vectors as if they had been compared with each other:
    through captures and ticks a million would take hours. What a search reads is the same.
    """
    connection = open_writer(str(database))
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -256000")
    late = connection.execute(f"SELECT name, sql FROM sqlite_master WHERE name IN {_LATE}").fetchall()
    for name, _ in late:
        connection.execute(f"DROP TRIGGER {name}")
    language = Language(1)
    of_words = embed(language.words)
    for start in range(1, count + 1, _BATCH):
        connection.execute("BEGIN IMMEDIATE")
        _fill_batch(connection, language, of_words, range(start, min(start + _BATCH, count + 1)), count)
        connection.execute("COMMIT")
    for table in ("summaries_fts", "summaries_trigrams", "events_fts"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
    for _, sql in late:
        connection.execute(sql)
    while fulltext.merge_some(connection):  # as ticks do
        pass
    connection.close()


def _fill_batch(
    connection: Database, language: Language, of_words: NDArray[np.float32], ids: range, count: int
) -> None:
    ranks = language.draw(len(ids), _EVENT_WORDS)
    told = ranks[:, :_SUMMARY_WORDS]
    sessions = [f"session-{(n - 1) // _SESSION_EVENTS}" for n in ids]
    times = [_START_MS + n * 1000 for n in ids]
    tools = [_TOOLS[n % len(_TOOLS)] for n in ids]
    scopes = ["event" if n % _SESSION_EVENTS and n < count else "session" for n in ids]
    texts = map(language.text, told)
    kinds = [kind_and_action(None, None, tool) for tool in tools]
    connection.executemany(
        _EVENT, [(*row, *kind) for *row, kind in zip(ids, times, sessions, tools, kinds, strict=True)]
    )
    connection.executemany(
        _SESSION, [(name, ts, ts + _SESSION_EVENTS * 1000) for name, ts in zip(sessions, times, strict=True)]
    )
    connection.executemany(_SUMMARY, zip(ids, ids, times, texts, scopes, strict=True))
    connection.executemany("INSERT INTO event_words VALUES (?, ?)", zip(ids, map(language.text, ranks), strict=True))
    vectors = of_words[told].sum(axis=1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    connection.executemany(_VECTOR, [(n, DIM, vector.tobytes(), NAME) for n, vector in zip(ids, vectors, strict=True)])


def questions() -> list[str]:
    """Return questions in the same words: some rare, some common."""
    asked = Language(1)
    other = np.random.default_rng(7)
    return [f"{asked.text(asked.draw(4))} {' '.join(other.choice(asked.words[200:4000], 2))}" for _ in range(QUESTIONS)]


def index_figures(database: Path) -> Iterator[dict[str, Any]]:
    """Measure the index alone: one scan of all vectors, the search for the nearest, and what the first pass keeps."""
    connection = open_reader(str(database))
    index = VectorIndex(NAME, DIM)
    started = time.perf_counter()
    index.refresh(connection)
    read = time.perf_counter() - started
    asked = [_embedded(connection, question) for question in questions()]
    scan = _median_ms(lambda vector: (index._matrix[: len(index)] @ vector).max(), asked)
    nearest = _median_ms(lambda vector: _first(index, vector), asked)
    found = [set(_first(index, vector)) for vector in asked]
    usual, vectors.COARSE_FROM = vectors.COARSE_FROM, len(index)
    exact = [set(_first(index, vector)) for vector in asked]
    vectors.COARSE_FROM = usual
    kept = sum(len(one & other) for one, other in zip(found, exact, strict=True)) / sum(map(len, exact))
    batch = index._ids[:16].tolist()
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


def _embedded(connection: Database, query: str) -> NDArray[np.float32]:
    """Return a question's vector as a search makes it: its words weigh by how rare they are."""
    question = Question.of(query)
    rarity = Retrievers(connection, Rows(connection), question, Scope.of(Filters())).rarity()
    return embed_question(question.text, rarity)


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
