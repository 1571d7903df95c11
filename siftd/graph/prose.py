"""Who and what a sentence says to hang together: "The auth service depends on Redis and the user service."

Shapes, not grammar: a phrase that says how (`prose_words.VERBS`), a name before it, names behind it. A name is what is
written as one: in capitals, in backticks, as an identifier, or with what it is of behind it ("the user service"). What
is asked, wished, denied or supposed is no relation; what holds "no longer" ends one. A missed relation is accepted, an
invented one is not. Linear in the text: every word is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from siftd.graph import prose_words as words
from siftd.graph.model import EntityType, Found, Link, Named, is_name
from siftd.graph.prose_words import Verb

Meaning = TypeVar("Meaning")

SENTENCE_CHARS_MAX = 600
"""A longer sentence is a paste: its beginning is read."""
NAME_WORDS_MAX = 4
LIST_MAX = 12
DESCRIPTION_CHARS_MAX = 200

_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
_MARKS = re.compile(r"\*\*|__|~~|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_TOKEN = re.compile(r"`([^`\n]{1,120})`|([\w@][\w+#]*+(?:[.@&/'’-]++[\w+#]++)*+)|([,;:()\[\]{}!?.—–|\"“”])")
_END = re.compile(r"(?<=[.!?])[\"”)]? (?=[\"“(`A-Z0-9])")
_IDENTIFIER = re.compile(r"(?=.*[A-Za-z])(?:[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+|[a-z]+[A-Z]\w*|[A-Za-z]+\d+)\Z")
_VERSION = re.compile(r"[vV]?\d+(?:[.\-]\w+)*\Z")


class Token(NamedTuple):
    """A word, a span of code, or a mark."""

    text: str
    lowered: str
    is_code: bool
    is_mark: bool


class _Phrase(NamedTuple):
    """A name in a sentence, and where it begins and ends among the tokens."""

    named: Named
    start: int
    end: int


def read_prose(found: Found, text: str, line: int | None = None, subject: Named | None = None) -> None:
    """Note what a paragraph says. `subject` is what the heading above it names: "it" is that."""
    for sentence in sentences(text):
        read_sentence(found, sentence, line, subject)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, as far as each is read."""
    for each in _END.split(" ".join(text.split())):
        if each:
            yield each[:SENTENCE_CHARS_MAX]


def read_sentence(found: Found, sentence: str, line: int | None = None, subject: Named | None = None) -> None:
    """Note what one sentence says."""
    if sentence.rstrip().endswith("?"):
        return
    tokens = tokens_of(sentence)
    if not tokens or tokens[0].lowered in words.CONDITIONS:
        return
    at = 0
    while at < len(tokens):
        at = _read_at(found, tokens, at, sentence, line, subject)


def tokens_of(text: str) -> list[Token]:
    """Return the words and marks of a sentence; links are their text, emphasis is left out."""
    text = _MARKS.sub("", _LINK.sub(r"\1", text))
    return [
        Token(code or word or mark, (code or word or mark).lower(), bool(code), bool(mark))
        for code, word, mark in _TOKEN.findall(text)
    ]


def named_in(text: str, expected: EntityType | None = None) -> list[Named]:
    """Return the names of a list in words: of a table's cell, or behind a colon."""
    tokens = tokens_of(text)
    return [each.named for each in _names_from(tokens, 0, expected, is_list=True)]


def _read_at(
    found: Found, tokens: Sequence[Token], at: int, sentence: str, line: int | None, subject: Named | None
) -> int:
    """Note what the phrase at a token says, if there is one; return where to go on."""
    if (ended := _match(tokens, at, words.ENDING)) is not None:
        length, relation = ended
        for src in _subjects(tokens, at, "person" if relation == "WORKS_ON" else None, subject):
            for dst in _names_from(tokens, at + length, None):
                for each in (relation, *words.SAME_WHEN_ENDED.get(relation, ())):
                    found.end(src, each, dst.named)
        return at + length
    if (known := _match(tokens, at, words.VERBS)) is not None:
        length, verb = known
        if not _is_denied(tokens, at):
            _relate(found, tokens, at, length, verb, line, subject)
        return at + length
    if (length := _match_in(tokens, at, words.ALIASES)) and not _is_denied(tokens, at):
        for src in _subjects(tokens, at, None, subject)[:1]:
            for other in _names_from(tokens, at + length, src.type)[:1]:
                found.alias(src, other.named.name)
        return at + length
    if (length := _match_in(tokens, at, words.IS_A_PHRASES)) and not _is_denied(tokens, at):
        _describe(found, tokens, at, length, sentence, line, subject)
        return at + 1
    if tokens[at].lowered in words.MOVING and not _is_denied(tokens, at):
        _move(found, tokens, at, line, subject)
    if tokens[at].lowered in words.STORING and not _is_denied(tokens, at):
        _store(found, tokens, at, line, subject)
    return at + 1


def _relate(
    found: Found,
    tokens: Sequence[Token],
    at: int,
    length: int,
    verb: Verb,
    line: int | None,
    subject: Named | None,
) -> None:
    before = verb.object if verb.is_reversed else verb.subject
    behind = verb.subject if verb.is_reversed else verb.object
    left = _subjects(tokens, at, before, subject)
    right = [each.named for each in _names_from(tokens, at + length, behind)]
    if verb.relation == "RENAMED_TO":
        left, right = left[-1:], right[:1]
    for one in left:
        for other in right:
            src, dst = (other, one) if verb.is_reversed else (one, other)
            if verb.relation == "RENAMED_TO":
                _rename(found, src, dst, line)
                continue
            if verb.relation == "WORKS_ON" and src.type not in ("person", "team", "concept"):
                continue
            found.link(Link(src, verb.relation, dst, "prose", line))


def _describe(
    found: Found,
    tokens: Sequence[Token],
    at: int,
    length: int,
    sentence: str,
    line: int | None,
    subject: Named | None,
) -> None:
    """Note what something is: the sentence as its description, and its kind where that is a short phrase."""
    subjects = _subjects(tokens, at, None, subject)
    if len(subjects) != 1 or at + length >= len(tokens):
        return
    kind: list[str] = []
    for each in tokens[at + length : at + length + NAME_WORDS_MAX + 1]:
        if each.is_mark or each.lowered in words.STOPS or each.lowered in words.JOINS:
            break
        kind.append(each.text)
    if not 0 < len(kind) <= NAME_WORDS_MAX or kind[-1].lower() in words.ADJECTIVES:
        return
    subject = subjects[0]
    after = at + length + len(kind)
    if after < len(tokens) and tokens[after].lowered in ("on", "in", "of", "at") and not subject.name.islower():
        for team in _names_from(tokens, after + 1, None)[:1]:  # "Alice is an engineer on the platform team"
            if team.named.type == "team" and subject.type in ("concept", "person"):
                subject = Named("person", subject.name)
                found.link(Link(subject, "WORKS_ON", team.named, "prose", line))
    found.describe(subject, sentence[:DESCRIPTION_CHARS_MAX])
    name = " ".join(kind)
    if is_name(name) and tokens[at + 1].lowered in ("a", "an"):
        found.link(Link(subject, "IS_A", Named("concept", name.lower()), "prose", line))


def _store(found: Found, tokens: Sequence[Token], at: int, line: int | None, subject: Named | None) -> None:
    """Note where something keeps what: "stores sessions in Redis"."""
    for behind in range(at + 2, min(at + 9, len(tokens) - 1)):
        if tokens[behind].is_mark:
            return
        if tokens[behind].lowered in ("in", "to", "into", "on"):
            for src in _subjects(tokens, at, None, subject):
                for dst in _names_from(tokens, behind + 1, "tool"):
                    found.link(Link(src, "STORES_IN", dst.named, "prose", line))
            return


def _move(found: Found, tokens: Sequence[Token], at: int, line: int | None, subject: Named | None) -> None:
    """Note what took another one's place: "migrated from MySQL to Postgres", "renamed auth to identity"."""
    behind = at + 1
    is_rename = tokens[at].lowered == "renamed"
    if not is_rename:
        if behind >= len(tokens) or tokens[behind].lowered != "from":
            return
        behind += 1
    old = _names_from(tokens, behind, None)[:1]
    if not old or old[0].end >= len(tokens) or tokens[old[0].end].lowered not in ("to", "into"):
        return
    new = _names_from(tokens, old[0].end + 1, None)[:1]
    if not new:
        return
    before, after = old[0].named, new[0].named
    if is_rename:
        _rename(found, before, after, line)
        return
    found.link(Link(after, "REPLACES", before, "prose", line))
    end = at
    while end > 0 and tokens[end - 1].lowered in ("was", "were", "has", "have", "been", "is"):
        end -= 1
    for src in _subjects(tokens, end, None, subject):
        found.link(Link(src, "USES", after, "prose", line))
        for relation in ("USES", *words.SAME_WHEN_ENDED["USES"]):
            found.end(src, relation, before)


def _rename(found: Found, src: Named, dst: Named, line: int | None) -> None:
    """Note that one thing has another name now; one that says what it is says so of both."""
    if src.type == "concept" or dst.type == "concept":
        kind = dst.type if src.type == "concept" else src.type
        src, dst = Named(kind, src.name), Named(kind, dst.name)
    found.alias(dst, src.name)
    found.link(Link(src, "RENAMED_TO", dst, "prose", line))


def _match(tokens: Sequence[Token], at: int, phrases: Mapping[tuple[str, ...], Meaning]) -> tuple[int, Meaning] | None:
    """Return (length, meaning) of the longest phrase that begins at a token."""
    for length in range(min(words.VERB_WORDS_MAX, len(tokens) - at), 0, -1):
        found = phrases.get(tuple(each.lowered for each in tokens[at : at + length]))
        if found is not None and not any(each.is_code for each in tokens[at : at + length]):
            return length, found
    return None


def _match_in(tokens: Sequence[Token], at: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """Return the length of the longest phrase that begins at a token; 0 where none does."""
    for length in range(min(words.VERB_WORDS_MAX, len(tokens) - at), 0, -1):
        if tuple(each.lowered for each in tokens[at : at + length]) in phrases:
            return length
    return 0


def _is_denied(tokens: Sequence[Token], at: int) -> bool:
    """Whether what stands before a verb takes it back: "does not", "should", "never"."""
    before = [each.lowered for each in tokens[max(0, at - 3) : at]]
    return any(each in words.NEGATIONS for each in before) or any(each in words.MODALS for each in before[-2:])


def _subjects(tokens: Sequence[Token], at: int, expected: EntityType | None, subject: Named | None) -> list[Named]:
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


def _name_before(tokens: Sequence[Token], end: int, expected: EntityType | None) -> _Phrase | None:
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


def _names_from(
    tokens: Sequence[Token], start: int, expected: EntityType | None, *, is_list: bool = False
) -> list[_Phrase]:
    """Return the names of a list that begins at a token: "Redis, Kafka and the user service"."""
    found: list[_Phrase] = []
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


def _name_at(tokens: Sequence[Token], start: int, expected: EntityType | None, *, is_list: bool) -> _Phrase | None:
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


def _with_noun(tokens: Sequence[Token], start: int, end: int) -> _Phrase | None:
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
    return _Phrase(Named(kind, name), start, end) if is_name(name) else None


def _plain(tokens: Sequence[Token], start: int, end: int, expected: EntityType | None) -> _Phrase | None:
    if start >= end:
        return None
    name = " ".join(each.text for each in tokens[start:end])
    lowered = name.lower()
    kind: EntityType = "tool" if lowered in words.TOOLS else _kind_by_ending(lowered)
    if kind == "concept" and expected is not None and (expected != "person" or _is_persons(tokens[start:end])):
        kind = expected
    if _VERSION.match(name) or not is_name(name):
        return None
    return _Phrase(Named(kind, name), start, end)


def _kind_by_ending(lowered: str) -> EntityType:
    """Return what an identifier says of itself: "auth-service"."""
    first, gap, last = lowered.replace("_", "-").rpartition("-")
    kind = words.KIND_NOUNS.get(last) if gap and first else None
    return kind if kind in ("service", "team") else "concept"


def _is_modifier(token: Token) -> bool:
    """Whether a word may be part of a name that has what it is of behind it."""
    return not token.is_mark and (
        token.is_code
        or not (
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
        return True
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
