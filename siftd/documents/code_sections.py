"""Where the definitions of a source file begin, each with the comments and decorators that stand above it.

What is a definition, `siftd.symbols` knows, by the file's extension. Its path is the definitions around it, known by
their indentation: "Store > close". What follows a definition at its margin, after a blank line, is of what is around
it again. A language that nobody knows is one section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from siftd.documents.sections import HEADING_CHARS_MAX, Path, Section, lines_of
from siftd.symbols.definitions import find_pattern

_ABOVE = re.compile(r"[ \t]*+(?:@|#(?!include|define|if|else|endif|pragma)|//|/\*|\*|--|%|;;|\[[A-Z]|\"\"\"$)")
"""What a line begins with that belongs to the definition below it: decorators, attributes, comments."""
_CLOSES = re.compile(r"[ \t]*+(?:[)\]}{]|end\b|else\b|elif\b|except\b|finally\b|catch\b|\"\"\"|''')")
"""Lines at a definition's margin that are still its own."""
_TAB_COLUMNS = 4


def definitions(text: str, source: str) -> Iterator[Section]:
    """Yield the head of the file, and each definition with where it begins, in one pass over matches and lines."""
    yield Section(0, 0, "")
    pattern = find_pattern(source)
    if pattern is None:
        return
    names = {_line_begin(text, found.start(found.lastindex or 0)): found for found in pattern.finditer(text)}
    path, inside = Path(), -1
    above: int | None = None
    was_blank = True
    for begin, line in lines_of(text):
        found = names.get(begin)
        if found is not None:
            inside = _column(line)
            name = found[found.lastindex or 0][:HEADING_CHARS_MAX]
            yield Section(begin if above is None else above, begin, path.enter(inside, name))
            above, was_blank = None, False
        elif not line.strip():
            above, was_blank = None, True
        else:
            is_above = _ABOVE.match(line) is not None
            if is_above and above is None:
                above = begin
            if was_blank and not is_above and inside >= 0 and _column(line) <= inside and not _CLOSES.match(line):
                inside, around = path.leave(_column(line))
                yield Section(begin if above is None else above, begin, around)
            above = above if is_above else None
            was_blank = False


def _line_begin(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _column(line: str) -> int:
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    return len(margin) + margin.count("\t") * (_TAB_COLUMNS - 1)
