"""From a person's question to expressions that FTS5 takes; no text of a question is ever syntax.

A question never fails for one missing word: each of its terms is looked up by itself. What stands in quotes is looked
up as a phrase too, and `valid*` as the beginning of a word. Endings are the full-text index's matter: it stems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from siftd.embed.words import split_words

QUERY_CHARS_MAX = 4_096
TERMS_MAX = 48
_PHRASES_MAX = 8
_TRIGRAM_CHARS = 3
_PHRASE = re.compile(r'"([^"]{3,200})"')
_PREFIX = re.compile(r"(\w{2,64})\*")
_STOP_WORDS = frozenset(
    "a an and are as at be but by can could did do does for from had has have how i if in is it its me my of on or our"
    " so that the their then there these they this to was we were what when where which who why will with would you"
    " your".split()
)

_ASKED_OR_SAID = re.compile(
    r"\b(?:(?:did|do|have|had|was) (?:i|we) (?:ever |already |just |once )?"
    r"(?:ask|say|tell|want|mention|request|type|write|complain|prompt)"
    r"|(?:i|we) (?:ever |already |just |once )?(?:asked|said|told|wanted|mentioned|requested|typed|wrote|complained)"
    r"|my (?:question|prompt|request|words|wish|complaint)s?)\b",
    re.IGNORECASE,
)

_AMOUNT = re.compile(r"\b(?:how (?:many|much|long|often|old)|when|what (?:time|date|day))\b", re.IGNORECASE)
_CLOSED = re.compile(
    r"\s{0,9}(?:(?:and|but|so|or)\s{1,5})?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may)\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"\bwhy\b|\breasons?\b|\bhow come\b|\bwhat for\b|\bcaus|\bwarum\b|\bwieso\b|为什么", re.IGNORECASE)
_QUESTION = re.compile(
    r"^\W{0,8}(?:why|how|what|which|where|who|whose"
    r"|(?:when|do|does|did|is|are|was|were|can|could|should|has|have|had)"
    r" (?:do|does|did|is|are|was|were|will|should|can|i|we|you|it|they|the|a|an|this|that|there|our|my|your)"
    r"|warum|wieso|weshalb|wie|was|welche[rsnm]?|wann|wo|wer|woher|wozu)\b|[?？]\s{0,8}$|为什么|怎么|什么|哪|谁|吗$",
    re.IGNORECASE,
)

_PERSON = frozenset("i my mine me myself".split())
_ASKED = frozenset("you your".split())
_OF_THE_WORK = frozenset("how why can could should where may".split())


@dataclass(frozen=True, slots=True)
class Question:
    """A query, cleaned, with its distinct words."""

    text: str
    terms: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Question:
        text = " ".join(query.replace("\x00", " ")[:QUERY_CHARS_MAX].split())
        return cls(text, tuple(dict.fromkeys(split_words(text)))[:TERMS_MAX])

    @property
    def has_content_words(self) -> bool:
        """Whether it has any word that not every question has."""
        return any(term not in _STOP_WORDS for term in self.terms)

    @property
    def is_question(self) -> bool:
        """Whether it is phrased as a question: who asks one wants what came of the work, not the work."""
        return _QUESTION.search(self.text) is not None

    @property
    def asks_what_came_of_it(self) -> bool:
        """Whether the end of the work answers it: not what a person said, nor a number or a date, which anybody says
        at any time."""
        return self.is_question and not self.asks_what_was_said and not _AMOUNT.search(self.text)

    @property
    def is_closed(self) -> bool:
        """Whether it is answered by yes or no."""
        return _CLOSED.match(self.text) is not None

    @property
    def asks_why(self) -> bool:
        """Whether it asks for a reason or a cause."""
        return _WHY.search(self.text) is not None

    @property
    def asks_what_was_said(self) -> bool:
        """Whether it asks for what a person asked or said ("what did I ask for", "what is my budget"): "why do we …",
        "how do I …" ask for a reason or a way."""
        if _ASKED_OR_SAID.search(self.text):
            return True
        is_of_person = not _PERSON.isdisjoint(self.terms) and _ASKED.isdisjoint(self.terms)
        return is_of_person and not (self.terms and self.terms[0] in _OF_THE_WORK)

    @property
    def expressions(self) -> list[str]:
        """What is looked up: each telling word, each phrase in quotes, each beginning of a word."""
        phrases = [words for found in _PHRASE.findall(self.text) if len(words := split_words(found)) > 1]
        starts = [start.strip("_").casefold() for start in _PREFIX.findall(self.text)]
        return [
            *map(quoted, informative(self.terms)),
            *(quoted(" ".join(words)) for words in phrases[:_PHRASES_MAX]),
            *(f"{quoted(start)}*" for start in starts[:_PHRASES_MAX] if start),
        ]


def any_of(terms: Sequence[str]) -> str | None:
    """Return the expression for rows that hold any of the telling terms; None when there is none."""
    return " OR ".join(map(quoted, informative(terms))) or None


def informative(terms: Sequence[str]) -> Sequence[str]:
    """Return `terms` without the words that every question has, or all of them when it has no others."""
    return [term for term in terms if term not in _STOP_WORDS] or terms


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
