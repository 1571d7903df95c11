"""What words mean, as far as a table knows it: a vector for each of some 20,000 pieces of words.

`word_table.bin` is made by `scripts/make_word_table.py` from the weights that wordllama carries (MIT,
`word_table.LICENSE`): token vectors that were trained so that their mean tells what a text is about.

    bytes   what
    8       "siftdwrd"
    2       version 1, little-endian as everything here
    2       dimensions
    4       pieces
    4       bytes of the next part
    ...     the pieces, UTF-8, one a line, in the order in which they are merged; "▁" begins a word, "<0x2F>" is a byte
    pieces  a scale for each piece, unsigned
    ...     pieces x dimensions signed bytes: a piece's vector is its row times its scale

Whole numbers only, so that sums are the same on every machine. A word is cut into pieces as SentencePiece's BPE does
(Sennrich et al., 2016): of all neighbours the pair that comes first in the list is merged, until none is in it.
"""

from __future__ import annotations

import mmap
import struct
from array import array
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
_HEADER = struct.Struct("<8sHHII")
_BEGINNING = "\u2581"
PIECE_BYTES = 2 * array("i").itemsize
_WHOLE = 64
"""What all pieces of a word weigh together."""


class Table(NamedTuple):
    """The pieces by name, and their vectors, each to be multiplied with its scale."""

    numbers: dict[str, int]
    scales: NDArray[np.float64]
    values: NDArray[np.int8]


@cache
def load() -> Table:
    """Return the table that this package carries. The vectors stay in the file: of most pieces none is ever wanted."""
    with Path(__file__).with_name("word_table.bin").open("rb") as file:
        magic, version, dim, count, text_bytes = _HEADER.unpack(file.read(_HEADER.size))
        if (magic, version) != (b"siftdwrd", VERSION):
            raise ValueError("word_table.bin is of another version")
        pieces = file.read(text_bytes).decode().split("\n")
        scales = np.frombuffer(file.read(count), np.uint8).astype(np.float64)
        held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    values = np.frombuffer(held, np.int8, count * dim, _HEADER.size + text_bytes + count).reshape(count, dim)
    return Table({piece: number for number, piece in enumerate(pieces)}, scales, values)


@lru_cache(maxsize=16_384)
def pieces_of(word: str) -> bytes:
    """Return the numbers of a word's pieces, each with its weight in the word: pairs of C ints, packed."""
    numbers = load().numbers
    found = [number for piece in _merged(_BEGINNING + word, numbers) for number in _numbers_of(piece, numbers)]
    weight = max(1, round(_WHOLE / max(1, len(found))))
    return array("i", (each for number in found for each in (number, weight))).tobytes()


def _merged(text: str, numbers: dict[str, int]) -> list[str]:
    """A word has 64 characters at most, so that quadratic is little."""
    parts = list(text)
    while len(parts) > 1:
        pairs = [(numbers.get(one + two), at) for at, (one, two) in enumerate(pairwise(parts))]
        best = min((pair for pair in pairs if pair[0] is not None), default=None)
        if best is None:
            break
        at = best[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def _numbers_of(piece: str, numbers: dict[str, int]) -> list[int]:
    number = numbers.get(piece)
    return [numbers[f"<0x{byte:02X}>"] for byte in piece.encode()] if number is None else [number]
