"""What is found in a text, by whatever finds: spans with the name that their placeholder bears."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

PLACEHOLDER = r"\[REDACTED:[a-z0-9-]{1,40}(?::[0-9a-f]{4})?\]"
"""What a secret leaves behind. The gate finds it before any rule, so that no rule looks inside one."""

Found = tuple[int, int, str]
"""Begin, end and the name that the placeholder bears."""


Range = tuple[int, int]
"""Begin and end of a part of a text."""


class Searcher(Protocol):
    """Finds what the table of rules cannot know: the workspace's own values, rules of one's own."""

    def find_suspects(self, texts: list[str]) -> set[str]:
        """Return those of `texts` that may hold something; the others are clean."""

    def find(self, text: str) -> list[Found]:
        """Return what to replace, in order, apart from each other and from every placeholder."""


def united(spans: list[Found], others: list[Found]) -> list[Found]:
    """Return both in order, overlapping ones as one span under the name of the longer, else of the first list's.

    Nothing that either covers is left uncovered.
    """
    if not spans or not others:
        return spans or others
    merged: list[Found] = []
    longest = 0
    for begin, end, name in sorted([*spans, *others], key=lambda span: span[0]):
        if not merged or begin >= merged[-1][1]:
            merged.append((begin, end, name))
            longest = end - begin
            continue
        last_begin, last_end, last_name = merged[-1]
        is_longer = end - begin > longest or (end - begin == longest and (begin, end, name) in spans)
        merged[-1] = (last_begin, max(end, last_end), name if is_longer else last_name)
        longest = max(longest, end - begin)
    return merged


def around(spans: Iterable[Range], before: int, after: int) -> list[Range]:
    """Return the parts of a text that lie so near to one of `spans`, which are in order, apart from each other."""
    parts: list[Range] = []
    for begin, end in spans:
        begin = max(0, begin - before)
        if parts and begin <= parts[-1][1]:
            parts[-1] = (parts[-1][0], max(parts[-1][1], end + after))
        else:
            parts.append((begin, end + after))
    return parts


def common(parts: list[Range], others: list[Range] | None) -> list[Range]:
    """Return what both have in common; None is the whole text."""
    if others is None:
        return parts
    both: list[Range] = []
    at = 0
    for begin, end in parts:
        while at < len(others) and others[at][1] <= begin:
            at += 1
        near = at
        while near < len(others) and others[near][0] < end:
            both.append((max(begin, others[near][0]), min(end, others[near][1])))
            near += 1
    return both
