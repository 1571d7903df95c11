"""The finder: where in a text the secrets are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from functools import cache
from itertools import accumulate

from siftd.redact.ansi import CODE_HEAD, Plain, holds_unseen, is_coloured
from siftd.redact.escaped import escapes, opened
from siftd.redact.nearness import HEAD, find_near
from siftd.redact.prefilter import SEPARATOR, Prefilter, open_prefilter, prefilter_bytes
from siftd.redact.private import PRIVATE_HEAD, private_spans
from siftd.redact.rule_group import LONGEST_REACH, Matched, Refused, RuleGroup
from siftd.redact.rules import RULES, GroupName, Rule
from siftd.redact.secret_names import kind_of_name
from siftd.redact.secret_words import speaks_otherwise
from siftd.redact.spans import PLACEHOLDER, Found, Range, around, common, united

LONGEST_PLACEHOLDER = 64

LONGEST_TOKEN = 4_096
"""How far before a colour code the token may begin in which it stands. Arbitrary."""

FARTHEST_ESCAPE = 1_024
"""How far before an escape a match may begin that needs it opened. Keys of many lines know escapes by themselves."""

LONGEST_HEAD = 512
"""From begin to end; no head of the table is longer."""

GROUPS: tuple[GroupName, ...] = ("token", "name", "provider", "run", "place", "loose")
RUN, PLACE = GROUPS.index("run"), GROUPS.index("place")
MARKS = [PLACEHOLDER, f"(?i:{PRIVATE_HEAD})", CODE_HEAD]
"""What is no head of a rule, and makes a text one to look at. A gate of their own would cost each text another pass."""
PEOPLE = frozenset(["email", "phone", "private"])
"""What is no secret inside an encoded text: a picture of a business card is left alone."""


class Finder:
    """Finds the secrets of a text by the rules that are not switched off."""

    def __init__(self, off: frozenset[str], *, pure: bool) -> None:
        rules = [rule for rule in RULES if rule.name not in off]
        self.groups = [
            RuleGroup(
                [rule for rule in rules if rule.rule_group == rule_group],
                MARKS if rule_group == "place" else [],
                pure=pure,
            )
            for rule_group in GROUPS
        ]
        self.prefilters = [rule_group.prefilter for rule_group in self.groups]
        self.secret_words = open_prefilter([HEAD], pure=pure)
        self._marks = open_prefilter(MARKS, pure=pure)

    def find_suspects(self, texts: list[str]) -> set[str]:
        """Return those of `texts` that may not be clean. The gate reads all of them in one go.

        Nearly all in which a head stands are clean nevertheless; so of these the lanes that have found one read on.
        """
        joined = SEPARATOR.join(texts)
        data = prefilter_bytes(joined)
        suspects = {text for text, groups in self._heads(texts, data).items() if self._may_hold(text, groups)}
        named = {texts[at] for at in _hit(texts, data, self.secret_words)}
        if not joined.isascii():
            suspects.update(text for text in texts if holds_unseen(text))
            named.update(text for text in texts if speaks_otherwise(text))
        suspects.update(text for text in named - suspects if not _is_name(text) and self._has_near(text))
        if "\\" not in joined:
            return suspects
        views = {view: text for text in texts if (view := opened(text)) is not text and text not in suspects}
        heads = self._heads(list(views), prefilter_bytes(SEPARATOR.join(views)))
        suspects.update(views[view] for view, groups in heads.items() if self._may_hold(view, groups))
        return suspects

    def _heads(self, texts: list[str], data: bytes) -> dict[str, list[int]]:
        """Return by text the numbers of the lanes of which it holds a head; `data` is made of all of them."""
        heads: dict[str, list[int]] = {}
        for number, prefilter in enumerate(self.prefilters):
            for at in _hit(texts, data, prefilter):
                heads.setdefault(texts[at], []).append(number)
        return heads

    def _may_hold(self, text: str, groups: list[int]) -> bool:
        """Whether a text that holds heads of these lanes alone is one to look at."""
        if PLACE in groups and self._marks.search(prefilter_bytes(text)) is not None:
            return True
        scan = _Scan(self, text, False, groups)
        scan.read(0, len(text), most=1)
        return bool(scan.found)

    def _has_near(self, text: str) -> bool:
        data = prefilter_bytes(text)
        if b".py::" in data and self.secret_words.search(_TEST.sub(b"", data)) is None and not speaks_otherwise(text):
            return False
        return bool(find_near(text, _without_tests(data), self.secret_words, None))

    def find(self, text: str, *, jsx: bool = False, parts: list[Range] | None = None) -> list[Found]:
        """Return what to replace, in order and apart from each other; with `parts` only what begins within them.

        The text is read as it stands, and near colour codes and escapes once more without them.
        """
        found = self._read(text, jsx, parts)
        found = united(found, find_near(text, _without_tests(prefilter_bytes(text)), self.secret_words, parts, found))
        view = opened(text)
        if view is text:
            return found
        near = common(around(escapes(text), FARTHEST_ESCAPE, LONGEST_REACH), parts)
        # What is private the text itself says, by the rules of its language.
        return united([span for span in self._read(view, jsx, near) if span[2] != "private"], found)

    def _read(self, text: str, jsx: bool, parts: list[Range] | None) -> list[Found]:
        found = self._find(text, jsx, parts)
        if not is_coloured(text, parts):
            return found
        plain = Plain(text)
        near = self._find(plain.text, jsx, around(plain.seams, LONGEST_TOKEN, LONGEST_REACH))
        return united(found, [(*plain.span(begin, end), name) for begin, end, name in near])

    def _find(self, text: str, jsx: bool, parts: list[Range] | None) -> list[Found]:
        scan = _Scan(self, text, jsx, range(len(GROUPS)))
        for begin, end in [(0, len(text))] if parts is None else parts:
            scan.read(begin, min(end, len(text)))
        return scan.found


def _hit(texts: list[str], data: bytes, prefilter: Prefilter) -> list[int]:
    """Return the numbers of those of `texts`, which `data` is made of, in which the gate finds something."""
    place = prefilter.search(data)
    hit: list[int] = []
    if place is None:
        return hit
    ends = list(accumulate(len(text) + 1 for text in texts))
    while place is not None:
        at = bisect_right(ends, place.end() - 1)  # a head may begin with the separator before a text
        hit.append(at)
        place = prefilter.search(data, ends[at]) if at + 1 < len(ends) else None
    return hit


class _Scan:
    """One reading of a text, part by part."""

    def __init__(self, finder: Finder, text: str, jsx: bool, groups: Collection[int]) -> None:
        self.found: list[Found] = []
        self._groups = groups
        self._finder = finder
        self._text = text
        self._data = prefilter_bytes(text)
        self._private = iter([*private_spans(text, jsx=jsx), (len(text), len(text))])
        self._next_private = next(self._private)
        self._floor = 0
        self._refused: Refused = {}

    def read(self, begin: int, end: int, most: int | None = None) -> None:
        """Find what begins in this part of the text, until `most` are found. Parts come in order."""
        begin = max(self._floor, self._end_of_placeholder(begin))
        prefilters = self._finder.prefilters
        starts = [
            self._next_start(prefilter, begin, end) if at in self._groups else end
            for at, prefilter in enumerate(prefilters)
        ]
        while (start := min(starts)) < end and len(self.found) != most:
            index = starts.index(start)
            self._cut_private(start)
            position = self._floor if start < self._floor else self._try(index, start)
            starts[index] = self._next_start(prefilters[index], position, end)

    def _next_start(self, prefilter: Prefilter, position: int, end: int) -> int:
        """Return where the gate's next head begins; `end` where none begins before it."""
        if position >= end:
            return end
        place = prefilter.search(self._data, position, min(end + LONGEST_HEAD, len(self._data)))
        return end if place is None else min(place.start(), end)

    def _end_of_placeholder(self, position: int) -> int:
        """Return the end of the placeholder that stands at `position`, else `position`."""
        begin = self._text.rfind("[REDACTED:", max(0, position - LONGEST_PLACEHOLDER), position)
        placeholder = _PLACEHOLDER.match(self._text, begin) if begin >= 0 else None
        return max(position, placeholder.end()) if placeholder else position

    def _cut_private(self, start: int) -> None:
        while start >= self._next_private[0] and self._next_private[0] < self._next_private[1]:
            while self.found and self.found[-1][1] > self._next_private[0]:
                self.found.pop()
            self.found.append((*self._next_private, "private"))
            self._floor = self._next_private[1]
            self._next_private = next(self._private)

    def _try(self, index: int, start: int) -> int:
        """Try what the gate of this number has found, and return from where it looks further."""
        placeholder = _PLACEHOLDER.match(self._text, start)
        if placeholder is not None:
            self._floor = placeholder.end()
            return self._floor
        matched = self._finder.groups[index].first_match(self._text, self._data, start, self._floor, self._refused)
        if matched is not None:
            span = self._span(matched)
            if span is None:
                return matched[2]
            self.found.append(span)
            self._floor = span[1]
            return self._floor
        if index == RUN:
            # A run that is no secret is none from its middle either, and would be read once for each letter.
            run = _RUN.match(self._text, start)
            return run.end() if run and run.end() > start else start + 1
        return start + 1

    def _span(self, matched: Matched) -> Found | None:
        rule, begin, end, match = matched
        if rule.decode is not None:
            decoded = rule.decode(self._text[begin:end])
            inner = [name for _, _, name in self._finder.find(decoded)] if decoded else []
            name = next((name for name in inner if name not in PEOPLE), None)
            return (begin, end, name) if name else None
        if not rule.general:
            return begin, end, rule.name
        specific = self._finder.groups[0].whole_match(self._text, self._data, begin, end)
        return (specific[1], specific[2], specific[0].name) if specific else (begin, end, _name(rule, match))


def _is_name(text: str) -> bool:
    """Whether it is a name alone, as most keys of an object are, with nothing beside it.

    A sentence in a script without blanks is an identifier too: `\u5bc6\u7801\u662fX`.
    """
    return text.isascii() and text.isidentifier()


_TEST = re.compile(rb"test_\w{1,64}+\.py::(?:\w{1,64}+::)?test_\w*+")


def _without_tests(data: bytes) -> bytes:
    """Return what the gate reads, as long as it is, with blanks for the names that pytest prints of tests.

    `tests/test_auth.py::test_token_12 PASSED` tells of no secret, and agents run hundreds of such lines a minute.
    The pattern begins with plain text, for which the engine looks three times as fast.
    """
    return _TEST.sub(lambda test: b" " * len(test[0]), data) if b".py::" in data else data


_PLACEHOLDER = re.compile(PLACEHOLDER)
_RUN = re.compile(r"[A-Za-z0-9+/_-]*+")


def _name(rule: Rule, match: re.Match[str]) -> str:
    """An assignment is called after what its name means."""
    if "name" in match.re.groupindex:
        return "password" if kind_of_name(match["name"]) == "password" else "secret"
    return rule.name


@cache
def shared_finder(off: frozenset[str], pure: bool) -> Finder:
    return Finder(off, pure=pure)
