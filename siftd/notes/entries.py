"""The entries of a file of notes: what is found, cited and forgotten as one.

    - a list item, with the lines that continue it; what is nested in it is an entry of its own, and goes with it
    - `### 2026-11-25 — title`, with all that stands below it; a third heading without a date is a heading like others
    - a row of a table, a block between fences, a paragraph
    - a heading, and a key of the frontmatter: found and cited by nobody, forgotten like any other words

Lines that siftd writes (`type`, `project`, `last_updated`, `<!-- archived … -->`, `## from …`) are of no entry. One
pass over the lines, whatever they hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["entry", "heading", "key"]
HEADING_CHARS_MAX = 120
"""Of each heading above an entry, as it is shown."""
BETWEEN = " > "
"""The headings above an entry."""
_KEY = re.compile(r"([A-Za-z_][\w-]{0,63}):(?:[ \t].*)?")
_OWN_KEYS = ("type", "project", "last_updated")
_HEAD_LINES_MAX = 200
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?")
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_ARCHIVED = re.compile(r"<!-- archived [^\n]*-->[ \t]*")
_FROM = re.compile(r"## from (?:state|decisions|mistakes|todo)(?:\.md)?[ \t]*")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")
_MARK = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_WHOLE_LEVEL = 3
"""Of the heading that begins an entry."""


@dataclass(slots=True)
class Entry:
    """One entry, by its lines: the first is 0, `end` is the one behind the last."""

    begin: int
    end: int
    kind: Kind
    heading: str
    """The headings above it, the nearest one last."""
    text: str
    goes_to: int
    """Where what goes with it ends: `end`, but for an item in which others are nested."""

    @property
    def line(self) -> int:
        """The number of its first line in the file, from 1."""
        return self.begin + 1


def split(text: str) -> list[Entry]:
    """Return the entries of a file of notes, in their order."""
    return list(_Splitter(text).run())


def without(text: str, is_gone: Callable[[Entry], bool]) -> str:
    """Return a text without some of its entries and what goes with them; every other byte stays."""
    gone: set[int] = set()
    for entry in split(text):
        if entry.begin not in gone and is_gone(entry):
            gone.update(range(entry.begin, entry.goes_to))
    if not gone:
        return text
    lines = text.split("\n")
    last = len(lines) - 1
    return "".join(line + "\n" * (number < last) for number, line in enumerate(lines) if number not in gone)


def said(entry: Entry) -> str:
    """Return what an entry says, however it is marked, ticked, indented and ended: by this it is known again."""
    lines = [line.strip() for line in entry.text.split("\n")]
    return "\n".join([_MARK.sub("", lines[0], count=1), *lines[1:]]).strip()


class _Splitter:
    """One pass over the lines of one text."""

    def __init__(self, text: str) -> None:
        self._lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self._above: list[tuple[int, str]] = []
        self._open: list[tuple[int, Entry]] = []
        """Items in which something may be nested, with their indents."""
        self._unclosed: set[str] = set()
        """Signs of fences of which one is never closed: from there on they fence nothing."""

    def run(self) -> Iterator[Entry]:
        at = 0
        for entry in self._head():
            yield entry
            at = entry.end
        at = max(at, self._body)
        while at < len(self._lines):
            line = self._lines[at]
            if not line.strip():
                at += 1
            elif _ARCHIVED.fullmatch(line) or _FROM.fullmatch(line):
                self._open.clear()
                self._above = []
                at += 1
            elif heading := _HEADING.fullmatch(line):
                entry = self._heading(at, len(heading[1]), heading[2] or "")
                yield entry
                at = entry.end
            else:
                entry = self._block(at)
                yield entry
                at = entry.end

    def _head(self) -> list[Entry]:
        """Return the keys of the frontmatter; `_body` is then where the body begins."""
        self._body = 0
        if self._lines[0].rstrip() != "---":
            return []
        keys: list[tuple[int, str]] = []
        for number in range(1, min(len(self._lines), _HEAD_LINES_MAX)):
            line = self._lines[number]
            if line.rstrip() == "---":
                self._body = number + 1
                ends = [*(begin for begin, _ in keys[1:]), *([number] if keys else [])]
                return [
                    self._entry(begin, end, "key")
                    for (begin, name), end in zip(keys, ends, strict=True)
                    if name not in _OWN_KEYS
                ]
            if match := _KEY.fullmatch(line):
                keys.append((number, match[1]))
            elif not keys:
                break
        return []

    def _heading(self, at: int, level: int, title: str) -> Entry:
        """Return the entry that a heading begins, or the heading alone."""
        self._open.clear()
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        if level == _WHOLE_LEVEL and _DATED.match(title):
            return self._entry(at, self._end_of_section(at + 1), "entry")
        entry = self._entry(at, at + 1, "heading")
        self._above.append((level, " ".join(title.split())[:HEADING_CHARS_MAX]))
        return entry

    def _end_of_section(self, at: int) -> int:
        end = at
        while at < len(self._lines) and not self._is_section(self._lines[at]):
            closed = self._fenced(at)
            if closed or self._lines[at].strip():
                end = closed or at + 1
            at = closed or at + 1
        return end

    def _is_section(self, line: str) -> bool:
        heading = _HEADING.fullmatch(line)
        is_marker = _ARCHIVED.fullmatch(line) or _FROM.fullmatch(line)
        return bool(is_marker or (heading and len(heading[1]) <= _WHOLE_LEVEL))

    def _block(self, at: int) -> Entry:
        """Return the item, row, fenced block or paragraph that begins at a line."""
        line = self._lines[at]
        indent = _indent(line)
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()
        if _ITEM.match(line):
            entry = self._entry(at, self._end_of_item(at, indent), "entry")
        elif line.startswith("|"):
            entry = self._entry(at, at + 1, "entry")
        elif closed := self._fenced(at):
            entry = self._entry(at, closed, "entry")
        else:
            entry = self._entry(at, self._end_of_paragraph(at + 1), "entry")
        for _, around in self._open:
            around.goes_to = entry.end
        if _ITEM.match(line):
            self._open.append((indent, entry))
        return entry

    def _end_of_paragraph(self, at: int) -> int:
        while at < len(self._lines) and not self._begins_block(self._lines[at]):
            at += 1
        return at

    def _end_of_item(self, at: int, indent: int) -> int:
        """Return where an item ends: with the lines behind it, and with paragraphs that are indented under it."""
        at += 1
        end = at
        while at < len(self._lines):
            line = self._lines[at]
            if not line.strip():
                at += 1
                continue
            is_outside = _indent(line) <= indent and (at > end or _FENCE.match(line) or line.startswith("|"))
            if _ITEM.match(line) or self._is_heading(line) or is_outside:
                break
            at = end = self._fenced(at) or at + 1
        return end

    def _begins_block(self, line: str) -> bool:
        return bool(
            not line.strip()
            or _ITEM.match(line)
            or _FENCE.match(line)
            or line.startswith("|")
            or self._is_heading(line)
        )

    def _is_heading(self, line: str) -> bool:
        return bool(_HEADING.fullmatch(line) or _ARCHIVED.fullmatch(line))

    def _fenced(self, at: int) -> int:
        """Return where the block ends that a fence begins at a line; 0 where there is none, or nothing closes it."""
        opening = _FENCE.match(self._lines[at])
        if opening is None or opening[1][0] in self._unclosed:
            return 0
        for number in range(at + 1, len(self._lines)):
            closing = self._lines[number].strip()
            if closing.startswith(opening[1]) and not closing.strip(opening[1][0]):
                return number + 1
        self._unclosed.add(opening[1][0])
        return 0

    def _entry(self, begin: int, end: int, kind: Kind) -> Entry:
        above = BETWEEN.join(title for _, title in self._above if title)
        return Entry(begin, end, kind, above, "\n".join(self._lines[begin:end]).strip("\n"), end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
