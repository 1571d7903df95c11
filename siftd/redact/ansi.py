"""Colour codes of terminals, and characters of no width, which may stand in the middle of a token: what a text says
without them, and where."""

from __future__ import annotations

import re
from bisect import bisect_right

from siftd.redact.spans import Range

CODE_HEAD = r"\x1b\[|\\(?:u00|x)1[Bb]\[|\\033\["
"""How a code begins, raw or as JSON, Python and shells write it."""

_BEGINNINGS = ("\x1b[", "1b[", "1B[", "\\033[")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_CODE = re.compile(rf"(?:{CODE_HEAD})[0-9;:]{{0,24}}[A-Za-z]|[{_UNSEEN}]")
_UNSEEN_SIGN = re.compile(f"[{_UNSEEN}]")


class Plain:
    """A text without its colour codes, which knows where each of its characters stood."""

    def __init__(self, coloured: str) -> None:
        pieces: list[str] = []
        self._begins: list[int] = []
        self._shifts: list[int] = []
        position = length = 0
        for code in _CODE.finditer(coloured):
            self._keep(pieces, coloured[position : code.start()], length, position - length)
            length += code.start() - position
            position = code.end()
        self._keep(pieces, coloured[position:], length, position - length)
        self.text = "".join(pieces)

    @property
    def seams(self) -> list[Range]:
        """Where in `text` a code stood."""
        return [(begin, begin) for begin in self._begins]

    def _keep(self, pieces: list[str], piece: str, begin: int, shift: int) -> None:
        if piece:
            pieces.append(piece)
            self._begins.append(begin)
            self._shifts.append(shift)

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Return where text[begin:end] stands in the coloured text; codes after its last character stay outside."""
        return self._place(begin), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        return at + self._shifts[bisect_right(self._begins, at) - 1]


def is_coloured(text: str, parts: list[Range] | None) -> bool:
    """Whether a code stands in one of these parts; None is the whole text."""
    may_begin = "\x1b" in text or "\\" in text  # one character is sought ten times as fast as three
    has_beginning = may_begin and any(beginning in text for beginning in _BEGINNINGS)
    if not has_beginning and not holds_unseen(text):
        return False
    return any(_CODE.search(text, begin, end) for begin, end in ([(0, len(text))] if parts is None else parts))


def holds_unseen(text: str) -> bool:
    """Whether the text holds characters of no width, which may hide a token from its rule."""
    return not text.isascii() and _UNSEEN_SIGN.search(text) is not None
