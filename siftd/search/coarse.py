"""A coarse view of many vectors: two bits a dimension, to leave out most of them before an exact look.

One bit is the sign, the other whether the value is large: half of what a hashed text has is nothing or next to it, and
a sign of nothing is noise. A question's vector is known in full: only the dimensions in which it has weight are
compared, and those in which it has most count twice. The words lie column by column, so that each step runs along
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_WORD_BITS = 64
_WEIGHTY = 0.5
_WEIGHTIEST = 1.2
"""Of the mean size of a dimension that is not zero: from there on it is compared, and counts twice."""
_LARGE = 0.7
"""Of the mean (root of squares) of a vector's values: from there on one is large."""
_BLOCK = 2**16
"""Rows that are compared at once: fewer cost calls, more do not stay in the processor's cache."""
_EVERY_BIT = np.uint64(2**64 - 1)
_GROWTH = 8
"""The next rows are so many times as many."""


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
    """The signs of vectors of length 1, and which of their values are large, by row."""

    def __init__(self, dim: int, capacity: int) -> None:
        self._dim = dim
        self._signs = np.zeros((-(-dim // _WORD_BITS), capacity), dtype=np.uint64)
        self._large = np.zeros_like(self._signs)

    def double(self) -> None:
        """Make room for as many rows again."""
        self._signs, self._large = doubled(self._signs, axis=1), doubled(self._large, axis=1)

    def put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._signs[:, rows] = self._packed(vectors > 0).T
        self._large[:, rows] = self._packed(np.abs(vectors) > _LARGE / self._dim**0.5).T

    def move(self, source: int, target: int) -> None:
        self._signs[:, target] = self._signs[:, source]
        self._large[:, target] = self._large[:, source]

    def nearest(self, vector: NDArray[np.float32], count: int, wanted: int) -> Iterator[NDArray[np.int64]]:
        """Yield the first `count` rows: about `wanted` that agree most with `vector`, then always more of the next."""
        distances = self._distances(vector, count)
        upto, nearer = np.cumsum(np.bincount(distances)), -1
        while nearer + 1 < len(upto):
            cut = int(np.searchsorted(upto, min(wanted, count)))
            yield np.flatnonzero((distances > nearer) & (distances <= cut))
            nearer, wanted = cut, wanted * _GROWTH

    def _distances(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int16]:
        """Return, from 0 on, in how many more dimensions a row's large values differ from `vector` than agree."""
        size = np.abs(vector)
        mean = float(size[size > 0].mean()) if size.any() else 0.0
        weighty, weightiest = self._packed(np.stack([size > _WEIGHTY * mean, size > _WEIGHTIEST * mean]))
        weightiest[weightiest == _EVERY_BIT] -= 1  # so that no balance of a word is 128, which is no int8
        signs = self._packed(vector[None] > 0)[0]
        distances = np.full(count, 2 * self._dim, dtype=np.int16)
        block = np.empty((3, min(count, _BLOCK)), dtype=np.uint64)
        for start in range(0, count, _BLOCK):
            far = distances[start : start + _BLOCK]
            told, differs, twice = block[:, : len(far)]
            rows = slice(start, start + len(far))
            for word, large, sign, light, heavy in zip(
                self._signs, self._large, signs, weighty, weightiest, strict=True
            ):
                np.bitwise_and(large[rows], light, out=told)
                np.bitwise_xor(word[rows], sign, out=differs)
                differs &= told
                balance = np.bitwise_count(differs)
                balance += np.bitwise_count(np.bitwise_and(differs, heavy, out=twice))
                balance += balance  # of what is told, what agrees is what does not differ
                balance -= np.bitwise_count(told)
                balance -= np.bitwise_count(np.bitwise_and(told, heavy, out=twice))
                far += balance.view(np.int8)
        return distances

    def _packed(self, signs: NDArray[np.bool_]) -> NDArray[np.uint64]:
        padded = np.zeros((len(signs), len(self._signs) * _WORD_BITS), dtype=np.bool_)
        padded[:, : self._dim] = signs
        packed: NDArray[np.uint64] = np.packbits(padded, axis=1).view(np.uint64)
        return packed
