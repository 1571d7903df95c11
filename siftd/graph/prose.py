"""Who and what a sentence says to hang together: "The auth service depends on Redis and the user service."

Shapes, not grammar: a phrase that says how (`prose_words.VERBS`), a name before it, names behind it. A name is what is
written as one: in capitals, in backticks, as an identifier, or with what it is of behind it ("the user service"). What
is asked, wished, denied or supposed is no relation; what holds "no longer" ends one. A missed relation is accepted, an
invented one is not. Linear in the text: every word is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from siftd.graph import prose_words as words
from siftd.graph.model import Found, Link, Named, is_name
from siftd.graph.phrases import NAME_WORDS_MAX, Token, is_denied, is_request, names_from, subjects_before, tokens_of
from siftd.graph.prose_words import Verb

Meaning = TypeVar("Meaning")

SENTENCE_CHARS_MAX = 600
"""A longer sentence is a paste: its beginning is read."""
DESCRIPTION_CHARS_MAX = 200

_END = re.compile(r"(?<=[.!?])[\"”)]? (?=[\"“(`A-Z0-9])")


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


def _read_at(
    found: Found, tokens: Sequence[Token], at: int, sentence: str, line: int | None, subject: Named | None
) -> int:
    """Note what the phrase at a token says, if there is one; return where to go on."""
    first = tokens[at].lowered
    if first in words.FIRST_WORDS_OF_ENDS and (ended := _match(tokens, at, words.ENDING)) is not None:
        length, relation = ended
        for src in subjects_before(tokens, at, "person" if relation == "WORKS_ON" else None, subject):
            for dst in names_from(tokens, at + length, None):
                for each in (relation, *words.SAME_WHEN_ENDED.get(relation, ())):
                    found.end(src, each, dst.named)
        return at + length
    if first in words.MOVING and not is_denied(tokens, at):
        _move(found, tokens, at, line, subject)
    if first in words.STORING and not is_denied(tokens, at):
        _store(found, tokens, at, line, subject)
    if first not in words.FIRST_WORDS:
        return at + 1
    if (known := _match(tokens, at, words.VERBS)) is not None:
        length, verb = known
        if not is_denied(tokens, at) and not is_request(tokens, at):
            _relate(found, tokens, at, length, verb, line, subject)
        return at + length
    if (length := _match_in(tokens, at, words.ALIASES)) and not is_denied(tokens, at):
        for src in subjects_before(tokens, at, None, subject)[:1]:
            for other in names_from(tokens, at + length, src.type)[:1]:
                found.alias(src, other.named.name)
        return at + length
    if (length := _match_in(tokens, at, words.IS_A_PHRASES)) and not is_denied(tokens, at):
        _describe(found, tokens, at, length, sentence, line, subject)
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
    left = subjects_before(tokens, at, before, subject)
    right = [each.named for each in names_from(tokens, at + length, behind)]
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
    subjects = subjects_before(tokens, at, None, subject)
    if len(subjects) != 1 or at + length >= len(tokens):
        return
    kind = _kind_said(tokens, at + length)
    if kind and kind[-1].lower() in words.VALUES:
        return
    subject = subjects[0]
    after = at + length + len(kind)
    if after < len(tokens) and tokens[after].lowered in ("on", "in", "of", "at") and not subject.name.islower():
        for team in names_from(tokens, after + 1, None)[:1]:  # "Alice is an engineer on the platform team"
            if team.named.type == "team" and subject.type in ("concept", "person"):
                subject = Named("person", subject.name)
                found.link(Link(subject, "WORKS_ON", team.named, "prose", line))
    found.describe(subject, sentence[:DESCRIPTION_CHARS_MAX])
    name = " ".join(kind)
    if 0 < len(kind) <= NAME_WORDS_MAX + 1 and is_name(name) and tokens[at + 1].lowered in ("a", "an"):
        found.link(Link(subject, "IS_A", Named("concept", name.lower()), "prose", line))


def _kind_said(tokens: Sequence[Token], start: int) -> list[str]:
    """Return what something is said to be, where that is a whole phrase: "an in-memory store", not "a fast, "."""
    kind: list[str] = []
    for at in range(start, min(start + NAME_WORDS_MAX + 2, len(tokens))):
        each = tokens[at]
        if each.text == "," or each.lowered in words.JOINS:
            return []
        is_next_article = at + 1 < len(tokens) and tokens[at + 1].lowered in words.ARTICLES
        is_participle = each.lowered.endswith("ed") or (each.lowered.endswith("ing") and is_next_article)
        if each.is_mark or each.lowered in words.STOPS or (kind and is_participle):
            break
        kind.append(each.text)
    else:
        if start + NAME_WORDS_MAX + 2 < len(tokens):
            return []
    is_odd = bool(kind) and (kind[-1].lower() in words.ADJECTIVES or kind[-1].lower().endswith("ly"))
    return [] if is_odd else kind


def _store(found: Found, tokens: Sequence[Token], at: int, line: int | None, subject: Named | None) -> None:
    """Note where something keeps what: "stores sessions in Redis"."""
    for behind in range(at + 2, min(at + 9, len(tokens) - 1)):
        if tokens[behind].is_mark:
            return
        if tokens[behind].lowered in ("in", "to", "into", "on"):
            for src in subjects_before(tokens, at, None, subject):
                for dst in names_from(tokens, behind + 1, "tool"):
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
    old = names_from(tokens, behind, None)[:1]
    if not old or old[0].end >= len(tokens) or tokens[old[0].end].lowered not in ("to", "into"):
        return
    new = names_from(tokens, old[0].end + 1, None)[:1]
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
    for src in subjects_before(tokens, end, None, subject):
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
