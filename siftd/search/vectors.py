"""The vector index: every vector of one embedder in one matrix, kept in step with the table.

Exact: one matrix product a query. The table's triggers write a journal of changes, so that a row that a person
deletes with sqlite3 leaves the index like one of ours. numpy is imported when the first vector is wanted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from siftd.store import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_CAPACITY = 1024
_WINDOW = 64
_SAMPLE = 256
"""Rows that are looked at to know what is far; with fewer nobody can tell."""
_ORTHOGONAL = ("hash-384",)
"""Embedders that put unrelated texts at right angles; a model's cosines begin at a half or so."""


class VectorIndex:
    """Summary ids and their vectors. Used from one thread at a time."""

    def __init__(self, embedder: str, dim: int) -> None:
        self.embedder = embedder
        self.dim = dim
        self._ids = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._matrix = np.zeros((_FIRST_CAPACITY, dim), dtype=np.float32)
        self._rows: dict[int, int] = {}
        self._seen: int | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Take in what changed since the last call."""
        newest = candidates.last_vector_change(connection)
        if self._seen is None or candidates.oldest_vector_change(connection) > self._seen + 1:
            self._load(connection)
        elif newest > self._seen:
            for summary_id in candidates.vector_changes(connection, self._seen):
                packed = candidates.find_vector(connection, self.embedder, self.dim, summary_id)
                if packed is None:
                    self._remove(summary_id)
                else:
                    self._put(summary_id, packed)
        self._seen = newest

    def nearest(self, vector: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
        """Yield (summary id, cosine) best first, as far as the caller wants to go."""
        count = len(self._rows)
        scores = self._matrix[:count] @ vector
        yield from self._descending(scores, np.arange(count))

    def nearest_among(self, vector: NDArray[np.float32], summary_ids: list[int]) -> Iterator[tuple[int, float]]:
        """Yield (summary id, cosine) of those among `summary_ids` that have a vector, best first."""
        rows = np.array([self._rows[each] for each in summary_ids if each in self._rows], dtype=np.int64)
        if len(rows):
            yield from self._descending(self._matrix[rows] @ vector, rows)

    def usual_cosine(self, vector: NDArray[np.float32]) -> float:
        """Return what is far in this space: the mean cosine of rows spread over all, 0 where far is orthogonal."""
        count = len(self._rows)
        if self.embedder in _ORTHOGONAL or count < _SAMPLE:
            return 0.0
        return float((self._matrix[: count : count // _SAMPLE] @ vector).mean())

    def vector_of(self, summary_id: int) -> NDArray[np.float32] | None:
        row = self._rows.get(summary_id)
        return None if row is None else self._matrix[row]

    def _descending(self, scores: NDArray[np.float32], rows: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
        """Sort only as much as is asked for: a window of the best, then four times that, and so on.

        A window ends between two scores, never among equals: else a larger one would put others in its place.
        """
        done = 0
        window = _WINDOW
        while done < len(scores):
            best = np.arange(len(scores))
            if window < len(scores):
                best = np.flatnonzero(scores >= np.partition(scores, -window)[-window])
            order = best[np.lexsort((-self._ids[rows[best]], -scores[best]))]
            for at in order[done:]:
                yield int(self._ids[rows[at]]), float(scores[at])
            done = len(order)
            window *= 4

    def _load(self, connection: sqlite3.Connection) -> None:
        self._rows.clear()
        for summary_id, packed in candidates.iter_vectors(connection, self.embedder, self.dim):
            self._put(summary_id, packed)

    def _put(self, summary_id: int, packed: bytes) -> None:
        row = self._rows.get(summary_id)
        if row is None:
            row = len(self._rows)
            if row == len(self._ids):
                self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])
                self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
            self._rows[summary_id] = row
            self._ids[row] = summary_id
        self._matrix[row] = np.frombuffer(packed, dtype="<f4")

    def _remove(self, summary_id: int) -> None:
        """Take a row out; the last one moves into its place."""
        row = self._rows.pop(summary_id, None)
        last = len(self._rows)
        if row is not None and row != last:
            moved = int(self._ids[last])
            self._ids[row], self._matrix[row] = moved, self._matrix[last]
            self._rows[moved] = row
