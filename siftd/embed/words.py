"""Words of a text, for people's questions and for indexes alike: identifiers and paths split beside their whole form.

    "validateToken in src/auth_test.py"  ->  validatetoken validate token in src auth_test auth test py

Everything is NFKC-normalised and casefolded. Scripts written without spaces (Chinese, Japanese, Thai, ...) and
Korean become overlapping pairs of characters. Nothing is stemmed: the index's own tokenizer may do that, and the
embedder's character n-grams make it needless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from siftd.normal_forms import normalized

INDEX_WORDS_MAX_BYTES = 8192
"""Bound of the stored column. Arbitrary: a summary has 400 characters, the first 4 KB of an event about 800 words."""

_TEXT_MAX_CHARS = 65_536
"""What is beyond is not looked at: no caller indexes or asks that much, and hostile input stays cheap."""

_WORD_MAX_CHARS = 64
"""A longer run (base64, a minified line) is cut: nobody searches for it whole."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul: spaced, but words carry their particles
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"  # vowel signs, no \w
_ASCII_RUN = re.compile(r"[A-Za-z0-9_]+")
_PLAIN = re.compile(r"[^\W_]+")
"""What full text's tokenizer takes for a word."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PART_BEYOND_ASCII = re.compile(r"[^\d_]+|\d+")


@cache
def _run() -> re.Pattern[str]:
    """What a word is beyond ASCII; compiled when such a text is first met, which takes 10 ms."""
    return re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")


@cache
def _unspaced_start() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def split_words(text: str) -> list[str]:
    """Return the words of `text` in order, repeats kept: each whole, then its parts where it has several."""
    return _words_of(_runs(text[:_TEXT_MAX_CHARS]))


def _runs(text: str) -> list[str]:
    return _ASCII_RUN.findall(text) if text.isascii() else _run().findall(normalized("NFKC", text))


def _words_of(runs: Iterable[str]) -> list[str]:
    words: list[str] = []
    for run in runs:
        words += _forms_of(run) if len(run) <= _WORD_MAX_CHARS else _forms_of_long(run)
    return words


def index_words(text: str) -> str:
    """Return the distinct words of `text` in order, joined by spaces, at most `INDEX_WORDS_MAX_BYTES` of UTF-8."""
    pieces: list[str] = []
    room = INDEX_WORDS_MAX_BYTES + 1
    for word in dict.fromkeys(split_words(text)):
        room -= len(word.encode()) + 1
        if room < 0:
            break
        pieces.append(word)
    return " ".join(pieces)


def further_words(text: str) -> str:
    """Return the distinct words of `text` that full text does not find by itself, parts of names and pairs of
    characters, joined by spaces. Bounded as `split_words`."""
    plain = set(_PLAIN.findall(text.casefold()))
    # Each run once, and none that stands for itself: a manual says few names, and those again and again.
    distinct = dict.fromkeys(_runs(text[:_TEXT_MAX_CHARS]))
    runs = (run for run in distinct if not (run.islower() and run.isalpha() and run.isascii()))
    return " ".join(word for word in dict.fromkeys(_words_of(runs)) if "_" not in word and word not in plain)


def is_unspaced(word: str) -> bool:
    """Whether `word` is a piece of a script that is written without spaces (or of Korean)."""
    return not word.isascii() and _unspaced_start().match(word) is not None


@lru_cache(maxsize=8192)
def _forms_of(run: str) -> tuple[str, ...]:
    """The words one run of word characters stands for."""
    if is_unspaced(run):
        return tuple(run[at : at + 2] for at in range(len(run) - 1)) or (run,)
    whole = run.strip("_").casefold()
    if not whole:
        return ()
    if run.islower() and run.isalpha():
        return (whole,)
    parts = [part.casefold() for part in (_PART if run.isascii() else _PART_BEYOND_ASCII).findall(run)]
    if len(parts) < 2:
        return (whole,)
    return (whole, *(part for part in parts if len(part) > 1))


def _forms_of_long(run: str) -> tuple[str, ...]:
    """A long run is a sentence where the script has no spaces, else noise of which the beginning will do."""
    if is_unspaced(run):
        return tuple(run[at : at + 2] for at in range(len(run) - 1))
    return _forms_of(run[:_WORD_MAX_CHARS])
