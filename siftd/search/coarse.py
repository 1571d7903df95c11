"""A coarse view of many vectors: one bit a dimension, its sign, to leave out most of them before an exact look.

A question's vector is known in full: only the dimensions in which it has weight are compared, and those in which it
has most count twice. The words lie column by column, so that each step runs along memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_WORD_BITS = 64
_WEIGHTY = 0.5
_WEIGHTIEST = 1.2
"""Of the mean size of a dimension that is not zero: from there on it is compared, and counts twice."""
_BLOCK = 65_536


def doubled(array: NDArray[Any], *, axis: int = 0) -> NDArray[Any]:
    """Return the array with as many zeros behind it along `axis`; these take no memory until they are written.

    `concatenate` writes them: half of an index that has just grown was resident for nothing.
    """
    shape = list(array.shape)
    shape[axis] *= 2
    larger = np.zeros(shape, array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


class Bits:
    """The signs of vectors, by row."""

    def __init__(self, dim: int, capacity: int) -> None:
        self._dim = dim
        self._words = np.zeros((-(-dim // _WORD_BITS), capacity), dtype=np.uint64)

    def double(self) -> None:
        """Make room for as many rows again."""
        self._words = doubled(self._words, axis=1)

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self._words[:, rows] = self._packed(vectors > 0).T

    def move(self, source: int, target: int) -> None:
        self._words[:, target] = self._words[:, source]

    def nearest(self, vector: NDArray[np.float32], count: int, wanted: int) -> NDArray[np.int64]:
        """Return, of the first `count` rows, about `wanted` that differ least from `vector`; at least so many."""
        size = np.abs(vector)
        mean = float(size[size > 0].mean()) if size.any() else 0.0
        masks = self._packed(np.stack([size > _WEIGHTY * mean, size > _WEIGHTIEST * mean]))
        signs = self._packed(vector[None] > 0)[0]
        distances = np.zeros(count, dtype=np.uint16)
        for start in range(0, count, _BLOCK):
            end = min(start + _BLOCK, count)
            for word, sign, weighty, weightiest in zip(self._words, signs, *masks, strict=True):
                differs = word[start:end] ^ sign
                distances[start:end] += np.bitwise_count(differs & weighty)
                distances[start:end] += np.bitwise_count(differs & weightiest)
        cut = int(np.searchsorted(np.cumsum(np.bincount(distances)), min(wanted, count)))
        return np.flatnonzero(distances <= cut)

    def _packed(self, signs: NDArray[np.bool_]) -> NDArray[np.uint64]:
        padded = np.zeros((len(signs), len(self._words) * _WORD_BITS), dtype=np.bool_)
        padded[:, : self._dim] = signs
        packed: NDArray[np.uint64] = np.packbits(padded, axis=1).view(np.uint64)
        return packed
