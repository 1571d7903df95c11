"""`<private>…</private>`: what a person asked not to be remembered."""

from __future__ import annotations

import re

PRIVATE_PLACEHOLDER = "[REDACTED:private]"
"""Without a hash: nothing about the words may be testable."""

_TAG = r"<[ \t]{0,8}(/?)[ \t]{0,8}private(?:\s[^<>]*)?(?<!/)>"
_ANY_CASE = re.compile(_TAG, re.IGNORECASE)
_LOWER_CASE = re.compile(_TAG)

PRIVATE_HEAD = r"<[ \t]{0,8}private[ \t\r\n>]"


def private_spans(text: str, *, jsx: bool = False) -> list[tuple[int, int]]:
    """Return the spans to cut, tags included: nested ones as one, an unclosed one to the end of the text."""
    spans: list[tuple[int, int]] = []
    depth = begin = 0
    for tag in (_LOWER_CASE if jsx else _ANY_CASE).finditer(text):
        if not tag[1]:
            if depth == 0:
                begin = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                spans.append((begin, tag.end()))
    if depth:
        spans.append((begin, len(text)))
    return spans


def cut_private(text: str, *, jsx: bool = False) -> str:
    """Return `text` with a placeholder in the place of each private span."""
    pieces: list[str] = []
    position = 0
    for begin, end in private_spans(text, jsx=jsx):
        pieces += (text[position:begin], PRIVATE_PLACEHOLDER)
        position = end
    return "".join([*pieces, text[position:]])
