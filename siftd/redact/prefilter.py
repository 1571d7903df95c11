"""The gate: one linear pass over a text that finds every place where a rule may match.

It is google-re2's automaton over the heads of all rules; where re2 cannot be imported, the standard library's
backtracking engine over the same heads finds the same places, more slowly: heads are bounded, and both engines
prefer the leftmost place and there the first alternative.

Heads are ASCII. The gate reads the text with every other character replaced by `?`, so that a place in the bytes
is the same place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol


class Place(Protocol):
    """Where a head was found."""

    def start(self, group: int = 0, /) -> int: ...
    def end(self, group: int = 0, /) -> int: ...
    def group(self) -> Any: ...


class Prefilter(Protocol):
    def search(self, data: bytes, position: int = 0, end: int = ..., /) -> Place | None: ...
    def match(self, data: bytes, position: int, /) -> Place | None: ...
    def finditer(self, data: bytes, position: int = 0, end: int = ..., /) -> Iterator[Place]: ...


SEPARATOR = "\0"
"""Between texts while the gate reads them at once; part of no head."""

AUTOMATON_BYTES = 32 << 20
"""Bound of re2's cache of states, filled as needed; of it a third is for reading on, the rest for finding beginnings.

A cache that is full is emptied and built anew, at a fifteenth of the speed. Fifteen megabytes of a session fill none
of these, and take some thirty megabytes in all."""


def open_prefilter(heads: list[str], *, pure: bool = False) -> Prefilter:
    """Compile the heads, in order of preference. `pure` asks for the standard library's engine."""
    if not pure:
        try:
            import re2  # type: ignore[import-untyped]  # 20 ms: late
        except ImportError:
            pass
        else:
            options = re2.Options()
            options.encoding = re2.Options.Encoding.LATIN1
            options.max_mem = AUTOMATON_BYTES
            prefilter: Prefilter = re2.compile("|".join(heads).encode("ascii"), options)
            return prefilter
    return re.compile("|".join(_grouped(heads)).encode("ascii"))


def plain_beginnings(head: str) -> tuple[str, ...]:
    """Return literal texts one of which begins every match of `head`, as far as they are plain to see: `""` is any."""
    return tuple(text for branch in _branches(head) for text in _branch_beginnings(branch))


def _branch_beginnings(branch: str) -> tuple[str, ...]:
    branch = branch.removeprefix(r"\b")
    if branch.startswith(("(?:", "(?i:")):
        end = _closing(branch)
        if branch[end + 1 : end + 2] in _OPTIONAL:
            return ("",)
        inner = plain_beginnings(branch[branch.index(":") + 1 : end])
        return _in_any_case(inner) if branch.startswith("(?i:") else inner
    plain = _PLAIN.match(branch)
    assert plain is not None
    literal = plain[0][:-1] if branch[plain.end() : plain.end() + 1] in _OPTIONAL else plain[0]
    return (literal.replace("\\", ""),)


def _branches(head: str) -> list[str]:
    """Split an expression at the bars outside its groups and classes."""
    branches = [""]
    depth = 0
    for piece in _PIECE.findall(head):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            branches.append("")
        else:
            branches[-1] += piece
    return branches


def _closing(expression: str) -> int:
    """Return where the group that begins `expression` ends."""
    depth = 0
    for piece in _PIECE.finditer(expression):
        depth += (piece[0] == "(") - (piece[0] == ")")
        if depth == 0:
            return piece.start()
    raise ValueError(expression)


def _in_any_case(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first two characters of each text in every case."""
    return tuple(
        first + second
        for text in texts
        for first in {text[:1].lower(), text[:1].upper()}
        for second in {text[1:2].lower(), text[1:2].upper()}
    )


_PLAIN = re.compile(r"(?:[A-Za-z0-9_:/@%#-]|\\[./|$^-])*")
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|.", re.DOTALL)
_OPTIONAL = ("?", "*", "{")


def _grouped(heads: list[str]) -> list[str]:
    """Return the heads grouped by their first character, for an engine that tries one alternative after the other."""
    groups: dict[str, list[str]] = {}
    for head in heads:
        beginnings = plain_beginnings(head)
        first = head[0] if len(beginnings) == 1 and beginnings[0].startswith(head[0]) else ""
        groups.setdefault(first, []).append(head[len(first) :])
    unplain = groups.pop("", [])
    return [f"{first}(?:{'|'.join(rests)})" for first, rests in groups.items()] + unplain


def prefilter_bytes(text: str) -> bytes:
    """Return what the gate reads: one byte for each character of `text`."""
    return text.encode("ascii", "replace")
