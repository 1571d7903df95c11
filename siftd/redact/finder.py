"""The finder: where in a text the secrets are."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from itertools import accumulate
from string import ascii_letters, digits

from siftd.redact.colour import CODE_HEAD, Plain, is_coloured
from siftd.redact.found import Found, united
from siftd.redact.gate import Gate, gate_bytes, open_gate, plain_beginning
from siftd.redact.names import kind_of_name
from siftd.redact.private import PRIVATE_HEAD, private_spans
from siftd.redact.rules import LEFT, RULES, Lane, Rule

PLACEHOLDER = r"\[REDACTED:[a-z0-9-]{1,40}(?::[0-9a-f]{4})?\]"
"""What a secret leaves behind. The gate finds it before any rule, so that no rule looks inside one."""

SEPARATOR = "\0"
"""Between texts while the gate reads them at once; part of no head."""

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
        return self._reach is None and self.rule.pattern.startswith(LEFT)

    @cached_property
    def _plain(self) -> tuple[bytes, ...]:
        """How the head begins, as far as that is plain to see."""
        return self.keywords or (plain_beginning(self.rule.head).encode("ascii"),)

    def may_begin_with(self, two: bytes) -> bool:
        """Whether the head's first two characters can be these; True where that is not plain to see."""
        return any(plain.startswith(two) or two.startswith(plain) for plain in self._plain)

    def match(self, text: str, start: int, floor: int, refused: Refused) -> tuple[int, int, re.Match[str]] | None:
        """Try the rule at a head that starts at `start`; nothing before `floor` may belong to the match.

        What the check refuses is remembered when it is long: tried anew from each head within, it would cost the
        square of its length. Its last characters are tried all the same.
        """
        if start < refused.get(self, 0):
            return None
        if self._reach is not None:
            before = text[max(floor, start - LONGEST_REACH) : start]
            start -= len(before) - len(before.rstrip(self._reach))
        match = self._pattern.match(text, start)
        if match is None:
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


class _Lane:
    """The rules whose heads one automaton of the gate knows."""

    def __init__(self, armed: list[_Armed], *, pure: bool) -> None:
        self._armed = armed
        self._by_two: dict[bytes, list[_Armed]] = {}
        self.gate: Gate = open_gate([head for one in armed for head in one.heads], pure=pure)

    def _may_begin_with(self, two: bytes) -> list[_Armed]:
        """Return the rules whose head may begin with these two characters, found out once."""
        rules = self._by_two.get(two)
        if rules is None:
            rules = self._by_two[two] = [armed for armed in self._armed if armed.may_begin_with(two)]
        return rules

    def first_match(self, text: str, data: bytes, start: int, floor: int, refused: Refused) -> Matched | None:
        """Try the rules whose head stands at `start`, in the order of the table."""
        is_left = _LEFT.match(text, start) is not None
        for armed in self._may_begin_with(data[start : start + 2]):
            if (is_left or not armed.is_bounded) and armed.begins_at(data, start):
                matched = armed.match(text, start, floor, refused)
                if matched is not None:
                    return armed.rule, *matched
        return None

    def whole_match(self, text: str, data: bytes, begin: int, end: int) -> Matched | None:
        """Return the match of a rule that knows the whole of text[begin:end] by its own form."""
        matched = self.first_match(text, data, begin, begin, {}) if end > begin else None
        return matched if matched is not None and matched[1] <= begin and matched[2] >= end else None


class Finder:
    """Finds the secrets of a text by the rules that are not switched off."""

    def __init__(self, off: frozenset[str], *, pure: bool) -> None:
        rules = [rule for rule in RULES if rule.name not in off]
        self._lanes = [_Lane([_Armed(rule) for rule in rules if rule.lane == lane], pure=pure) for lane in LANES]
        self._marks = open_gate([PLACEHOLDER, f"(?i:{PRIVATE_HEAD})", CODE_HEAD], pure=pure)
        self._gates = [self._marks, *(lane.gate for lane in self._lanes)]

    def may_match(self, text: str) -> bool:
        """Tell at the gate's speed that a text is clean; True promises nothing."""
        data = gate_bytes(text)
        return any(gate.search(data) is not None for gate in self._gates)

    def find_suspects(self, texts: list[str]) -> set[str]:
        """Return those of `texts` that are not clean. The gate reads all of them in one go."""
        data = gate_bytes(SEPARATOR.join(texts))
        suspects: set[str] = set()
        ends: list[int] = []
        for gate in self._gates:
            place = gate.search(data)
            while place is not None:
                ends = ends or list(accumulate(len(text) + 1 for text in texts))
                at = bisect_right(ends, place.start())
                suspects.add(texts[at])
                place = gate.search(data, ends[at]) if at + 1 < len(ends) else None
        return suspects

    def find(self, text: str, *, jsx: bool = False) -> list[Found]:
        """Return what to replace, in order and apart from each other."""
        found = self._find(text, jsx)
        if not is_coloured(text):
            return found
        plain = Plain(text)
        return united(found, [(*plain.span(begin, end), name) for begin, end, name in self._find(plain.text, jsx)])

    def _find(self, text: str, jsx: bool) -> list[Found]:
        data = gate_bytes(text)
        found: list[Found] = []
        private = iter([*private_spans(text, jsx=jsx), (len(text), len(text))])
        next_private = next(private)
        floor = 0
        refused: Refused = {}
        places = [gate.search(data) for gate in self._gates]
        beyond = len(data) + 1
        starts = [beyond if place is None else place.start() for place in places]
        while (start := min(starts)) < beyond:
            index = starts.index(start)
            place = places[index]
            assert place is not None
            position = start + 1
            while start >= next_private[0] and next_private[0] < next_private[1]:
                while found and found[-1][1] > next_private[0]:
                    found.pop()
                found.append((*next_private, "private"))
                floor = next_private[1]
                next_private = next(private)
            if start < floor:
                position = floor
            elif index == 0:
                if data.startswith(b"[RED", start):
                    position = floor = place.end()
            else:
                matched = self._lanes[index - 1].first_match(text, data, start, floor, refused)
                if matched is not None:
                    span = self._span(text, data, matched)
                    position = matched[2]
                    if span is not None:
                        found.append(span)
                        position = floor = span[1]
                elif index == RUN_GATE:
                    position = self._end_of_run(text, start)
            places[index] = place = self._gates[index].search(data, position)
            starts[index] = beyond if place is None else place.start()
        return found

    @staticmethod
    def _end_of_run(text: str, start: int) -> int:
        """A run that is no secret is none from its middle either, and would be read once for each letter."""
        run = _RUN.match(text, start)
        return run.end() if run and run.end() > start else start + 1

    def _span(self, text: str, data: bytes, matched: Matched) -> Found | None:
        rule, begin, end, match = matched
        if rule.decode is not None:
            decoded = rule.decode(text[begin:end])
            inner = [name for _, _, name in self.find(decoded)] if decoded else []
            name = next((name for name in inner if name not in PEOPLE), None)
            return (begin, end, name) if name else None
        if not rule.general:
            return begin, end, rule.name
        specific = self._lanes[0].whole_match(text, data, begin, end)
        return (specific[1], specific[2], specific[0].name) if specific else (begin, end, _name(rule, match))


def _name(rule: Rule, match: re.Match[str]) -> str:
    """An assignment is called after what its name means."""
    if "name" in match.re.groupindex:
        return "password" if kind_of_name(match["name"]) == "password" else "secret"
    return rule.name


LANES: tuple[Lane, ...] = ("token", "name", "provider", "run", "place")
RUN_GATE = 1 + LANES.index("run")
_LEFT = re.compile(LEFT)
_RUN = re.compile(r"[A-Za-z0-9+/_-]*+")
PEOPLE = frozenset(["email", "phone", "private"])
"""What is no secret inside an encoded text: a picture of a business card is left alone."""


@cache
def shared_finder(off: frozenset[str], pure: bool) -> Finder:
    return Finder(off, pure=pure)
