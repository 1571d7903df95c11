"""TOML with positions: where each header and each key with its value stands, so that a part can be changed alone.

Only the form is read here, by lines; what it means, and whether it is TOML at all, `tomllib` says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from siftd.errors import SettingsUnreadable

_TRIVIA = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_PIECE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""(?:"{0,2})|\'\'\'(?:[^\']|\'(?!\'\'))*\'\'\'(?:\'{0,2})'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^"\'#\[\]{}\n]+',
    re.DOTALL,
)
"""What a statement is made of: strings whole, comments, brackets, line ends, and all else."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value, at text[start:end], with its line's end."""

    start: int
    end: int
    value: Any
    """As `tomllib` reads it alone."""


@dataclass(frozen=True, slots=True)
class Section:
    """A header with the statements below it. Comments behind the last one are no part of it."""

    path: tuple[str, ...]
    is_row: bool
    """Whether it is an element of an array of tables: `[[path]]`."""
    header: Statement
    statements: list[Statement] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.header.start

    @property
    def end(self) -> int:
        return self.statements[-1].end if self.statements else self.header.end

    @property
    def value(self) -> dict[str, Any]:
        """What its own statements say."""
        value: dict[str, Any] = {}
        for each in self.statements:
            value |= each.value
        return value


def list_sections(text: str) -> list[Section]:
    """Return every section of a text that `tomllib` takes. Raises SettingsUnreadable for one that is not understood."""
    sections: list[Section] = []
    for start, end in _statements(text):
        part = text[start:end]
        try:
            value = tomllib.loads(part)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            line = text.count("\n", 0, start) + 1
            raise SettingsUnreadable(f"it is not understood: line {line}", hint="correct it by hand") from error
        statement = Statement(start, end, value)
        if part.lstrip().startswith("["):
            sections.append(Section(_path_of(value), part.lstrip().startswith("[["), statement))
        elif sections:
            sections[-1].statements.append(statement)
    return sections


def _statements(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        trivia = _TRIVIA.match(text, at)
        if trivia and trivia.end() > at:
            at = trivia.end()
            continue
        end = _end_of(text, at)
        yield at, end
        at = end


def _end_of(text: str, at: int) -> int:
    """Return where the statement that begins at `at` ends: behind the first line end outside of brackets."""
    depth = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return len(text)
        at = piece.end()
        found = piece.group()
        depth += (found in ("[", "{")) - (found in ("]", "}"))
        if found == "\n" and depth <= 0:
            break
    return at


def _path_of(header: dict[str, Any]) -> tuple[str, ...]:
    """Return the keys of a header, which `tomllib` read as nested tables with nothing in them."""
    path: list[str] = []
    value: Any = header
    while isinstance(value, dict) and value:
        key = next(iter(value))
        path.append(key)
        value = value[key]
    return tuple(path)
