"""The guard before superseding: do two near-duplicates say the same thing?

A cosine of 0.95 does not see that redis and postgres changed places, that 5432 became 5433 or that a test now
passes. Here both texts become a list of what they tell, in order; only equal lists are the same thing. Words that
carry nothing are left out, endings are cut, a few verbs for one deed are one; everything else counts: every number,
path, identifier, quotation, operator, negation and preposition. In doubt two texts differ: a duplicate that stays
visible costs a line, a fact hidden by its contradiction costs trust.
"""

from __future__ import annotations

import re
from functools import lru_cache

from siftd.normal_forms import normalized

_TEXT_MAX_CHARS = 4096
"""Ten summaries' length. Longer texts are compared verbatim."""

_SHORT_SECONDS = 1.0
_DURATION_RATIO = 2.0
"""Durations of one run differ by noise: both below a second, or within twice each other. Arbitrary."""

_STAMP = re.compile(
    r"(?:(?m:^)|\[)\s*(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z|[+-]\d\d:?\d\d)?\]?(?![\w:-])"
)
"""A clock's reading, to the second, where a line begins or in brackets. "At 02:00:00" may be a plan, and stays."""

_DURATION = re.compile(
    r"(?:\b(?P<outcome>passed|failed|skipped|errors?|warnings?|finished|completed|done|succeeded|built|compiled|ran)"
    r"(?:,? in |:? \()|\b(?:took|duration:?|elapsed:?|wall time:?) )"
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?) ?(?P<unit>ms|s|secs?|seconds?)\b\)?",
    re.IGNORECASE,
)
"""How long a run took, said beside its outcome. "Expires in 5 minutes" is a fact and no such clause."""

_TOKEN = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"  # quotations
    r"|\w+(?:['’]\w+)*(?:[./:@\\-]+\w+(?:['’]\w+)*)*(?:\(\))?"  # words, identifiers, paths, versions, hyphenations
    r"|[^\s\w]"
)
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_SAYS_NOTHING = frozenset(["a", "an", "the", "that", "now", "also", "just", "so", "then"])
_PUNCTUATION = frozenset(".,;:()[]{}…—–`\"'’")
_NEGATIONS = frozenset(["not", "no", "never", "cannot", "without", "none", "neither", "nor", "unable"])
_UNSTEMMED = _NEGATIONS | {"https", "windows"}
_ONE_DEED = {"chang": "edit", "updat": "edit", "modify": "edit", "execut": "ran", "run": "ran"}


def says_the_same(newer: str, older: str) -> bool:
    """Return whether the two texts tell the same facts in the same order, so that one may hide the other."""
    if newer == older:
        return True
    if max(len(newer), len(older)) > _TEXT_MAX_CHARS:
        return newer.split() == older.split()
    content, durations = _content(newer)
    content_before, durations_before = _content(older)
    return (
        bool(content)
        and content == content_before
        and len(durations) == len(durations_before)
        and all(map(_are_alike, durations, durations_before))
    )


@lru_cache(maxsize=64)
def _content(text: str) -> tuple[list[str], list[float]]:
    """What a text tells, in order, and apart from it how long its runs took, in seconds.

    A text is compared with several others in a row.
    """
    text = _STAMP.sub(" ", normalized("NFC", text))
    durations = [
        float(found["number"]) * (0.001 if found["unit"].lower() == "ms" else 1.0) for found in _DURATION.finditer(text)
    ]
    text = _DURATION.sub(lambda found: f"{found['outcome'] or ''} ", text)
    tokens = (_normal(token) for token in _TOKEN.findall(text))
    return [token for token in tokens if token], durations


def _are_alike(one: float, other: float) -> bool:
    least, most = sorted((one, other))
    return most < _SHORT_SECONDS or most <= least * _DURATION_RATIO


@lru_cache(maxsize=4096)
def _normal(piece: str) -> str:
    """The form in which a piece of text is compared; empty when it says nothing.

    Only plain words lose their case and their ending: `userId` and `userid` are two things, and "plan A" is a name.
    """
    if piece in _PUNCTUATION:
        return ""
    if piece.lower().endswith(("n't", "n’t")):
        return "not " + _stem(piece.lower()[:-3])
    if piece == "A" or not _PLAIN_WORD.fullmatch(piece):
        return piece
    word = piece.lower()
    if word in _SAYS_NOTHING:
        return ""
    stem = _stem(word)
    return _ONE_DEED.get(stem, stem)


def _stem(word: str) -> str:
    """Cut a plural's or a verb's -s and -ed. "Starting" keeps its ending: it has not happened yet."""
    if word in _UNSTEMMED:
        return word
    for ending in ("ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
