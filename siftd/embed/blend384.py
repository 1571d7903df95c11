"""The default embedder: how words look, beside what they mean; no network, no download, no state.

Of 384 dimensions the first 256 are features hashed as in `hash384`: letters and pairs of words, by which identifiers,
typos and other forms of a word are near each other. The other 128 are the mean of what a table knows of each word
(`word_table`), by which "how do we represent prices" is near "money amounts are integer cents". A vector is the two
side by side, so that a cosine is the weighted sum of both cosines.

Sums are of whole numbers, so the same text gives the same bytes everywhere. A stored vector names this space by `NAME`:
whoever changes a weight, a feature or the table changes the name too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from siftd.embed import hash384
from siftd.embed.word_table import PIECE_BYTES, load, pieces_of
from siftd.embed.words import split_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "blend-384"
LOOKS_DIM = 256
MEANING_DIM = 128
DIM = LOOKS_DIM + MEANING_DIM
_MEANING_SHARE = 0.4
"""What the cosine of meanings counts in the cosine of two texts' vectors; the rest is that of looks."""
_MEANING_OF_QUESTIONS = 0.3
"""The same in the vector of a question to events, whose words are many. Of 0 to 0.6 the best in recorded sessions."""
_MEANING_AMONG_STATEMENTS = 0.85
"""The same where the question is put to single statements, which say what they mean once."""


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one row per text: float32, length 1, or all zeros for a text without any word."""
    vectors = np.empty((len(texts), DIM), dtype=np.float32)
    vectors[:, :LOOKS_DIM] = hash384.embed(texts, LOOKS_DIM)
    for row, text in zip(vectors, texts, strict=True):
        row[LOOKS_DIM:] = _meaning(text)
    return _joined(vectors, _MEANING_SHARE)


def embed_question(text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:
    """Return a question's vector: to events, of which it is known how rare its words are, or to single statements."""
    vectors = np.empty((1, DIM), dtype=np.float32)
    vectors[0, :LOOKS_DIM] = hash384.embed_question(text, weights, LOOKS_DIM)
    vectors[0, LOOKS_DIM:] = _meaning(text)
    row: NDArray[np.float32]
    row = _joined(vectors, _MEANING_AMONG_STATEMENTS if weights is None else _MEANING_OF_QUESTIONS)[0]
    return row


def _joined(vectors: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    """Weigh the two parts, each of length 1, so that the whole is. A part that is nothing leaves all to the other."""
    looks, meaning = vectors[:, :LOOKS_DIM], vectors[:, LOOKS_DIM:]
    both = looks.any(axis=1) & meaning.any(axis=1)
    looks[both] *= np.float32(math.sqrt(1 - share))
    meaning[both] *= np.float32(math.sqrt(share))
    return vectors


def _meaning(text: str) -> NDArray[np.float64]:
    """Return the mean of the words' vectors with length 1. Said ten times is a little more than three times said."""
    said = Counter(split_words(text)[: hash384.WORDS_MAX])
    table = load()
    packed = [pieces_of(word) for word in said]
    pairs = np.frombuffer(b"".join(packed), np.intc).reshape(-1, 2)
    sizes = [len(each) // PIECE_BYTES for each in packed]
    counts = np.repeat([hash384.frequency_weight(number) for number in said.values()], sizes)
    numbers = pairs[:, 0]
    # Far below 2**53, where floats still are whole numbers: in whichever order they are added, the sum is the same.
    weights = pairs[:, 1] * np.asarray(counts, np.float64) * table.scales[numbers]
    sums = weights @ table.values[numbers].astype(np.float64)
    length = math.sqrt(math.fsum((sums * sums).tolist()))  # which adds exactly
    mean: NDArray[np.float64] = sums / (length or 1.0)
    return mean
