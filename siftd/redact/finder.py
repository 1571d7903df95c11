"""The finder: where in a text the secrets are."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from itertools import accumulate
from string import ascii_letters, digits

from siftd.redact.gate import gate_bytes, open_gate
from siftd.redact.names import LONGEST_NAME, kind_of_name
from siftd.redact.private import PRIVATE_HEAD, private_spans
from siftd.redact.rules import RULES, Rule

PLACEHOLDER = r"\[REDACTED:[a-z0-9-]{1,40}(?::[0-9a-f]{4})?\]"
"""What a secret leaves behind. The gate finds it before any rule, so that no rule looks inside one."""

SEPARATOR = "\0"
"""Between texts while the gate reads them at once; part of no head."""

Found = tuple[int, int, str]
"""Begin, end and the name that the placeholder bears."""

NO_RULE = 2
"""The first heads of the gate belong to no rule: placeholders and `<private>`."""


class _Armed:
    """A rule with its expressions compiled when they are first needed."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.head = rule.head or "|".join(re.escape(word) for word in rule.keywords.split())
        self.reach = ascii_letters + digits + rule.reach if rule.reach else ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.rule.pattern)

    @cached_property
    def rest(self) -> re.Pattern[str]:
        return re.compile(self.rule.rest)

    @cached_property
    def keywords(self) -> tuple[bytes, ...]:
        return tuple(word.encode("ascii") for word in self.rule.keywords.split())

    @cached_property
    def _begins(self) -> re.Pattern[bytes]:
        return re.compile(self.head.encode("ascii"))

    def begins_at(self, data: bytes, start: int) -> bool:
        """Whether the rule's head stands at `start`."""
        return data.startswith(self.keywords, start) if self.keywords else self._begins.match(data, start) is not None

    def may_begin_with(self, byte: int) -> bool:
        """Whether the head's first character can be `byte`; True where that is not plain to see."""
        if self.keywords:
            return any(word[0] == byte for word in self.keywords)
        is_plain = self.head[0].isalnum() and "|" not in self.head and self.head[1] not in "?*{"
        return not is_plain or ord(self.head[0]) == byte

    def match(self, text: str, start: int, floor: int) -> tuple[int, int, re.Match[str]] | None:
        """Try the rule at a head that starts at `start`; nothing before `floor` may belong to the match."""
        if self.reach:
            before = text[max(floor, start - LONGEST_NAME) : start]
            start -= len(before) - len(before.rstrip(self.reach))
        match = self.pattern.match(text, start)
        if match is None or not self.rule.check(match):
            return None
        begin, end = match.span(match.lastindex or 0 if self.rule.group < 0 else self.rule.group)
        if self.rule.rest and end - begin >= LONGEST_BOUNDED:
            last = self.rest.match(text, end)
            end = last.end() if last else end
        return begin, end, match


LONGEST_BOUNDED = 256
"""From this length on a bounded repetition may have been cut short."""


class Finder:
    """Finds the secrets of a text by the rules that are not switched off."""

    def __init__(self, off: frozenset[str], *, pure: bool) -> None:
        self._armed = [_Armed(rule) for rule in RULES if rule.name not in off]
        heads = [PLACEHOLDER, f"(?i:{PRIVATE_HEAD})", *(armed.head for armed in self._armed)]
        self._gate = open_gate(heads, pure=pure)
        self._heads = heads

    @cached_property
    def _literals(self) -> dict[bytes, int]:
        """The heads that are keywords. Half of all hits are, and looking one up costs nothing."""
        literals: dict[bytes, int] = {}
        for index, armed in enumerate(self._armed):
            for word in armed.keywords:
                literals.setdefault(word, index + NO_RULE)
        return literals

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[bytes], list[int]]:
        """The other heads as one alternation, and which head each of its groups is.

        An empty group *behind* each head tells which one matched: before it, a group would keep the engine from seeing
        that a branch begins with another character (measured: 2 instead of 40 microseconds a hit).
        """
        indexes = [at for at, _ in enumerate(self._heads) if at < NO_RULE or not self._armed[at - NO_RULE].keywords]
        return re.compile("|".join(f"(?:{self._heads[at]})()" for at in indexes).encode("ascii")), indexes

    def _find_expression(self, data: bytes, start: int) -> int | None:
        pattern, indexes = self._expressions
        match = pattern.match(data, start)
        return None if match is None else indexes[(match.lastindex or 1) - 1]

    @cached_property
    def _positions_by_first_byte(self) -> list[list[int]]:
        """For each byte the rules whose head may begin with it."""
        return [[at for at, armed in enumerate(self._armed) if armed.may_begin_with(byte)] for byte in range(256)]

    def may_match(self, text: str) -> bool:
        """Tell at the gate's speed that a text is clean; True promises nothing."""
        return self._gate.search(gate_bytes(text)) is not None

    def find_suspects(self, texts: list[str]) -> set[str]:
        """Return those of `texts` that are not clean. The gate reads all of them in one go."""
        data = gate_bytes(SEPARATOR.join(texts))
        place = self._gate.search(data)
        if place is None:
            return set()
        ends = list(accumulate(len(text) + 1 for text in texts))
        suspects: set[str] = set()
        while place is not None:
            at = bisect_right(ends, place.start())
            suspects.add(texts[at])
            place = self._gate.search(data, ends[at]) if at + 1 < len(ends) else None
        return suspects

    def find(self, text: str, *, jsx: bool = False) -> list[Found]:
        """Return what to replace, in order and apart from each other."""
        data = gate_bytes(text)
        found: list[Found] = []
        private = iter([*private_spans(text, jsx=jsx), (len(text), len(text))])
        next_private = next(private)
        floor = 0
        position = 0
        while (place := self._gate.search(data, position)) is not None:
            start = place.start()
            position = start + 1
            while start >= next_private[0] and next_private[0] < next_private[1]:
                found = [span for span in found if span[1] <= next_private[0]]
                found.append((*next_private, "private"))
                floor = next_private[1]
                next_private = next(private)
            if start < floor:
                position = floor
                continue
            index = self._which_head(data, start, place.end())
            if index == 0:
                position = floor = place.end()
            elif index is not None and index >= NO_RULE:
                span = self._first_match(text, data, start, floor, index - NO_RULE)
                if span is not None:
                    found.append(span)
                    position = floor = span[1]
                elif self._armed[index - NO_RULE].reach:
                    position = place.end()  # the same name again, from its middle
        return found

    def _which_head(self, data: bytes, start: int, end: int) -> int | None:
        """Return the head that the gate found at data[start:end]."""
        return self._literals.get(data[start:end]) or self._find_expression(data, start)

    def _first_match(self, text: str, data: bytes, start: int, floor: int, index: int) -> Found | None:
        """Try the rule whose head was found and, when it refuses, the others that begin here."""
        for position in (index, *self._positions_by_first_byte[data[start]]):
            armed = self._armed[position]
            if position != index and (position < index or not armed.begins_at(data, start)):
                continue
            matched = armed.match(text, start, floor)
            if matched is not None:
                begin, end, match = matched
                if armed.rule.general:
                    return self._specific(text, data, begin, end) or (begin, end, _name(armed.rule, match))
                return begin, end, armed.rule.name
        return None

    def _specific(self, text: str, data: bytes, begin: int, end: int) -> Found | None:
        """Return the name that the whole of text[begin:end] has by its own form."""
        index = next(
            (at for at in self._positions_by_first_byte[data[begin]] if self._armed[at].begins_at(data, begin)), -1
        )
        if index < 0 or self._armed[index].rule.general:
            return None
        span = self._first_match(text, data, begin, begin, index)
        return span if span is not None and span[0] <= begin and span[1] >= end else None


def _name(rule: Rule, match: re.Match[str]) -> str:
    """An assignment is called after what its name means."""
    if "name" in match.re.groupindex:
        return "password" if kind_of_name(match["name"]) == "password" else "secret"
    return rule.name


@cache
def shared_finder(off: frozenset[str], pure: bool) -> Finder:
    return Finder(off, pure=pure)
