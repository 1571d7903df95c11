"""The vector index: every vector of one embedder in one matrix, kept in step with the table.

Exact up to `COARSE_FROM` rows: one matrix product a query, a copy of nothing. Beyond, a first pass looks at two bits a
dimension, where the question's vector has weight, and the best are ranked exactly. The table's triggers write a
journal of changes, so that a row that a person deletes with sqlite3 leaves the index like one of ours. A large table
is read piece by piece, newest first, so that the first search after a start need not wait for all of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from siftd.search.bitsliced_scan import Bits, doubled
from siftd.search.id_rows import NOWHERE, Places
from siftd.search.top_k import iter_best
from siftd.store import search_reads
from siftd.store.access import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

COARSE_FROM = 20_000
"""Rows from which on the first pass is faster than the product over all: about the size of the processor's cache."""
_SHARE_FACTOR = 10
"""Times the root of their number: rows that the first pass leaves. Of 100,000 made-up summaries the ten nearest to a
question are among them in 99.3 of 100 cases (with 6: 98.6, with 16: 99.7)."""
_GATHERED = 256
"""Rows that are put side by side at once: few enough for the processor's cache, and less than what malloc gives back to
the system when it is freed, to be taken again page by page (`siftd.wire.environment.ALLOCATOR`)."""
_FIRST_CAPACITY = 1024
_SAMPLE = 256
"""Rows that are looked at to know what is far; with fewer nobody can tell."""
_ORTHOGONAL = ("hash-384",)
"""Embedders that put unrelated texts at right angles; a model's cosines begin at a half or so."""
_USUAL = {"blend-384": 0.06}
"""The mean cosine of recorded questions with the summaries of another project."""
BUILT_IN = ("blend-384", "hash-384")
_WEIGHT_OF_MODELS = 0.7
"""What nearness by a model counts, beside 1 by hash-384: with 1 the words alone find the right one among ten more often
than both together, and R@1 is 0.007 less in recorded sessions and in long chats (all-MiniLM-L6-v2)."""
PIECE = 4_096
"""Rows that are read at once."""
CHANGES = 256
"""Changed rows that are set at once: each by itself takes three times as long, all together memory."""
BLOCK = 8_192
"""Rows that are compared at once with several vectors: bounds memory."""
_HEAD_SHARE = 4
"""Of a vector's dimensions one in so many, the first ones, are enough to rule out nearly every pair of texts."""
PAIRS_MAX = 4_096
"""Pairs of a block that are looked at one by one; of more the whole product is quicker."""
_ROUNDING = 1e-4


def usual_of_few(embedder: str) -> float:
    """Return what is far in a space, where there are too few rows to tell."""
    return _USUAL.get(embedder, 0.0)


def is_built_in(embedder: str) -> bool:
    """Whether a vector of this space costs next to nothing."""
    return embedder in BUILT_IN


def is_orthogonal(embedder: str) -> bool:
    """Whether unrelated texts are at right angles in this space."""
    return embedder in _ORTHOGONAL


class VectorIndex:
    """Summary ids and their vectors. Used from one thread at a time."""

    def __init__(self, embedder: str, dim: int) -> None:
        self.embedder = embedder
        self.dim = dim
        self._ids = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._matrix = np.zeros((_FIRST_CAPACITY, dim), dtype=np.float32)
        self._bits = Bits(dim, _FIRST_CAPACITY)
        self._head = dim // _HEAD_SHARE
        self._tails = np.zeros(_FIRST_CAPACITY, dtype=np.float32)
        """By row: the length of what comes after the head."""
        self._rows = Places()
        self._seen: int | None = None
        self._read_down_to: int | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def weight(self) -> float:
        """What nearness in this space counts."""
        return 1.0 if self.embedder in BUILT_IN else _WEIGHT_OF_MODELS

    @property
    def is_whole(self) -> bool:
        """Whether the table has been read to its end."""
        return self._seen is not None and self._read_down_to is None

    def refresh(self, connection: Database, *, seconds: float | None = None) -> None:
        """Take in what changed since the last call; of a table that is not read yet, as much as `seconds` allow."""
        newest = search_reads.last_vector_change(connection)
        if self._seen is None or search_reads.oldest_vector_change(connection) > self._seen + 1:
            self._rows.clear()
            self._read_down_to = 2**62
        elif newest > self._seen:
            changed = search_reads.vector_changes(connection, self._seen)
            for start in range(0, len(changed), CHANGES):
                self._follow(connection, changed[start : start + CHANGES])
        self._seen = newest
        until = None if seconds is None else time.monotonic() + seconds
        while self._read_down_to is not None:
            piece = search_reads.list_vectors(connection, self.embedder, self.dim, self._read_down_to, PIECE)
            self._put(piece)
            self._read_down_to = piece[-1][0] if len(piece) == PIECE else None
            if until is not None and time.monotonic() >= until:
                break

    def _follow(self, connection: Database, changed: Sequence[int]) -> None:
        """Set the rows of summaries whose vector changed, or is gone, as the table says now."""
        now = [(each, search_reads.find_vector(connection, self.embedder, self.dim, each)) for each in changed]
        for summary_id in (each for each, packed in now if packed is None):
            self._remove(summary_id)
        self._put([(summary_id, packed) for summary_id, packed in now if packed is not None])

    def windows(
        self, vector: NDArray[np.float32], among: NDArray[np.int64] | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield summary ids with their cosines, best first, window after window, as far as the caller wants to go.

        With `among` only those of these that have a vector.
        """
        for rows in self._looked_at(vector, among):
            for ids, cosines in iter_best(self._ids[rows], self._cosines(rows, vector)):
                yield ids, cosines.astype(np.float64)

    def nearest(self, vector: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
        """Yield (summary id, cosine) best first."""
        for ids, cosines in self.windows(vector):
            yield from zip(ids.tolist(), cosines.tolist(), strict=True)

    def _looked_at(
        self, vector: NDArray[np.float32], among: NDArray[np.int64] | None
    ) -> Iterator[NDArray[np.int64] | slice]:
        """Yield the rows whose cosines are wanted: those that look best first."""
        count = len(self._rows)
        if among is not None:
            rows = self._rows.find_all(among)
            yield rows[rows != NOWHERE]
        elif count <= COARSE_FROM:
            yield slice(0, count)
        else:
            yield from self._bits.nearest(vector, count, int(_SHARE_FACTOR * count**0.5))

    def _cosines(self, rows: NDArray[np.int64] | slice, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        if isinstance(rows, slice):
            whole: NDArray[np.float32] = self._matrix[rows] @ vector
            return whole
        cosines = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _GATHERED):
            some = rows[start : start + _GATHERED]
            cosines[start : start + len(some)] = self._matrix[some] @ vector
        return cosines

    def alike(
        self, summary_ids: Sequence[int], cosine: float, limit: int, rows: range | None = None
    ) -> dict[int, list[tuple[int, float]]]:
        """Return for each of `summary_ids` that has a vector the others at `cosine` or nearer, at most `limit`.

        One pass over `rows`, or over all, for all of them, exact: by the heads of two vectors and the lengths of their
        tails a product cannot be more than so much (Cauchy, Schwarz), and only those that can be near are multiplied.
        """
        rows_asked = {each: row for each in summary_ids if (row := self._rows.find(each)) is not None}
        asked, places = list(rows_asked), list(rows_asked.values())
        found: dict[int, list[tuple[int, float]]] = {each: [] for each in asked}
        vectors, tails = self._matrix[places], self._tails[places]
        heads = np.ascontiguousarray(vectors[:, : self._head].T)
        first, last = (rows.start, min(rows.stop, len(self))) if rows is not None else (0, len(self))
        for start in range(first, last if asked else first, BLOCK):
            block = self._matrix[start : min(start + BLOCK, last)]
            most = block[:, : self._head] @ heads
            most += np.outer(self._tails[start : start + len(block)], tails)
            # Of two dimensions at once `nonzero` takes ten times as long.
            near, columns = np.divmod(np.flatnonzero(most >= cosine - _ROUNDING), len(asked))
            if len(near) > PAIRS_MAX:
                scores = block @ vectors.T
                near, columns = np.nonzero(scores >= cosine)
                cosines = scores[near, columns]
            else:
                cosines = np.einsum("ij,ij->i", block[near], vectors[columns])
            for row, column, score in zip(near.tolist(), columns.tolist(), cosines.tolist(), strict=True):
                other = int(self._ids[start + row])
                if score >= cosine and other != asked[column]:
                    found[asked[column]].append((other, score))
        return {each: sorted(pairs, key=lambda one: (-one[1], -one[0]))[:limit] for each, pairs in found.items()}

    def usual_cosine(self, vector: NDArray[np.float32]) -> float:
        """Return what is far in this space: the mean cosine of rows spread over all, of few what is known already."""
        count = len(self._rows)
        if count < _SAMPLE or self.embedder in _ORTHOGONAL:
            return usual_of_few(self.embedder)
        return float((self._matrix[: count : count // _SAMPLE] @ vector).mean())

    def vector_of(self, summary_id: int) -> NDArray[np.float32] | None:
        row = self._rows.find(summary_id)
        return None if row is None else self._matrix[row]

    def _put(self, piece: Sequence[tuple[int, bytes]]) -> None:
        """Set rows, new ones at the end."""
        ids = [summary_id for summary_id, _ in piece]
        where = self._rows.add(ids)
        while len(self._rows) > len(self._ids):
            self._ids, self._matrix = doubled(self._ids), doubled(self._matrix)
            self._tails = doubled(self._tails)
            self._bits.double()
        if piece:
            vectors = np.frombuffer(b"".join(packed for _, packed in piece), dtype="<f4").reshape(len(piece), self.dim)
            self._ids[where] = ids
            self._matrix[where] = vectors
            self._tails[where] = np.sqrt((vectors[:, self._head :] ** 2).sum(axis=1))
            self._bits.put(where, vectors)

    def _remove(self, summary_id: int) -> None:
        """Take a row out; the last one moves into its place."""
        row = self._rows.take_out(summary_id)
        last = len(self._rows)
        if row is not None and row != last:
            moved = int(self._ids[last])
            self._ids[row], self._matrix[row], self._tails[row] = moved, self._matrix[last], self._tails[last]
            self._bits.move(last, row)
            self._rows.move(moved, row)
