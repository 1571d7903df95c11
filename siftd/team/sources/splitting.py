"""A long text in pieces, each short enough to be found by what it says.

A piece ends where a paragraph does, or else a line, a sentence, a word; only what has none of them in its second half
is cut in the middle. The same text gives the same pieces on every machine, and each step looks at one piece alone.
"""

from __future__ import annotations

CHARS_MAX = 4_000
"""Of a piece: about 1,000 tokens, what embedders read. Arbitrary within that."""
PIECES_MAX = 64
"""Of one text; what is beyond is left out, and the last piece says so."""
LEFT_OUT = "\n[the rest is left out]"

_BORDERS = ("\n\n", "\n", ". ", " ")


def split(text: str, chars_max: int = CHARS_MAX, pieces_max: int = PIECES_MAX) -> list[str]:
    """Return the pieces of a text in its order, none of them longer than `chars_max`; an empty text has one."""
    pieces: list[str] = []
    at = 0
    while len(text) - at > chars_max and len(pieces) < pieces_max - 1:
        cut = _border(text, at, chars_max)
        pieces.append(text[at:cut].strip("\n ") if not text[at:cut].startswith("    ") else text[at:cut].rstrip())
        at = cut
        while at < len(text) and text[at] == "\n":
            at += 1
    rest = text[at:].rstrip()
    if len(rest) > chars_max:
        rest = rest[: chars_max - len(LEFT_OUT)].rstrip() + LEFT_OUT
    if rest or not pieces:
        pieces.append(rest)
    return pieces


def _border(text: str, at: int, chars_max: int) -> int:
    """Return where the piece that begins at `at` ends."""
    for border in _BORDERS:
        found = text.rfind(border, at + chars_max // 2, at + chars_max)
        if found >= 0:
            return found + len(border)
    return at + chars_max
