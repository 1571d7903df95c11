"""A coarse view of many vectors, to leave out most of them before an exact look: two bits a dimension, in slices.

A value is largely positive, largely negative or neither: half of what a hashed text has is nothing or next to it, and
a sign of nothing is noise. A question's vector is known in full: only the dimensions in which it has weight are
looked at, and each counts as often as its weight says.

The bits of one dimension lie side by side, 64 rows in a word (bit slices: O'Neil and Quass, 1997). How much rows agree
with the question is added up slice by slice with the logic of a binary adder, for 64 rows at once, and the best are
taken from the digits of the sums without ever writing out a sum (Rinfret, O'Neil and O'Neil, "Bit-sliced index
arithmetic", 2001). Against counting the bits of each row's words that takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    _Slice = NDArray[np.uint64]

_WORD_BITS = 64
LARGE = 0.7
"""Of the mean (root of squares) of a vector's values: from there on one is large."""
DIMENSIONS_MAX = 192
"""The weightiest ones that are looked at: a model's vectors have weight in all, and a half of 384 tells as much."""
WEIGHT_MAX = 3
"""A dimension of the question counts as often as its size is times the mean of those that are not zero, rounded, at
most so often."""
BLOCK = 2**12
"""Words of a slice that are added up at once: fewer cost calls, more do not stay in the processor's cache."""
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
    """Which values of vectors of length 1 are large, by dimension and row."""

    def __init__(self, dim: int, capacity: int) -> None:
        self._large = LARGE / dim**0.5
        self.octets = np.zeros((dim, 2, -(-capacity // _WORD_BITS) * _WORD_BITS // 8), dtype=np.uint8)
        """By dimension: whether a row's value is largely positive, and whether it is not largely negative."""

    def double(self) -> None:
        """Make room for as many rows again."""
        self.octets = doubled(self.octets, axis=2)

    def put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Set rows, at least one; those that follow each other are set at once."""
        ends = np.flatnonzero(np.diff(rows) != 1) + 1
        for first, some in zip(rows[[0, *ends]].tolist(), np.split(vectors, ends), strict=True):
            octets = slice(first // 8, -(-(first + len(some)) // 8))
            bits = np.unpackbits(self.octets[:, :, octets], axis=2, bitorder="little")
            run = slice(first % 8, first % 8 + len(some))
            bits[:, 0, run] = (some > self._large).T
            bits[:, 1, run] = (some >= -self._large).T
            self.octets[:, :, octets] = np.packbits(bits, axis=2, bitorder="little")

    def move(self, source: int, target: int) -> None:
        moved = self.octets[:, :, source // 8] >> np.uint8(source % 8) & np.uint8(1)
        others = self.octets[:, :, target // 8] & np.uint8(~(1 << target % 8) & 0xFF)
        self.octets[:, :, target // 8] = others | moved << np.uint8(target % 8)

    def nearest(self, vector: NDArray[np.float32], count: int, wanted: int) -> Iterator[NDArray[np.int64]]:
        """Yield the first `count` rows: about `wanted` that agree most with `vector`, then always more of the next."""
        sums = self.sums_of_bits(vector, count)
        every = _first(count, -(-count // _WORD_BITS))
        seen = np.zeros_like(every)
        while (every != seen).any():
            best = greatest(sums, every, wanted)
            yield _rows(best & ~seen)
            seen, wanted = best, wanted * _GROWTH

    def sums_of_bits(self, vector: NDArray[np.float32], count: int) -> list[_Slice]:
        """Return the binary digits, lowest first, of how much each row agrees, plus what is the same for each."""
        size = np.abs(vector)
        size[np.argsort(size)[:-DIMENSIONS_MAX]] = 0
        mean = float(size[size > 0].mean()) if size.any() else 1.0
        weights = np.minimum(np.rint(size / mean), WEIGHT_MAX).astype(np.int64)
        along, against = (np.flatnonzero((weights > 0) & is_so).tolist() for is_so in (vector > 0, vector < 0))
        slices = self.octets.view(np.uint64)[:, :, : -(-count // _WORD_BITS)]
        blocks = []
        for start in range(0, slices.shape[2], BLOCK):
            block = slices[:, :, start : start + BLOCK]
            nothing = np.zeros(block.shape[2], dtype=np.uint64)
            contrary = enumerate(_added_up(_weighed(block, against, weights), nothing))
            agreeing = _weighed(block, along, weights) + [(digit, ~bits) for digit, bits in contrary]
            blocks.append(_added_up(agreeing, nothing))
        return [np.concatenate(digits) for digits in zip(*blocks, strict=True)]


def _weighed(
    slices: NDArray[np.uint64], dimensions: Iterable[int], weights: NDArray[np.int64]
) -> list[tuple[int, _Slice]]:
    """Return both slices of each dimension, with the digits at which their bits count."""
    return [
        (digit, bits)
        for dimension in dimensions
        for digit in range(WEIGHT_MAX.bit_length())
        if weights[dimension] >> digit & 1
        for bits in slices[dimension]
    ]


def _added_up(slices: Sequence[tuple[int, _Slice]], nothing: _Slice) -> list[_Slice]:
    """Return the digits, lowest first, of the sums of bits, each of which counts at its digit.

    Three bits of one digit are one of that digit and one of the next (a full adder): no more than two ever wait.
    """
    most = sum(1 << digit for digit, _ in slices)
    waiting = [[nothing] for _ in range(most.bit_length())]

    def add(digit: int, bits: _Slice) -> None:
        for held in waiting[digit:]:
            held.append(bits)
            if len(held) < 3:
                return
            one, two, three = held
            differ = one ^ two
            held[:] = [differ ^ three]
            bits = one & two | differ & three

    for digit, bits in slices:
        add(digit, bits)
    for digit, held in enumerate(waiting):
        if len(held) > 1:
            add(digit, nothing)
    return [held[0] for held in waiting]


def greatest(digits: Sequence[_Slice], among: _Slice, wanted: int) -> _Slice:
    """Return which rows of `among` have the greatest numbers: at least `wanted`, with all that equal the last one."""
    taken, equal = np.zeros_like(among), among
    for digit in reversed(digits):
        larger = equal & digit
        count = int(np.bitwise_count(larger).sum())
        if count < wanted:
            taken |= larger
            wanted -= count
            larger = equal & ~digit
        equal = larger
    return taken | equal


def _first(count: int, words: int) -> _Slice:
    """Return the slice in which the first `count` rows are."""
    octets = np.zeros(words * _WORD_BITS // 8, dtype=np.uint8)
    octets[: count // 8] = 0xFF
    if count % 8:
        octets[count // 8] = (1 << count % 8) - 1
    return octets.view(np.uint64)


def _rows(bits: _Slice) -> NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little").view(np.bool_))
