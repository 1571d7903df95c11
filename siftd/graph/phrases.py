"""Names in a sentence: its words, which of them are a name, and what a name is of.

A name is what is written as one: in capitals, in backticks, as an identifier, or with what it is of behind it ("the
user service"). Every word is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from siftd.graph import prose_words as words
from siftd.graph.model import EntityType, Named, is_name

NAME_WORDS_MAX = 4
LIST_MAX = 12

_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")
_MARKS = re.compile(r"\*\*|__|~~|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_TOKEN = re.compile(r"`([^`\n]{1,120})`|([\w@][\w+#]*+(?:[.@&/'’-]++[\w+#]++)*+)|([,;:()\[\]{}!?.—–|\"“”])")
_IDENTIFIER = re.compile(r"(?=.*[A-Za-z])(?:[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+|[a-z]+[A-Z]\w*|[A-Za-z]+\d+)\Z")
_CODE_NAME = re.compile(r"[A-Za-z0-9@_][\w@./:+#-]{0,119}\Z")
_VERSION = re.compile(r"[vV]?\d+(?:[.\-]\w+)*\Z")


class Token(NamedTuple):
    """A word, a span of code, or a mark."""

    text: str
    lowered: str
    is_code: bool
    is_mark: bool


class Phrase(NamedTuple):
    """A name in a sentence, and where it begins and ends among the tokens."""

    named: Named
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Return the words and marks of a sentence; links are their text, emphasis is left out."""
    text = _MARKS.sub("", _LINK.sub(r"\1", _TAG.sub(" ", text)))
    return [
        Token(code or word or mark, (code or word or mark).lower(), bool(code), bool(mark))
        for code, word, mark in _TOKEN.findall(text)
        if word != "_"
    ]


def named_in(text: str, expected: EntityType | None = None) -> list[Named]:
    """Return the names of a list in words: of a table's cell, or behind a colon."""
    tokens = tokens_of(text)
    return [each.named for each in names_from(tokens, 0, expected, is_list=True)]


def is_denied(tokens: Sequence[Token], at: int) -> bool:
    """Whether what stands before a verb takes it back: "does not", "should", "never"."""
    before = [each.lowered for each in tokens[max(0, at - 3) : at]]
    return any(each in words.NEGATIONS for each in before) or any(each in words.MODALS for each in before[-2:])


def is_request(tokens: Sequence[Token], at: int) -> bool:
    """Whether a verb asks for something: "Use pacman", "For MSYS2, use pacman"."""
    if tokens[at].lowered not in words.PLURAL_FORMS:
        return False
    before = [each.lowered for each in tokens[max(0, at - 4) : at]]
    if tokens[at].text[0].isupper() or not before or before[-1] in (",", ":"):
        return True
    return not any(each in words.JOINS or each == "," for each in before) and not before[-1].endswith("s")


def subjects_before(
    tokens: Sequence[Token], at: int, expected: EntityType | None, subject: Named | None
) -> list[Named]:
    """Return the names that end before a token: "Alice and Bob"; what the heading names for "it", or for none."""
    found: list[Named] = []
    end = at
    if end > 0 and tokens[end - 1].text == ",":  # "The auth service, which uses Redis, depends on": the service does
        clause = next((i for i in range(end - 2, max(0, end - 20), -1) if tokens[i].lowered in words.CLAUSES), 0)
        end = clause or end
    elif end > 0 and tokens[end - 1].text == ")":  # "Dana (payments team) maintains"
        end = next((i for i in range(end - 2, max(-1, end - 8), -1) if tokens[i].text == "("), end)
    while end > 0 and tokens[end - 1].lowered in ("which", "who", "also", "now", "currently", "that", "both", "(", ","):
        end -= 1
    while len(found) < LIST_MAX and (phrase := _name_before(tokens, end, expected)) is not None:
        found.append(phrase.named)
        end = phrase.start
        while end > 0 and tokens[end - 1].lowered in words.ARTICLES:
            end -= 1
        joins = 0
        while end > 0 and (tokens[end - 1].lowered in words.JOINS or tokens[end - 1].text == ","):
            end -= 1
            joins += 1
        if not joins:
            break
    if (
        not found
        and subject is not None
        and all(each.lowered in ("it", "this", "and", "service", "team", "-", "the") for each in tokens[:end])
    ):
        return [subject]
    return found[::-1]


def _name_before(tokens: Sequence[Token], end: int, expected: EntityType | None) -> Phrase | None:
    """Return the name that ends right before a token."""
    if end <= 0 or tokens[end - 1].is_mark:
        return None
    noun = tokens[end - 1].lowered
    start = end
    if noun in words.KIND_NOUNS and not tokens[end - 1].is_code:
        start = end - 1
        while start > 0 and end - start <= NAME_WORDS_MAX - 1 and _is_modifier(tokens[start - 1]):
            start -= 1
            if tokens[start].is_code:
                break
        return _with_noun(tokens, start, end)
    while start > 0 and end - start < NAME_WORDS_MAX and _is_proper(tokens[start - 1], is_first=start == 1):
        start -= 1
        if tokens[start].is_code:
            break
    return _plain(tokens, start, end, expected)


def names_from(
    tokens: Sequence[Token], start: int, expected: EntityType | None, *, is_list: bool = False
) -> list[Phrase]:
    """Return the names of a list that begins at a token: "Redis, Kafka and the user service"."""
    found: list[Phrase] = []
    at = start
    while len(found) < LIST_MAX and at < len(tokens):
        while at < len(tokens) and (
            tokens[at].lowered in words.ARTICLES or tokens[at].lowered in words.ADJECTIVES or tokens[at].text in '"“:'
        ):
            at += 1
        phrase = _name_at(tokens, at, expected, is_list=is_list)
        if phrase is None:
            break
        found.append(phrase)
        at = phrase.end
        while at < len(tokens) and _VERSION.match(tokens[at].text):  # "Postgres 16 and Kafka"
            at += 1
        if at < len(tokens) and tokens[at].text == "(":  # "Redis (7.2) and Kafka"
            close = next((i for i in range(at, min(at + 8, len(tokens))) if tokens[i].text == ")"), None)
            at = at if close is None else close + 1
        joins = 0
        while at < len(tokens) and (tokens[at].lowered in words.JOINS or tokens[at].text in ",;"):
            at += 1
            joins += 1
        if not joins:
            break
    return found


def _name_at(tokens: Sequence[Token], start: int, expected: EntityType | None, *, is_list: bool) -> Phrase | None:
    """Return the name that begins at a token."""
    end = start
    while end < len(tokens) and end - start <= NAME_WORDS_MAX:
        each = tokens[end]
        if end > start and each.lowered in words.KIND_NOUNS and not each.is_code:
            return _with_noun(tokens, start, end + 1)
        if not _is_modifier(each) or (each.is_code and end > start):
            break
        end += 1
    end = start
    while end < len(tokens) and end - start < NAME_WORDS_MAX and _is_proper(tokens[end]):
        end += 1
        if tokens[end - 1].is_code:
            break
    if end == start and is_list and start < len(tokens) and _is_modifier(tokens[start]):
        end = start + 1
        while end < len(tokens) and end - start < NAME_WORDS_MAX and _is_modifier(tokens[end]):
            end += 1
    return _plain(tokens, start, end, expected)


def _with_noun(tokens: Sequence[Token], start: int, end: int) -> Phrase | None:
    """Return a name with what it is of behind it: "the user service"; None where the noun stands alone."""
    while start < end - 1 and tokens[start].lowered in words.ADJECTIVES:
        start += 1
    if start >= end - 1:
        return None
    noun = tokens[end - 1].lowered
    kind = words.KIND_NOUNS[noun]
    last = end - 1 if noun in words.DROPPED_NOUNS else end
    name = " ".join(each.text for each in tokens[start:last])
    if noun in words.DROPPED_NOUNS and not any(_is_proper(each) for each in tokens[start:last]) and kind == "tool":
        return None  # "an internal cache" is no name
    return Phrase(Named(kind, name), start, end) if is_name(name) else None


def _plain(tokens: Sequence[Token], start: int, end: int, expected: EntityType | None) -> Phrase | None:
    if start >= end:
        return None
    name = " ".join(each.text for each in tokens[start:end])
    lowered = name.lower()
    kind: EntityType = "tool" if lowered in words.TOOLS else _kind_by_ending(lowered)
    if kind == "concept" and expected is not None and (expected != "person" or _is_persons(tokens[start:end])):
        kind = expected
    if _VERSION.match(name) or not is_name(name) or _is_adjective(tokens, end):
        return None
    return Phrase(Named(kind, name), start, end)


def _is_adjective(tokens: Sequence[Token], end: int) -> bool:
    """Whether the word before a place belongs to the one behind it: "high-level guidance"."""
    last = tokens[end - 1]
    if last.is_code or "-" not in last.text or not last.text.islower() or end >= len(tokens):
        return False
    following = tokens[end]
    return (
        following.text.isalpha()
        and following.text.islower()
        and following.lowered not in words.STOPS
        and following.lowered not in words.JOINS
        and following.lowered not in words.FIRST_WORDS
        and following.lowered not in words.STORING
        and following.lowered not in words.FIRST_WORDS_OF_ENDS
    )


def _kind_by_ending(lowered: str) -> EntityType:
    """Return what an identifier says of itself: "auth-service"."""
    first, gap, last = lowered.replace("_", "-").rpartition("-")
    kind = words.KIND_NOUNS.get(last) if gap and first else None
    return kind if kind in ("service", "team") else "concept"


def _is_modifier(token: Token) -> bool:
    """Whether a word may be part of a name that has what it is of behind it."""
    return not token.is_mark and (
        _CODE_NAME.match(token.text) is not None
        if token.is_code
        else not (
            token.lowered in words.NO_NAMES
            or token.lowered in words.STOPS
            or token.lowered in words.ARTICLES
            or token.lowered in words.JOINS
        )
    )


def _is_proper(token: Token, *, is_first: bool = False) -> bool:
    """Whether a word is written as a name. The first one of a sentence is so by itself: common words are none."""
    if token.is_mark:
        return False
    if token.is_code:
        return _CODE_NAME.match(token.text) is not None
    if token.lowered in words.NO_NAMES or token.lowered in words.KIND_NOUNS:
        return False
    if token.lowered in words.TOOLS or _IDENTIFIER.match(token.text):
        return True
    return token.text[0].isupper() and not (is_first and token.lowered.endswith(("ing", "ly")))


def _is_persons(tokens: Sequence[Token]) -> bool:
    """Whether a name may be a person's: one to three words of letters, each with a capital."""
    return len(tokens) <= 3 and all(
        each.text[0].isupper()
        and not each.is_code
        and all(c.isalpha() or c in ".'’-" for c in each.text)
        and not each.text.isupper()
        for each in tokens
    )
