"""Texts that clients and hooks put around what a person typed, in tags of their own."""

from __future__ import annotations

import functools
import re

_opening = functools.cache(lambda names: re.compile(rf"<({names})\b[^<>]*>"))


def without_tags(text: str, names: str) -> str:
    """Cut each block in a tag of these names (joined by `|`) with its closing tag, in one pass.

    An opening tag that nothing closes is text.
    """
    pieces, position = [], 0
    unclosed: set[str] = set()
    while opening := _opening(names).search(text, position):
        closing = f"</{opening[1]}>"
        end = -1 if closing in unclosed else text.find(closing, opening.end())
        if end < 0:
            unclosed.add(closing)
            pieces.append(text[position : opening.end()])
            position = opening.end()
        else:
            pieces.append(text[position : opening.start()])
            position = end + len(closing)
    return "".join(pieces) + text[position:]
