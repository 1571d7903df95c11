"""Putting lines of ours into a body that people edit: below their heading, in their order, and nothing else changes.

A line is ours as long as it stands as it was written. What a person changed, moved or wrote beside it stays where it
is. What stands in a fence is a quotation: no heading and no line of ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from siftd.notes.distil.lines import SECTIONS
from siftd.notes.layout import NoteName

_FENCES = ("```", "~~~")


class Body:
    """The lines of a file of notes, while they are changed."""

    def __init__(self, name: NoteName, text: str) -> None:
        self._name = name
        self._lines = text.rstrip("\n").split("\n") if text.strip() else [f"# {name.capitalize()}"]
        self._was_empty = not text.strip()
        self._text = text

    @property
    def text(self) -> str:
        """The body as it is now; as it was given, where no line of it changed."""
        if self._was_empty and len(self._lines) == 1:
            return self._text
        joined = "\n".join(self._lines)
        return self._text if joined == self._text.rstrip("\n") else f"{joined}\n"

    def open_lines(self) -> list[str]:
        """Return the lines outside of fences."""
        return [line for line, is_open in zip(self._lines, self._is_open(), strict=True) if is_open]

    def take_out(self, gone: Sequence[str]) -> None:
        """Take out these lines, once each, wherever they stand."""
        left = list(gone)
        found: list[str] = []
        for line, is_open in zip(self._lines, self._is_open(), strict=True):
            if is_open and line.rstrip() in left:
                left.remove(line.rstrip())
            else:
                found.append(line)
        self._lines = found

    def lay(self, section: str, lines: Sequence[str], ours: Sequence[str]) -> None:
        """Let `lines` stand below a heading, in this order, in the place of those of `ours` that stand there."""
        found = self._find(section)
        if found is None:
            if lines:
                self._add_section(section, lines)
            return
        start, end = found
        known = set(ours) | set(lines)
        opens = self._is_open()
        block = [(self._lines[at], opens[at] and self._lines[at].rstrip() in known) for at in range(start, end)]
        here = {line.rstrip() for line, is_ours in block if is_ours}
        elsewhere = {line.rstrip() for line in self.open_lines()} - here
        laid = [line for line in lines if line not in elsewhere]
        place = next((at for at, (_, is_ours) in enumerate(block) if is_ours), None)
        if place is None and not laid:
            return
        rest = [line for line, is_ours in block if not is_ours]
        if place is None:
            place = next((at for at, line in enumerate(rest) if line.strip()), len(rest))
            if place == len(rest):  # nothing but blank lines
                rest, place = ["", *([""] if end < len(self._lines) else [])], 1
            else:
                laid = [*laid, ""] if laid and not rest[place].lstrip().startswith("-") else laid
        self._lines[start:end] = [*rest[:place], *laid, *rest[place:]]

    def append(self, section: str, text: str) -> None:
        """Put a person's text, verbatim, at the end of a section."""
        lines = text.split("\n")
        found = self._find(section)
        if found is None:
            self._add_section(section, lines)
            return
        start, end = found
        last = max((at for at in range(start, end) if self._lines[at].strip()), default=start - 1)
        is_list = last >= start and self._lines[last].startswith("- ") and lines[0].startswith("- ")
        after = [""] if last + 1 == end and end < len(self._lines) else []
        self._lines[last + 1 : last + 1] = [*([] if is_list else [""]), *lines, *after]

    def _is_open(self) -> list[bool]:
        """Return of each line whether it is outside of fences; a fence that is never closed ends with the text."""
        found: list[bool] = []
        fence = ""
        for line in self._lines:
            mark = line.lstrip(" ")
            if fence:
                found.append(False)
                run = mark.rstrip()
                if len(run) >= len(fence) and not run.strip(fence[0]):
                    fence = ""
            elif mark.startswith(_FENCES):
                fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
                found.append(False)
            else:
                found.append(True)
        return found

    def _find(self, section: str) -> tuple[int, int] | None:
        """Return where what stands below a heading begins and ends."""
        opens = self._is_open()
        start = next(
            (at for at, line in enumerate(self._lines) if opens[at] and line.rstrip() == f"## {section}"), None
        )
        if start is None:
            return None
        ends = (
            at for at in range(start + 1, len(self._lines)) if opens[at] and self._lines[at].startswith(("# ", "## "))
        )
        return start + 1, next(ends, len(self._lines))

    def _add_section(self, section: str, lines: Sequence[str]) -> None:
        order = SECTIONS[self._name]
        later = order[order.index(section) + 1 :] if section in order else ()
        found = [place for each in later if (place := self._find(each)) is not None]
        at = min((start - 1 for start, _ in found), default=len(self._lines))
        before = [] if at and not self._lines[at - 1].strip() else [""]
        after = [""] if at < len(self._lines) else []
        self._lines[at:at] = [*before, f"## {section}", "", *lines, *after]

    def drop_if_empty(self, section: str) -> None:
        """Take out a heading below which nothing is left."""
        found = self._find(section)
        if found is None:
            return
        start, end = found
        if not any(line.strip() for line in self._lines[start:end]):
            at = start - 1
            while at and not self._lines[at - 1].strip():
                at -= 1
            self._lines[at:end] = [""] if end < len(self._lines) else []
