"""Rows of a team's store: made up, projects of any size whose texts have common and rare words, or of real passages.

A made-up text's vector is the sum of its words' vectors, rare words first, with some noise: near texts share words, as
with the built-in embedder, and a hundred thousand take seconds. Nothing in them hangs together beyond that, which is
the worst an index of vectors can meet.
"""

from __future__ import annotations

import base64
import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString

import msgspec
import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from siftd.embed.embedder import Blend384
from siftd.team.items import Put, content_hash, document_id

DIMENSIONS = 384
MODEL = "hash-384"
WORDS = 30_000
IN_A_TEXT = 24
ASKED = 7
FOREIGN = 3
"""Of a question's words, those that its text does not have."""
TS = 1_760_000_000_000
COLUMNS = (
    "project_id", "id", "seq", "rev", "hash", "source", "source_ref", "author", "device", "text", "metadata", "ts",
    "embedding_model", "vector", "embedded_at",
)  # fmt: skip
TYPES = (
    "uuid", "uuid", "int8", "int8", "bytea", "text", "text", "uuid", "uuid", "text", "jsonb", "timestamptz",
    "text", "bytea", "timestamptz",
)  # fmt: skip
"""Of COPY in binary, which passes the bytes of a `bytea` on as they are: a vector's are made here."""
COPY: LiteralString = f"COPY siftd.memories ({', '.join(COLUMNS)}) FROM STDIN (FORMAT BINARY)"
INSERT: LiteralString = f"INSERT INTO siftd.memories ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))})"


@dataclass
class Texts:
    """Texts, their words by number, and their vectors."""

    language: Language
    words: np.ndarray
    vectors: np.ndarray

    def text(self, row: int) -> str:
        return " ".join(word(each) for each in self.words[row])

    def questions(self, count: int) -> list[tuple[str, np.ndarray]]:
        """Return words of some texts with foreign ones among them, and their vectors."""
        rows = self.language.drawn.integers(0, len(self), count)
        return [self.language.question(self.words[int(row)]) for row in rows]

    def rare_words(self, count: int, rows_max: int) -> list[str]:
        """Return words that few of the texts have, and at least one."""
        numbers, rows = np.unique(np.concatenate([np.unique(each) for each in self.words]), return_counts=True)
        return [word(int(each)) for each in numbers[rows <= rows_max][:count]]

    def __len__(self) -> int:
        return len(self.words)


def word(number: int) -> str:
    """Return a word that no stemmer changes and no list of stop words has."""
    letters = []
    for _ in range(5):
        number, rest = divmod(number, 20)
        letters.append("bcdfghjklmnpqrtvwxzu"[rest])
    return "".join(letters) + "q"


class Language:
    """Words with frequencies as in prose, and a vector each."""

    def __init__(self, seed: int = 1) -> None:
        self.drawn = np.random.default_rng(seed)
        frequency = 1 / np.arange(1, WORDS + 1) ** 0.9
        self._chance = frequency / frequency.sum()
        self._weight = np.log(1 / self._chance).astype(np.float32)
        self._vectors = self.drawn.standard_normal((WORDS, DIMENSIONS), dtype=np.float32)

    def texts(self, count: int) -> Texts:
        words = self.drawn.choice(WORDS, size=(count, IN_A_TEXT), p=self._chance)
        vectors = np.empty((count, DIMENSIONS), dtype=np.float16)
        for begin in range(0, count, 5_000):
            vectors[begin : begin + 5_000] = self._embed(words[begin : begin + 5_000])
        return Texts(self, words, vectors)

    def question(self, words: np.ndarray) -> tuple[str, np.ndarray]:
        """Return some of a text's words with foreign ones among them, and their vector."""
        rare_first = np.unique(words)[::-1]  # a word's number is its rank by frequency
        own = self.drawn.choice(rare_first[: IN_A_TEXT // 2], ASKED - FOREIGN, replace=False)
        asked = np.concatenate([own, self.drawn.choice(WORDS, FOREIGN, p=self._chance)])
        return " ".join(word(each) for each in asked), self._embed(asked[None, :])[0]

    def _embed(self, words: np.ndarray) -> np.ndarray:
        summed = np.einsum("rwd,rw->rd", self._vectors[words], self._weight[words])
        summed += (
            0.3
            * np.linalg.norm(summed, axis=1, keepdims=True)
            / DIMENSIONS**0.5
            * self.drawn.standard_normal(summed.shape, dtype=np.float32)
        )
        scaled: np.ndarray = (summed / np.linalg.norm(summed, axis=1, keepdims=True)).astype(np.float16)
        return scaled


@dataclass
class Passages:
    """Texts that somebody wrote, and their vectors."""

    recorded: Recorded
    lines: list[str]
    vectors: np.ndarray

    def text(self, row: int) -> str:
        return self.lines[row]

    def questions(self, count: int) -> list[tuple[str, np.ndarray]]:
        """Return questions that somebody asked, and their vectors."""
        return self.recorded.questions(count)

    def __len__(self) -> int:
        return len(self.lines)


class Recorded:
    """Passages and questions of people and agents, with vectors by the built-in embedder: a passage is a line of a file,
    a question a line of JSON with a `text`."""

    def __init__(self, passages: Path, questions: Sequence[Path]) -> None:
        self.drawn = np.random.default_rng(1)
        self._lines = passages.read_text(encoding="utf-8").splitlines()
        self._asked = [
            msgspec.json.decode(line)["text"] for each in questions for line in each.read_bytes().splitlines()
        ]
        self._embedder = Blend384()

    def texts(self, count: int) -> Passages:
        if len(self._lines) < count:
            raise SystemExit(f"there are {len(self._lines):,} passages; {count:,} are wanted")
        lines = [self._lines[int(each)] for each in self.drawn.permutation(len(self._lines))[:count]]
        made = [self._embedder.embed(lines[begin : begin + 2_000]) for begin in range(0, count, 2_000)]
        return Passages(self, lines, np.concatenate(made).astype(np.float16))

    def questions(self, count: int) -> list[tuple[str, np.ndarray]]:
        asked = [self._asked[int(each)] for each in self.drawn.permutation(len(self._asked))[:count]]
        return [(each, self._embedder.embed_question(each, None).astype(np.float16)) for each in asked]


def puts(project: uuid.UUID, texts: Texts | Passages, *, first: int = 0) -> Iterator[Put]:
    """Yield the texts as items, without their vectors."""
    for row in range(len(texts)):
        reference = f"made-up-{first + row}"
        put = Put(
            id=document_id(project, "memory", reference), rev=1, hash="0" * 64, source="memory",
            source_ref=reference, text=texts.text(row), ts=TS + row, metadata={"type": "fact"},
        )  # fmt: skip
        yield msgspec.structs.replace(put, hash=content_hash(put))


def row_of(
    project: uuid.UUID, put: Put, seq: int, author: uuid.UUID, device: uuid.UUID, vector: np.ndarray
) -> tuple[object, ...]:
    """Return an item as a row of COLUMNS."""
    moment = datetime.fromtimestamp(put.ts / 1000, UTC)
    return (
        project, put.id, seq, put.rev, bytes.fromhex(put.hash), put.source, put.source_ref, author, device, put.text,
        Jsonb(put.metadata), moment, MODEL, half(vector), moment,
    )  # fmt: skip


class Half(bytes):
    """A vector as PostgreSQL takes a `halfvec` in binary."""


def half(vector: np.ndarray) -> Half:
    """Return a vector as a value of a query."""
    return Half(struct.pack(">HH", len(vector), 0) + vector.astype(">f2").tobytes())


def know_vectors(connection: psycopg.AsyncConnection[tuple[object, ...]], oid: int) -> None:
    """Let a connection send vectors; `oid` is that of the type in its database."""

    class HalfDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Half) -> bytes:
            return bytes(obj)

    HalfDumper.oid = oid
    connection.adapters.register_dumper(Half, HalfDumper)


def encoded(vector: np.ndarray) -> str:
    """Return a vector as the wire carries it."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode("ascii")


def copy_rows(connection: psycopg.Connection[tuple[object, ...]], rows: Iterator[tuple[object, ...]]) -> None:
    """Put rows into the table of items."""
    with connection.cursor().copy(COPY) as copy:
        copy.set_types(TYPES)
        for row in rows:
            copy.write_row(row)
