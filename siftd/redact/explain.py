"""What would be replaced in a text, and where in it: for people who want to know why."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from siftd.redact.redactor import MOST_PASSES, Redactor
from siftd.redact.spans import PLACEHOLDER

AROUND_CHARS = 32
_PLACEHOLDER = re.compile(PLACEHOLDER)


class Finding(NamedTuple):
    """One replacement. Lines and columns count from 1, columns in characters; the secret itself is not in it."""

    rule: str
    line: int
    column: int
    characters: int
    """Length of what would be replaced."""
    excerpt: str
    """What stands around it in its line, and a mask for itself."""


def explain(redactor: Redactor, text: str, *, jsx: bool = False) -> list[Finding]:
    """Return what redacting `text` replaces, in order."""
    spans = _spans(redactor, text, jsx)
    ends = list(accumulate(len(line) for line in text.splitlines(keepends=True)))
    findings = []
    for place, (begin, end, rule) in enumerate(spans):
        line = bisect_right(ends, begin)
        starts_at, stops_at = (ends[line - 1] if line else 0), (ends[line] if line < len(ends) else len(text))
        before = text[max(starts_at, begin - AROUND_CHARS, spans[place - 1][1] if place else 0) : begin]
        following = spans[place + 1][0] if place + 1 < len(spans) else len(text)
        after = text[end : max(end, min(stops_at, end + AROUND_CHARS, following))]
        excerpt = f"{before}[REDACTED:{rule}]{after}".strip()
        findings.append(Finding(rule, line + 1, begin - starts_at + 1, end - begin, excerpt))
    return findings


def _spans(redactor: Redactor, text: str, jsx: bool) -> list[tuple[int, int, str]]:
    """Return the spans of `text` that are replaced in any pass, apart from each other."""
    spans: list[tuple[int, int, str]] = []
    origins: Sequence[int] = range(len(text) + 1)
    for _ in range(MOST_PASSES):
        found = redactor.find(text, jsx=jsx)
        if not found:
            break
        spans += [(origins[begin], origins[end], name) for begin, end, name in found]
        text = redactor.replace(text, found)
        origins = _moved(text, found, origins)
    return list(_apart(sorted(spans)))


def _moved(new: str, found: list[tuple[int, int, str]], origins: Sequence[int]) -> list[int]:
    """Return where each character of the replaced text stood at first; a placeholder's, where its secret began."""
    moved: list[int] = []
    position = 0
    for begin, end, _ in found:
        moved += origins[position:begin]
        placeholder = _PLACEHOLDER.match(new, len(moved))
        assert placeholder is not None
        moved += [origins[begin]] * len(placeholder[0])
        position = end
    return moved + list(origins[position:])


def _apart(spans: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield spans; one that a later pass made larger swallows the earlier one."""
    held: tuple[int, int, str] | None = None
    for begin, end, name in spans:
        if held is None:
            held = begin, end, name
        elif begin < held[1]:
            held = held[0], max(end, held[1]), name if end - begin > held[1] - held[0] else held[2]
        else:
            yield held
            held = begin, end, name
    if held is not None:
        yield held
