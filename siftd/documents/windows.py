"""One section in windows of at most 512 tokens, each of which begins with the last 50 of the one before.

A window ends where a paragraph does, or else a sentence, a line, a word; only what has none of them for half a window
is cut in the middle. Each step looks at one window alone, so that time is linear and memory is bounded, whatever the
section is: a line of twenty megabytes, or blanks without an end.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

from siftd.documents.tokens import TOKEN

TOKENS_MAX = 512
OVERLAP_TOKENS = 50
CHARS_MAX = 8192
"""Of a window, for what has many characters and few tokens. Arbitrary: four times what 512 tokens of prose have."""

_TOKENS_MIN = TOKENS_MAX // 2
"""Nothing is cut before: else one early paragraph would leave chunks of a few words."""
_PARAGRAPH = re.compile(r"\n(?=[ \t]*+\n)")
_SENTENCE = re.compile(r"(?:[.!?…][\"'”’)\]*_`]{0,3}+(?=\s)|[。！？])")
_LINE = re.compile(r"\n")
_WORD = re.compile(r"(?<=\S)(?=\s)")
_BLANK_LINES = re.compile(r"(?:[ \t]*+\n)*+")


def windows(text: str, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each window of `text[begin:end]` begins and ends, and how many tokens it has."""
    if end - begin <= CHARS_MAX:  # most sections are one window: to count is half of the work of finding each token
        tokens = len(TOKEN.findall(text, begin, end))
        if tokens <= TOKENS_MAX:
            if tokens:
                yield begin, end, tokens
            return
    while True:
        limit = min(end, begin + CHARS_MAX)
        starts = [found.start() for found in islice(TOKEN.finditer(text, begin, limit), TOKENS_MAX + 1)]
        if limit == end and len(starts) <= TOKENS_MAX:
            if starts:
                yield begin, end, len(starts)
            return
        full = starts[TOKENS_MAX] if len(starts) > TOKENS_MAX else limit
        early = starts[_TOKENS_MIN] if len(starts) > _TOKENS_MIN else begin + (full - begin) // 2
        cut = _last_border(text, early, full)
        inside = sum(start < cut for start in starts)
        if inside:
            yield begin, cut, inside
        begin = _overlap(text, starts[max(0, inside - OVERLAP_TOKENS) : inside], cut)


def _last_border(text: str, early: int, full: int) -> int:
    """Return the best place to cut in `early` to `full`: the last end of the greatest unit that ends there."""
    for border in (_PARAGRAPH, _SENTENCE, _LINE, _WORD):
        ends = deque((found.end() for found in border.finditer(text, early, full)), maxlen=1)
        if ends and ends[0] > early:
            return ends[0]
    return full


def _overlap(text: str, starts: list[int], cut: int) -> int:
    """Return where the next window begins: with a whole sentence of the last tokens, or else a whole line or word."""
    if not starts or cut - starts[0] > CHARS_MAX // 4:
        return cut
    for border in (_SENTENCE, _LINE):
        found = border.search(text, starts[0], cut)
        if found is not None and text[found.end() : cut].strip():
            return found.end() + (text[found.end()] == " ")
    word = next((start for start in starts if text[start - 1].isspace()), None)
    return starts[0] if word is None else word


def skip_blank_lines(text: str, begin: int, end: int) -> int:
    """Return where the first line that is not blank begins, at most `end`."""
    found = _BLANK_LINES.match(text, begin, end)
    return begin if found is None else found.end()
