"""How much of a question a text answers, in a form that can be compared between texts of different tables.

A term weighs by how rare it is in the store; words that carry a question without being about anything weigh nothing.
bm25 scores of two tables cannot be compared, and a rank says nothing about whether even the first is relevant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from siftd.embed.words import split_words
from siftd.search.query import Question, quoted
from siftd.store import postings
from siftd.store.access import Database
from siftd.store.facts import count_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Nearness = TypeVar("_Nearness", "float", "NDArray[np.float64]")

_SMALL_STORE = 200
"""Rows that a store is taken to have at least, so that a word's rarity means something in a small one."""

_SAYS_NOTHING = frozenset(
    split_words("""
    a about above after again all also always am an and any anybody anyone anything are as ask at away back be because
    been before being below best better between both but by can cannot could did do does doing done don down during each
    either else enough ever every everything few first for from further get gets getting give given gives go goes going
    good got great had has have having he hello help her here hers hey hi him his how however i if in instead into is it
    its just keep kind know last later least less let lets like ll long look looks lot made make makes making many may
    maybe me mean might more most much must my need needs never new next nice no nor not nothing now of off ok okay old
    on once one only or other others our ours out over own please put quite re really right s same say see seems shall
    she should show since so some somebody something still such sure t take tell than thank thanks that the their them
    then there these they thing things think this those through to together too try trying two under until up upon us
    use used uses using ve very via want wants was way we well were what when where whether which while who whom whose
    why will with within without won would write yes yet you your yours
    explain describe happened work works working continue
    """)
)
_SAYS_LITTLE = frozenset(
    split_words("""
    add added adding agent agents app application branch branches bug bugs build change changed changes check class code
    codebase command comment comments commit config configuration continue create created current data default delete
    directory error errors fail failed fails file files find fix fixed fixes fixing folder fresh function handle
    implement implemented issue issues line lines list local main merge merged method module name next number output
    page path phase plan pr problem problems program project prs pull push quickly read rebase refactor remote remove
    rename repo repository request requests respond return review run running script security server service session set
    setup start state status step string switch system task tasks test testing tests text ticket time todo tool type
    update updated user value version yeah
    """)
)
"""What every project is about. Such words support others; alone they make nothing relevant."""
_LITTLE = 0.3
_COUNTED_MAX = 2_000
"""Rows that are counted of one term: a word in so many tells little in any store."""
_INFLECTED_CHARS = 4
_ENDINGS = ("ing", "ed", "es", "s", "e")
_SHARPNESS = 1.5
"""With 1 the many rows that are a little near outweigh words: R@10 is 0.005 less on the recorded sessions."""


class Relevance:
    """The weights of one question's terms."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._total = sum(weights.values())

    @classmethod
    def of(
        cls,
        connection: Database,
        question: Question,
        tables: Sequence[str] = ("summaries_fts", "facts_fts"),
        rows: int | None = None,
    ) -> Relevance:
        """Weigh the terms of a question by how rare they are among summaries and memories, or the rows of other full
        text, of which there are so many."""
        terms = [term for term in question.terms if term not in _SAYS_NOTHING]
        size = max(_SMALL_STORE, count_texts(connection) if rows is None else rows)
        expressions = list(map(quoted, terms))
        each = [postings.count(connection, table, expressions, _COUNTED_MAX) for table in tables]
        counts = {term: sum(found) for term, *found in zip(terms, *each, strict=True)}
        unit = math.log(1 + size / 2)
        weights = {term: math.log(1 + size / (1 + counts[term])) / unit for term in terms}
        return cls({term: weight * (_LITTLE if term in _SAYS_LITTLE else 1.0) for term, weight in weights.items()})

    @property
    def is_empty(self) -> bool:
        """Whether the question is about nothing."""
        return not self._weights

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each term."""
        return self._weights

    def share(self, text: str) -> float:
        """Return how much of the question's weight the text holds, from 0 to 1."""
        return self.weight(text) / self._total if self._total else 0.0

    def weight(self, text: str) -> float:
        """Return the weight of the terms that the text holds; one that occurs once in the store weighs 1."""
        return self.weight_of(self._matched(text))

    def weight_of(self, terms: Sequence[str]) -> float:
        """Return the weight of some of the question's terms."""
        return sum(self._weights[term] for term in terms)

    def informative(self, text: str) -> list[str]:
        """Return the terms that the text holds and that not every project is about."""
        return [term for term in self._matched(text) if term not in _SAYS_LITTLE]

    def _matched(self, text: str) -> list[str]:
        """Return the terms that the text holds, in one form or another."""
        words = set(split_words(text))
        return [term for term in self._weights if term in words or not words.isdisjoint(inflections(term))]


def answered(nearness: _Nearness) -> _Nearness:
    """Return how much of a question a text answers whose vector is so near, from 0 to 1: twice as near is more than
    twice as good."""
    answer: _Nearness = nearness**_SHARPNESS
    return answer


def inflections(word: str) -> list[str]:
    """Return other forms that an English word may have: "tokens" also finds "token", "reject" also "rejected"."""
    if len(word) < _INFLECTED_CHARS or not word.isascii() or not word.isalpha():
        return []
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) > 2), "")
    stem = word.removesuffix(ending)
    forms = [stem, f"{stem}s", f"{stem}e", f"{stem}ed", f"{stem}ing", f"{stem}es"]
    return [form for form in forms if form != word]
