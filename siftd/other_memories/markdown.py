"""Markdown as statements: a list's entry with what is indented below it, or a paragraph, each with its headings.

What is no statement goes: code, quotations, tables, comments, a file's imports (`@path`), frontmatter, and what siftd
itself wrote between its two markers.

One pass over the lines, whatever they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from siftd.install.edits import BLOCK_BEGIN, BLOCK_END

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_ENTRY = re.compile(r"([ \t]{0,3})(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(\S.*)")
_KEY = re.compile(r"([A-Za-z_][\w-]{0,40}):[ \t]*(\S?.*)")
FRONTMATTER_LINES_MAX = 64


class Statement(NamedTuple):
    """What a file says in one place. `headings` lead to it, the outermost first; `is_open` of a box not ticked."""

    text: str
    headings: tuple[str, ...]
    line: int
    is_open: bool | None


def split_frontmatter(text: str) -> tuple[dict[str, str], str]:
    """Return a file's frontmatter, its keys of any depth beside each other, and the rest; none where it has none."""
    lines = text.split("\n", FRONTMATTER_LINES_MAX + 1)
    if lines[0].strip() != "---":
        return {}, text
    for number, line in enumerate(lines[1 : FRONTMATTER_LINES_MAX + 1], start=1):
        if line.strip() == "---":
            found = [match for each in lines[1:number] if (match := _KEY.match(each.strip()))]
            return {match[1]: match[2].strip().strip("\"'") for match in found}, "\n".join(lines[number + 1 :])
    return {}, text


def statements(text: str) -> Iterator[Statement]:
    """Yield what a document says, in its order."""
    headings: list[tuple[int, str]] = []
    held: list[str] = []
    begun, is_open, is_entry = 0, None, False
    fence = ""
    is_comment = is_ours = False

    def take() -> Iterator[Statement]:
        if said := "\n".join(held).strip():
            yield Statement(said, tuple(title for _, title in headings), begun, is_open)
        held.clear()

    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if is_ours:
            is_ours = bare != BLOCK_END
            continue
        if fence:
            fence = "" if bare.startswith(fence) else fence
            continue
        if is_comment:
            is_comment = "-->" not in bare
            continue
        if bare.startswith(("```", "~~~")):
            fence = bare[:3]
            continue
        if bare == BLOCK_BEGIN and BLOCK_END in text:
            is_ours = True
            continue
        if bare.startswith("<!--"):
            is_comment = "-->" not in bare
            continue
        if heading := _HEADING.fullmatch(bare):
            yield from take()
            depth = len(heading[1])
            headings = [each for each in headings if each[0] < depth] + [(depth, heading[2].strip(" #"))]
            continue
        if entry := _ENTRY.fullmatch(line.rstrip()):
            yield from take()
            begun, is_entry = number, True
            is_open = None if entry[2] is None else entry[2] == " "
            held.append(entry[3])
            continue
        is_below = is_entry and line[:1] in " \t"
        if not bare:
            if not is_entry:
                yield from take()
        elif bare.startswith((">", "|", "@")) and not is_below:
            yield from take()
            is_entry = False
        elif is_below:
            held.append(bare)
        else:
            if is_entry:
                yield from take()
                is_entry = False
            begun, is_open = (number, None) if not held else (begun, is_open)
            held.append(bare)
    yield from take()
