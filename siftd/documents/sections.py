"""Where the sections of prose begin, and the headings above each: Markdown's and reST's, and the pages of a PDF.

One pass over the lines, each looked at by patterns that never go back. A text without headings is one section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from siftd.documents.model import BETWEEN


class Section(NamedTuple):
    """A part of a text, up to where the next one begins."""

    begin: int
    body: int
    """Where what is below the heading begins."""
    heading: str
    """The path of headings."""


HEADING_CHARS_MAX = 120
PATH_CHARS_MAX = 400
LINE_CHARS_MAX = 1000
"""A longer line is no heading."""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_ATX_END = re.compile(r"(?:^|[ \t])#++[ \t]*+$")
_ANCHOR = re.compile(r"[ \t]*\{[:#.][^{}\n]{0,80}\}[ \t]*$")
_HTML_HEADING = re.compile(r"[ \t]{0,8}<h([1-6])\b[^>]{0,200}>(.{1,300}?)</h\1>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{1,300}>")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_SETEXT = re.compile(r" {0,3}(=++|-++)[ \t]*+$")
_FENCE = re.compile(r"[ \t]*+(?:[-*+>][ \t]++)?+(`{3,}+|~{3,}+)(.*)$")
_PARAGRAPH_LINE = re.compile(r" {0,3}(?![-*+>|#<=][ \t>|<=]|[0-9]{1,9}[.)][ \t]|\||---|\s*$)\S")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}+[ \t]*+$")


class Path:
    """The headings above a place."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> str:
        """Go below a heading, out of all that is on its level or deeper; return the path."""
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        self._above.append((level, heading[:HEADING_CHARS_MAX]))
        return self._text()

    def leave(self, level: int) -> tuple[int, str]:
        """Go out of all that is on `level` or below; return the level that is left, -1 for none, and the path."""
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        return (self._above[-1][0] if self._above else -1), self._text()

    def _text(self) -> str:
        return BETWEEN.join(text for _, text in self._above if text)[:PATH_CHARS_MAX]


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with where it begins, cut where it is too long to matter."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield begin, text[begin : min(end, begin + LINE_CHARS_MAX + 1)]
        begin = end + 1


def markdown(text: str) -> Iterator[Section]:
    """ATX and setext headings, and HTML's on a line of their own; none within fences or frontmatter."""
    path = Path()
    fence = ""
    in_frontmatter = text.startswith("---\n") and "\n---" in text[3 : LINE_CHARS_MAX * 20]
    before, before_at = "", 0
    yield Section(0, 0, "")
    for begin, line in lines_of(text):
        if in_frontmatter:
            in_frontmatter = begin == 0 or line.rstrip() not in ("---", "...")
            continue
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            before = ""
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, before = mark[1], ""
        elif len(line) > LINE_CHARS_MAX:
            before = ""
        elif (found := _ATX.match(line)) is not None:
            before = ""
            heading = _plain(_ATX_END.sub("", found[2] or ""))
            yield Section(begin, begin + len(line), path.enter(len(found[1]), heading))
        elif before and (found := _SETEXT.match(line)) is not None:
            level = 1 if found[1][0] == "=" else 2
            yield Section(before_at, begin + len(line), path.enter(level, _plain(before)))
            before = ""
        elif (found := _HTML_HEADING.match(line)) is not None:
            before = ""
            yield Section(begin, begin + len(line), path.enter(int(found[1]), _plain(found[2])))
        else:
            # Of a paragraph of more lines the last one would be taken: rare, and the path is as good.
            before, before_at = (line, begin) if _PARAGRAPH_LINE.match(line) else ("", 0)


def underlined(text: str) -> Iterator[Section]:
    """ReST's titles, with or without a line above; a style's level is the order in which it first appears."""
    path = Path()
    styles: list[str] = []
    two_before, before = "", ""
    before_at, two_before_at = 0, 0
    yield Section(0, 0, "")
    for begin, line in lines_of(text):
        found = _ADORNMENT.match(line) if len(line) <= LINE_CHARS_MAX else None
        title = before.strip()
        if found is not None and _may_be_title(before) and len(line.rstrip()) >= min(len(title), 100):
            has_line_above = _ADORNMENT.match(two_before) is not None and two_before[0] == found[1]
            style = found[1] * (2 if has_line_above else 1)
            if style not in styles:
                styles.append(style)
            first = two_before_at if has_line_above else before_at
            yield Section(first, begin + len(line), path.enter(styles.index(style), _plain(title)))
            line = ""
        two_before, two_before_at, before, before_at = before, before_at, line, begin


def _may_be_title(line: str) -> bool:
    return bool(line.strip()) and len(line) <= 300 and _ADORNMENT.match(line) is None


def pages(text: str) -> Iterator[Section]:
    """A PDF's pages, by their numbers."""
    begin, number = 0, 1
    while True:
        yield Section(begin, begin, f"page {number}")
        begin = text.find("\f", begin) + 1
        if not begin:
            return
        number += 1


def whole(_text: str) -> Iterator[Section]:
    """No headings at all."""
    yield Section(0, 0, "")


def _plain(heading: str) -> str:
    """A heading's words without what only shapes them."""
    text = _ANCHOR.sub("", heading)
    text = _TAG.sub("", _LINK.sub(r"\1", text))
    return " ".join(text.replace("`", "").replace("**", "").replace("\f", " ").split())
