"""The rules at work: compiled when they are first needed, and tried where the gate has found the head of one."""

from __future__ import annotations

import re
from functools import cached_property
from string import ascii_letters, digits

from siftd.redact.prefilter import Prefilter, open_prefilter, plain_beginnings
from siftd.redact.rules import LEFT, Rule

Matched = tuple[Rule, int, int, re.Match[str]]
"""The rule, begin and end of what it replaces, and its match."""

LONGEST_REACH = 96
"""How far before its head a match may begin: a name, or the 82 characters before the mark of an Azure key."""

LONGEST_REFUSED = 512
"""Longer than any token; of what is refused so much is tried once more."""

LONGEST_BOUNDED = 120
"""From this length on a bounded repetition may have been cut short."""


class _Armed:
    """A rule with its expressions compiled when they are first needed."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.heads = [rule.head] if rule.head else [re.escape(word) for word in rule.keywords.split()]
        self._reach = None if rule.reach is None else ascii_letters + digits + rule.reach

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.rule.pattern)

    @cached_property
    def _pattern_at_seam(self) -> re.Pattern[str]:
        """As the pattern, right behind what was found."""
        return re.compile(self.rule.pattern.removeprefix(LEFT))

    @cached_property
    def _has_left(self) -> bool:
        return self.rule.pattern.startswith(LEFT)

    @cached_property
    def _rest(self) -> re.Pattern[str]:
        return re.compile(self.rule.rest)

    @cached_property
    def keywords(self) -> tuple[bytes, ...]:
        return tuple(word.encode("ascii") for word in self.rule.keywords.split())

    @cached_property
    def _begins(self) -> re.Pattern[bytes]:
        return re.compile("|".join(self.heads).encode("ascii"))

    def begins_at(self, data: bytes, start: int) -> bool:
        """Whether the rule's head stands at `start`."""
        return data.startswith(self.keywords, start) if self.keywords else self._begins.match(data, start) is not None

    @cached_property
    def is_bounded(self) -> bool:
        """Whether no match begins inside a word."""
        return self._reach is None and self._has_left

    def firsts(self) -> set[bytes]:
        """Return the first two characters of the head, or the one or none of them that is plain to see."""
        plain = self.keywords or [text.encode("ascii") for text in plain_beginnings(self.rule.head)]
        return {beginning[:2] for beginning in plain}

    def match(self, text: str, start: int, floor: int, refused: Refused) -> tuple[int, int, re.Match[str]] | None:
        """Try the rule at a head that starts at `start`; nothing before `floor` may belong to the match.

        What a found secret or a placeholder adjoins stood in one word with it. On its right a token may begin, as it
        will in the next pass; on its left none ends, or a row of them would need a pass for each.

        What the check refuses is remembered when it is long: tried anew from each head within, it would cost the
        square of its length. Its last characters are tried all the same.
        """
        if start < refused.get(self, 0):
            return None
        if self._reach is not None:
            before = text[max(floor, start - LONGEST_REACH) : start]
            start -= len(before) - len(before.rstrip(self._reach))
        pattern = self._pattern_at_seam if start == floor and self._has_left else self._pattern
        match = pattern.match(text, start)
        if match is None and self._reach is not None and text.startswith("-", start):  # the mark of a removed line
            start += 1
            match = pattern.match(text, start)
        if match is None or (text.startswith("[REDACTED:", match.end()) and text[match.end() - 1] not in _APART):
            return None
        if not self.rule.check(match):
            if match.end() - start > LONGEST_REFUSED:
                refused[self] = match.end() - LONGEST_REFUSED
            return None
        begin, end = match.span(match.lastindex or 0 if self.rule.group < 0 else self.rule.group)
        if self.rule.rest and end - begin >= LONGEST_BOUNDED:
            last = self._rest.match(text, end)
            end = last.end() if last else end
        return begin, end, match


Refused = dict[_Armed, int]
"""Until where a rule need not be tried."""


_LEFT = re.compile(LEFT)
_APART = " \t\r\n\"'`\\"


class RuleGroup:
    """The rules whose heads one automaton of the gate knows."""

    def __init__(self, rules: list[Rule], marks: list[str], *, pure: bool) -> None:
        """`marks` are found by the gate besides the heads, and match no rule."""
        self._armed = [_Armed(rule) for rule in rules]
        self._by_two: dict[bytes, list[_Armed]] = {}
        self.prefilter: Prefilter = open_prefilter(
            [*marks, *(head for one in self._armed for head in one.heads)], pure=pure
        )

    def _may_begin_with(self, two: bytes) -> list[_Armed]:
        """Return the rules whose head may begin with these two characters, found out once, in the table's order."""
        rules = self._by_two.get(two)
        if rules is None:
            numbers = set[int]().union(*(self._firsts.get(first, ()) for first in (two, two[:1], b"")))
            rules = self._by_two[two] = [self._armed[number] for number in sorted(numbers)]
        return rules

    @cached_property
    def _firsts(self) -> dict[bytes, set[int]]:
        """The numbers of the rules whose heads begin so, as far as that is plain to see."""
        numbers: dict[bytes, set[int]] = {}
        for number, armed in enumerate(self._armed):
            for first in armed.firsts():
                numbers.setdefault(first, set()).add(number)
        return numbers

    def first_match(self, text: str, data: bytes, start: int, floor: int, refused: Refused) -> Matched | None:
        """Try the rules whose head stands at `start`, in the order of the table."""
        is_left = start == floor or _LEFT.match(text, start) is not None
        is_alone = len(self._armed) == 1  # whatever the gate found is its head then
        for armed in self._may_begin_with(data[start : start + 2]):
            if (is_left or not armed.is_bounded) and (is_alone or armed.begins_at(data, start)):
                matched = armed.match(text, start, floor, refused)
                if matched is not None:
                    return armed.rule, *matched
        return None

    def whole_match(self, text: str, data: bytes, begin: int, end: int) -> Matched | None:
        """Return the match of a rule that knows the whole of text[begin:end] by its own form."""
        matched = self.first_match(text, data, begin, begin, {}) if end > begin else None
        return matched if matched is not None and matched[1] <= begin and matched[2] >= end else None
