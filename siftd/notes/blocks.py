"""A body of notes in parts that stay whole: entries, items with the lines that continue them, paragraphs, headings.

Joined again the parts give the body back, byte for byte.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Form: TypeAlias = Literal["heading", "entry", "item", "text"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,2}[ \t]")
_ENTRY = re.compile(r"###[ \t]")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")


class Block(NamedTuple):
    """One part, with the blank lines behind it."""

    form: Form
    text: str

    @property
    def words(self) -> str:
        """What it says, whatever the space around it: two blocks of the same words are the same note."""
        return " ".join(self.text.split())

    @property
    def is_done(self) -> bool:
        """Whether it is an item that is ticked."""
        return self.form == "item" and self.text.lstrip()[1:].lstrip().lower().startswith("[x]")


def split(body: str) -> list[Block]:
    """Return the parts of a body. An entry is a heading of the third level with all up to the next heading."""
    blocks: list[Block] = []
    form: Form | None = None
    lines: list[str] = []
    fence = ""

    def close() -> None:
        nonlocal form, lines
        if lines:
            blocks.append(Block(form or "text", "".join(lines)))
        form, lines = None, []

    for line in body.splitlines(keepends=True):
        if fence:
            lines.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        opened = _FENCE.match(line)
        begins = _begins(line, form, is_after_blank=bool(lines) and not lines[-1].strip())
        if begins is not None:
            close()
            form = begins
        elif form is None:
            form = "text"
        lines.append(line)
        if opened:
            fence = opened[1]
    close()
    return blocks


def _begins(line: str, form: Form | None, *, is_after_blank: bool) -> Form | None:
    """Return the form of the block that a line begins; None where it goes on with the one before it."""
    if _HEADING.match(line):
        return "heading"
    if _ENTRY.match(line):
        return "entry"
    if form == "entry" or not line.strip():
        return None
    if _ITEM.match(line) and not line.startswith((" ", "\t")):
        return "item"
    if is_after_blank and not line.startswith((" ", "\t")):
        return "text"
    return "text" if form == "heading" else None


def join(blocks: list[Block]) -> str:
    """Return the body that these blocks make."""
    return "".join(block.text for block in blocks)


def without_empty_headings(blocks: list[Block]) -> list[Block]:
    """Leave out the headings of the second level below which nothing is left."""
    left: list[Block] = []
    for number, block in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        is_empty = block.form == "heading" and (following is None or following.form == "heading")
        if not (is_empty and block.text.startswith("##")):
            left.append(block)
    return left
