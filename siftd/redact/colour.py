"""Colour codes of terminals, which may stand in the middle of a token: what a text says without them, and where."""

from __future__ import annotations

import re
from bisect import bisect_right

from siftd.redact.found import Range

CODE_HEAD = r"\x1b\[|\\(?:u00|x)1[Bb]\[|\\033\["
"""How a code begins, raw or as JSON, Python and shells write it."""

_BEGINNINGS = ("\x1b[", "1b[", "1B[", "\\033[")
_CODE = re.compile(rf"(?:{CODE_HEAD})[0-9;:]{{0,24}}[A-Za-z]")


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
    if not any(beginning in text for beginning in _BEGINNINGS):
        return False
    return any(_CODE.search(text, begin, end) for begin, end in ([(0, len(text))] if parts is None else parts))
