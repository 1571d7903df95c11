"""Redaction rules of one's own: `redact.rules` of the configuration, checked before anything trusts them.

    {"name": "customer-number", "pattern": "KD-[0-9]{8}", "example": "KD-20417733"}

`pattern` is a regular expression as Python's `re` reads it; its one group, if it has one, is what is replaced, else
the whole match is. Accepted is what any engine matches in linear time: every repetition has an upper bound
(`{20,64}`, never `*` or `+`), there is no back reference, a match has 4 to 1,024 characters, and no text can be
matched in more than 512 ways from one place. The last is what nested and neighbouring repetitions blow up: each is a
factor (`{8,64}` is 57 ways) unless the character behind it is none that it repeats; an alternation is a sum. A
pattern that begins with literal characters costs clean text nearly nothing. `example` must match, so that a rule that
catches nothing is told when it is written.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from siftd.errors import ConfigInvalid

RULES_MAX = 64
PATTERN_CHARS_MAX = 500
EXAMPLE_CHARS_MAX = 2_000
WIDTH_MIN = 4
"""A shorter match is a part of any text."""
WIDTH_MAX = 1_024
WAYS_MAX = 512
_SAMPLE = (*range(0x180), 0x3A9, 0x2028, 0x4E00, 0x1F600)
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_TAKEN = frozenset({"private", "env-value"})
_FIELDS = frozenset({"name", "pattern", "example"})


class OwnRule(NamedTuple):
    """A rule that passed every check."""

    name: str
    pattern: re.Pattern[str]


class _Refused(Exception):
    """Why a pattern is not accepted."""


def parse(rules: Any) -> tuple[OwnRule, ...]:
    """Return the rules of `redact.rules`. Raises ConfigInvalid, naming the rule and what to change."""
    if not isinstance(rules, list) or len(rules) > RULES_MAX:
        raise ConfigInvalid(f"redact.rules must be a list of at most {RULES_MAX} rules", hint=_HINT)
    parsed = tuple(_parse_one(rule) for rule in rules)
    if len({rule.name for rule in parsed}) < len(parsed):
        raise ConfigInvalid("two rules of redact.rules have the same name", hint="a placeholder shows the name")
    return parsed


_HINT = 'for instance [{"name": "customer-number", "pattern": "KD-[0-9]{8}", "example": "KD-20417733"}]'


def _parse_one(rule: Any) -> OwnRule:
    if not isinstance(rule, dict) or rule.keys() != _FIELDS or not all(isinstance(each, str) for each in rule.values()):
        raise ConfigInvalid("a rule of redact.rules has a name, a pattern and an example", hint=_HINT)
    name = rule["name"]
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise ConfigInvalid(
            "a rule of redact.rules has a name that cannot stand in a placeholder",
            hint="use lower-case letters, digits and '-', at most 40 of them",
        )
    try:
        return OwnRule(name, _compile(rule["pattern"], rule["example"]))
    except _Refused as refused:
        raise ConfigInvalid(
            f"the rule {name} of redact.rules is refused: {refused}", hint="bounded repetitions, one group at most"
        ) from None


def _compile(text: str, example: str) -> re.Pattern[str]:
    if len(text) > PATTERN_CHARS_MAX:
        raise _Refused(f"its pattern has more than {PATTERN_CHARS_MAX} characters")
    # The parser of `re` has no public name; it is there in every Python from 3.11 on.
    from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]

    try:
        tree = parser.parse(text)
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError):
        raise _Refused("its pattern is no regular expression") from None
    ways = _ways_of(tree)
    low, high = tree.getwidth()
    if low < WIDTH_MIN:
        raise _Refused(f"it can match fewer than {WIDTH_MIN} characters")
    if high > WIDTH_MAX:
        raise _Refused(f"it can match more than {WIDTH_MAX:,} characters")
    if ways > WAYS_MAX:
        raise _Refused(f"it can match one text in more than {WAYS_MAX} ways, which takes more than linear time")
    if pattern.groups > 1:
        raise _Refused("it has more than one group; write the others as (?:…)")
    if not _catches(pattern, example):
        raise _Refused("its example does not match")
    return pattern


def _catches(pattern: re.Pattern[str], example: str) -> bool:
    match = pattern.search(example[:EXAMPLE_CHARS_MAX])
    return match is not None and bool(match[pattern.groups])


def _ways_of(tree: Any) -> int:
    """Return a bound of how often a backtracking engine can match from one place. Raises _Refused."""
    items = list(tree)
    ways = 1
    for place, (operator, argument) in enumerate(items):
        each = _ways(str(operator), argument)
        if each > 1 and place + 1 < len(items) and _is_decided(tree.state, items[place], items[place + 1]):
            each = 1
        ways = min(ways * each, WAYS_MAX + 1)
    return ways


def _is_decided(state: Any, item: Any, following: Any) -> bool:
    """Whether a repetition of one kind of character has one end only: what follows is none of them."""
    operator, argument = item
    if not str(operator).endswith("_REPEAT") or len(argument[2]) != 1:
        return False
    repeated, next_one = _characters(state, argument[2][0]), _characters(state, following)
    return repeated is not None and next_one is not None and repeated.isdisjoint(next_one)


def _characters(state: Any, item: Any) -> set[str] | None:
    """Return which of some hundred characters a part of a pattern matches; None if it is not one character's part."""
    from re import _compiler as compiler  # type: ignore[attr-defined,unused-ignore]
    from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]

    if str(item[0]) not in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        return None
    pattern = compiler.compile(parser.SubPattern(state, [item]), state.flags)
    return {
        character for character in map(chr, (*range(0x180), 0x3A9, 0x2028, 0x4E00, 0x1F600)) if pattern.match(character)
    }


def _ways(operator: str, argument: Any) -> int:
    match operator:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT":
            return 1
        case "SUBPATTERN":
            return _ways_of(argument[-1])
        case "ATOMIC_GROUP":
            return _ways_of(argument)
        case "ASSERT" | "ASSERT_NOT":
            return _ways_of(argument[1])
        case "BRANCH":
            return sum(_ways_of(each) for each in argument[1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _ways_of_repeat(*argument)
        case _:
            raise _Refused("it refers back to what it matched")


def _ways_of_repeat(low: int, high: int, body: Any) -> int:
    if high > WIDTH_MAX:
        raise _Refused("it repeats something without an upper bound; write {1,64} instead of + or *")
    once = _ways_of(body)
    if once == 1:
        return int(high) - int(low) + 1
    total = 0
    for times in range(int(low), int(high) + 1):
        total += once ** min(times, 16)
        if total > WAYS_MAX:
            break
    return total
