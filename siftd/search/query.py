"""From a person's question to expressions that FTS5 takes; no text of a question is ever syntax.

A question never fails for one missing word: its terms are joined by OR. Rare terms go first; once the rows that the
chosen terms occur in exceed the budget, the rest counts only by pairs, because a common word costs
most and tells least.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from siftd.embed.words import split_words
from siftd.store.candidates import document_counts

QUERY_CHARS_MAX = 4_096
TERMS_MAX = 48
POSTINGS_BUDGET = 1_000
"""Rows that the terms of one question may touch: bm25 takes about 4 microseconds a row."""
_PAIRS_MAX = 4
_TRIGRAM_CHARS = 3
_INFLECTED_CHARS = 4
_ENDINGS = ("ing", "ed", "es", "s", "e")
_STOP_WORDS = frozenset(
    "a an and are as at be but by can did do does for from had has have how i if in is it its me my of on or our so"
    " that the their then there these they this to was we were what when where which who why will with would you"
    " your".split()
)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, cleaned, with its distinct words."""

    text: str
    terms: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Question:
        text = " ".join(query.replace("\x00", " ")[:QUERY_CHARS_MAX].split())
        return cls(text, tuple(dict.fromkeys(split_words(text)))[:TERMS_MAX])


def words_match(connection: sqlite3.Connection, terms_table: str, terms: Sequence[str]) -> str | None:
    """Return an expression for the rows that tell most about `terms`; None when none of them occurs."""
    return match_of(known_forms(connection, terms_table, terms))


def known_forms(connection: sqlite3.Connection, terms_table: str, terms: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return for each telling term those of its forms that occur, with the number of rows each occurs in."""
    forms = {term: dict.fromkeys((term, unaccented(term), *inflections(term))) for term in telling(terms)}
    counts = document_counts(connection, terms_table, dict.fromkeys(form for each in forms.values() for form in each))
    return {term: {form: counts[form] for form in each if form in counts} for term, each in forms.items()}


def match_of(known: Mapping[str, Mapping[str, int]]) -> str | None:
    """Return the expression for terms with their known forms.

    Rare ones are joined by OR; common ones, beyond the budget, only by pairs: rows that hold two of them. A single
    common term is taken as it is.
    """
    groups = sorted(
        {_either(list(forms)): sum(forms.values()) for forms in known.values() if forms}.items(), key=_count
    )
    chosen: list[str] = []
    postings = 0
    for expression, count in groups:
        postings += count
        if postings > POSTINGS_BUDGET:
            break
        chosen.append(expression)
    common = [expression for expression, _ in groups[len(chosen) :]]
    pairs = [f"({one} AND {other})" for one, other in pairwise(common)][:_PAIRS_MAX]
    return " OR ".join(chosen + pairs or common) or None


def _either(forms: Sequence[str]) -> str:
    joined = " OR ".join(map(quoted, forms))
    return f"({joined})" if len(forms) > 1 else joined


def _count(group: tuple[str, int]) -> int:
    return group[1]


def inflections(word: str) -> list[str]:
    """Return other forms that an English word may have: "tokens" also finds "token", "reject" also "rejected".

    Few on purpose: looking one up in the index takes 40 microseconds.
    """
    if len(word) < _INFLECTED_CHARS or not word.isascii() or not word.isalpha():
        return []
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) > 2), "")
    stem = word.removesuffix(ending)
    forms = [stem, f"{stem}s", f"{stem}e", f"{stem}ed", f"{stem}ing", f"{stem}es"]
    return [form for form in forms if form != word]


def telling(terms: Sequence[str]) -> Sequence[str]:
    """Return `terms` without the words that every question has, or all of them when it has no others."""
    return [term for term in terms if term not in _STOP_WORDS] or terms


def unaccented(word: str) -> str:
    """Return `word` as the full-text index lists it: its tokenizer takes accents off."""
    if word.isascii():
        return word
    bare = (each for each in unicodedata.normalize("NFD", word) if not "\u0300" <= each <= "\u036f")
    return unicodedata.normalize("NFC", "".join(bare))


def trigrams_match(terms: Sequence[str]) -> str | None:
    """Return the OR over `terms` of the AND of each one's trigrams: what contains one of them as a substring."""
    groups = []
    for term in terms:
        grams = dict.fromkeys(term[at : at + _TRIGRAM_CHARS] for at in range(len(term) - _TRIGRAM_CHARS + 1))
        if grams:
            groups.append("(" + " AND ".join(map(quoted, grams)) + ")")
    return " OR ".join(groups) or None


def quoted(term: str) -> str:
    """Return `term` as an FTS5 string."""
    return '"' + term.replace('"', '""') + '"'
