"""Text in columns, and bars: how wide something is on a terminal, cut and filled to a width."""

from __future__ import annotations

import os
import sys
import unicodedata

from siftd.cli.output import is_terminal

PLAIN_COLUMNS = 80
"""Where no terminal says how wide it is."""
COLUMNS_MIN = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


def columns() -> int:
    """Return how wide what is printed may be."""
    if not is_terminal():
        return PLAIN_COLUMNS
    return max(os.get_terminal_size(sys.stdout.fileno()).columns or PLAIN_COLUMNS, COLUMNS_MIN)


def draws_blocks() -> bool:
    """Whether standard output takes the blocks that bars are made of."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def width_of(text: str) -> int:
    """Return how many columns a terminal gives to a text without control characters."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def cut(text: str, room: int) -> str:
    """Return a line's beginning that has at most `room` columns, with a sign of what was left out."""
    if width_of(text) <= room:
        return text
    sign = "…" if draws_blocks() else "."
    used, length = 1, 0
    for each in text:
        used += _width(each)
        if used > room:
            break
        length += 1
    return text[:length] + sign if room > 0 else ""


def padded(text: str, room: int) -> str:
    """Return a line cut and filled to `room` columns."""
    line = cut(text, room)
    return line + " " * (room - width_of(line))


def bar(value: float, most: float, room: int) -> str:
    """Return a bar of at most `room` columns, in eighths of one; what is not nothing is seen."""
    if value <= 0 or most <= 0 or room <= 0:
        return ""
    eighths = max(1, min(round(8 * room * value / most), 8 * room))
    if not draws_blocks():
        return "#" * max(1, eighths // 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def parted_bar(part: float, whole: float, most: float, room: int) -> tuple[str, str]:
    """Return a bar for `whole` as its part and its rest, in whole columns; what is not nothing is seen, of either."""
    if whole <= 0 or most <= 0 or room <= 0:
        return "", ""
    length = max(1, min(round(room * whole / most), room))
    filled = round(length * part / whole)
    filled = min(max(filled, int(part > 0)), length - int(part < whole) if length > 1 else length)
    solid, light = ("█", "░") if draws_blocks() else ("#", ".")
    return solid * filled, light * (length - filled)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
