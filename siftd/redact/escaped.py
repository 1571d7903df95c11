"""Escaped line breaks and tabs (`\\n` within JSON in a string): the letter behind the backslash is no part of a word.

`{"log":"first\\n517…:AA…"}`: to a rule whose match may not begin within a word the token seems to begin behind an `n`.
So the rules read such a text a second time with each escape as a blank and a line break, which are as long: a place in
one is the same place in the other. Texts without a backslash cost one look for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from siftd.redact.spans import Range

_ESCAPE = re.compile(r"\\[nrt]")
BLOCK = 256
"""Characters of which one look says whether an escape is among them."""

_BREAK = " \n"


def opened(text: str) -> str:
    """Return `text` with each escape as a blank and a line break; the same object where it has none."""
    if "\\" not in text:
        return text
    view = text.replace("\\n", _BREAK).replace("\\r", _BREAK).replace("\\t", _BREAK)
    return text if view == text else view


def escapes(text: str) -> Iterator[Range]:
    """Yield the blocks of `text` in which an escape begins."""
    for begin in range(0, len(text), BLOCK):
        if _ESCAPE.search(text, begin, begin + BLOCK + 1):
            yield begin, begin + BLOCK
