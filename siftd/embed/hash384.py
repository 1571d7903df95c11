"""Feature hashing into 384 dimensions, or fewer; no model, no network, no state.

The features of a text are its words (identifiers whole and in parts), pairs of neighbouring words, and the
character n-grams of each word, so that "rejected" is near "rejects" and "validateToken" near "validate a token".
Each feature adds a small whole number to a few dimensions chosen by its BLAKE2b digest; only the last step, the
normalisation, leaves the integers. The same text therefore gives the same bytes on every machine and in every
process, whatever numpy is underneath.

A stored vector names this space by `NAME`: whoever changes a weight, a feature or a list below changes the name too.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise, starmap
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from siftd.embed.words import is_unspaced, split_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "hash-384"
DIM = 384

WORDS_MAX = 2048
"""Words of a text that count. Arbitrary: a long document's vector no longer changes much beyond."""

_BATCH_TEXTS = 256
"""Texts whose features are held at once: bounds memory, changes no result."""

_WORD_WEIGHT = 100
_GRAMS_WEIGHT = 90
"""Shared by all character n-grams of one word."""
_PAIR_WEIGHT = 30
_WORD_SLOTS = 4
"""Dimensions a word is spread over: fewer collide whole, more blur."""

_STOP_FACTOR = 0.05
_COMMON_FACTOR = 0.35
_SHORT_FACTOR = 0.6
_NUMBER_FACTOR = 0.25
"""Durations and counts change from run to run and tell little."""

_STOP_WORDS = frozenset(
    split_words(
        "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is"
        " it its me my of on or our she should so than that the their them then there these they this those to was we"
        " were what when where which who why will with would you your about any some just also now"
    )
)
_COMMON_WORDS = frozenset(
    split_words(
        "edited edit wrote write read ran run created updated changed added file files line lines exit command output"
        " py js ts src test tests code use used using get set new one"
    )
)


def embed(texts: Sequence[str], dim: int = DIM) -> NDArray[np.float32]:
    """Return one row of `dim` per text: float32, length 1, or all zeros for a text without any word."""
    vectors = np.zeros((len(texts), dim), dtype=np.float32)
    for start in range(0, len(texts), _BATCH_TEXTS):
        sums = _sums(texts[start : start + _BATCH_TEXTS], dim)
        lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
        np.divide(sums, lengths, out=sums, where=lengths > 0)
        vectors[start : start + len(sums)] = sums
    return vectors


def embed_question(text: str, weights: Mapping[str, float] | None, dim: int = DIM) -> NDArray[np.float32]:
    """Return a question's vector, in which each of its words counts once and as much as `weights` says, or nothing.

    The space is that of `embed`; only the proportions differ, so that "fix the okapi" is near what tells of an okapi.
    """
    if weights is None:
        row: NDArray[np.float32] = embed([text], dim)[0]
        return row
    words = [word for word in dict.fromkeys(split_words(text)[:WORDS_MAX]) if weights.get(word)]
    features = [(_word_feature(word), weights[word]) for word in words]
    counted = [word for word in words if word not in _STOP_WORDS]
    features += [(_pair_feature(*pair), min(weights[each] for each in pair)) for pair in pairwise(counted)]
    slots, values = _unpacked(b"".join(feature for feature, _ in features))
    each = np.repeat([weight for _, weight in features], [len(feature) // _ADDEND.size for feature, _ in features])
    sums = np.bincount(slots % dim, values * each, dim)
    length = math.sqrt(float(sums @ sums))
    return (sums / length if length else sums).astype(np.float32)


def _sums(texts: Sequence[str], dim: int) -> NDArray[np.float64]:
    """Add up the features of each text. Every addend is a whole number, so the order of addition cannot matter."""
    features: list[bytes] = []
    weights: list[int] = []
    counts: list[int] = []
    for text in texts:
        words = split_words(text)[:WORDS_MAX]
        said = Counter(words)
        pairs = Counter(pairwise([word for word in words if word not in _STOP_WORDS]))
        features += map(_word_feature, said)
        features += starmap(_pair_feature, pairs)
        weights += map(frequency_weight, said.values())
        weights += map(frequency_weight, pairs.values())
        counts.append(len(said) + len(pairs))
    slots, values = _unpacked(b"".join(features))
    sizes = np.fromiter(map(len, features), np.int64, len(features)) // _ADDEND.size
    rows = np.repeat(np.repeat(np.arange(len(texts)) * dim, counts), sizes)
    what = values * np.repeat(weights, sizes)
    sums = np.bincount(rows + slots % dim, weights=what, minlength=len(texts) * dim).astype(np.float64, copy=False)
    return sums.reshape(len(texts), dim)


@cache
def frequency_weight(n: int) -> int:
    """Sub-linear: said ten times is a little more than three times said once."""
    return 8 if n == 1 else round(8 * (1 + math.log(n)))


# A feature is kept packed: for each slot that it touches `slot + _STEP * number`, where the number is what it adds; the
# slot modulo the dimensions says where. Tens of thousands are kept, most new ones are a pair of words, and an array for
# each cost more than its hashing.

_STEP = 2**15
_ADDEND = Struct("i")
_pack = _ADDEND.pack


@lru_cache(maxsize=16_384)
def _word_feature(word: str) -> bytes:
    """A word and its character n-grams, weighted by how much the word tells."""
    factor = _factor(word)
    spread = _spread("w:" + word, _WORD_WEIGHT * factor, _WORD_SLOTS)
    grams = _grams(word) if word not in _STOP_WORDS else []
    if grams:
        each = _STEP * max(1, round(_GRAMS_WEIGHT * factor / math.sqrt(len(grams))))
        spread += [slot + each * sign for slot, sign in map(_gram_slot, grams)]
    return array("i", spread).tobytes()


@lru_cache(maxsize=16_384)
def _gram_slot(gram: str) -> tuple[int, int]:
    """The slot and the sign of a gram: new words are made of known ones (half of the time of a new word)."""
    return _slot("g:" + gram)


@lru_cache(maxsize=16_384)
def _pair_feature(first: str, second: str) -> bytes:
    """Two neighbouring words: the only feature that knows an order."""
    slot, sign = _slot(f"p:{first} {second}")
    return _pack(slot + _STEP * sign * max(1, round(_PAIR_WEIGHT * min(_factor(first), _factor(second)))))


def _unpacked(feature: bytes) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the slots that are touched, and the whole number that is added to each."""
    packed = np.frombuffer(feature, dtype=np.intc)
    return packed % _STEP, (packed // _STEP).astype(np.float64)


@lru_cache(maxsize=16_384)
def _factor(word: str) -> float:
    if word in _STOP_WORDS:
        return _STOP_FACTOR
    if word in _COMMON_WORDS:
        return _COMMON_FACTOR
    if word[0].isdigit():
        return _NUMBER_FACTOR
    return _SHORT_FACTOR if len(word) < 3 and not is_unspaced(word) else 1.0


def _grams(word: str) -> list[str]:
    """Three and four characters in a row, edges marked; single characters where a word is a pair of them."""
    if is_unspaced(word):
        return list(word)
    if len(word) < 4:
        return []
    edged = f"^{word}$"
    return [edged[at : at + size] for size in (3, 4) for at in range(len(edged) - size + 1)]


def _spread(feature: str, weight: float, slots: int) -> list[int]:
    """Choose so many slots with a sign each; together they weigh `weight`. Returns packed addends."""
    digest = blake2b(feature.encode(), digest_size=2 * slots).digest()
    each = _STEP * max(1, round(weight / math.sqrt(slots)))
    drawn = (int.from_bytes(digest[at : at + 2], "little") for at in range(0, 2 * slots, 2))
    return [(number >> 1) + (each if number & 1 else -each) for number in drawn]


def _slot(feature: str) -> tuple[int, int]:
    """Return the one slot of a feature that is spread over no more, and its sign."""
    number = int.from_bytes(blake2b(feature.encode(), digest_size=2).digest(), "little")
    return number >> 1, 1 if number & 1 else -1
