"""Rules of one's own at work. What may be a rule is decided in `siftd.custom_rules`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from siftd.custom_rules import OwnRule
from siftd.redact.spans import PLACEHOLDER, Found, united

_PLACEHOLDER = re.compile(PLACEHOLDER)


class OwnRules:
    """Finds what the configuration's own rules describe."""

    def __init__(self, rules: Sequence[OwnRule]) -> None:
        self._rules = tuple(rules)

    def find_suspects(self, texts: list[str]) -> set[str]:
        return {text for text in texts if any(rule.pattern.search(text) for rule in self._rules)}

    def find(self, text: str) -> list[Found]:
        found: list[Found] = []
        for rule in self._rules:
            found = united(found, self._find_one(rule, text))
        if not found:
            return found
        placeholders = [match.span() for match in _PLACEHOLDER.finditer(text)]
        return [span for span in found if not any(begin < span[1] and span[0] < end for begin, end in placeholders)]

    @staticmethod
    def _find_one(rule: OwnRule, text: str) -> list[Found]:
        group = rule.pattern.groups
        return [(*match.span(group), rule.name) for match in rule.pattern.finditer(text) if match[group]]
