"""The gate: one linear pass over a text that finds every place where a rule may match.

It is google-re2's automaton over the heads of all rules; where re2 cannot be imported, the standard library's
backtracking engine over the same heads finds the same places, more slowly: heads are bounded, and both engines
prefer the leftmost place and there the first alternative.

Heads are ASCII. The gate reads the text with every other character replaced by `?`, so that a place in the bytes
is the same place in the text.
"""

from __future__ import annotations

import re
from typing import Any, Protocol


class Place(Protocol):
    """Where a head was found."""

    def start(self, group: int = 0, /) -> int: ...
    def end(self, group: int = 0, /) -> int: ...
    def group(self) -> Any: ...


class Gate(Protocol):
    def search(self, data: bytes, position: int = 0, /) -> Place | None: ...
    def match(self, data: bytes, position: int, /) -> Place | None: ...


AUTOMATON_BYTES = 8 << 20
"""Bound of re2's cache of states, filled as needed. In practice each stays below two megabytes."""


def open_gate(heads: list[str], *, pure: bool = False) -> Gate:
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
            gate: Gate = re2.compile("|".join(heads).encode("ascii"), options)
            return gate
    return re.compile("|".join(_grouped(heads)).encode("ascii"))


def plain_beginning(head: str) -> str:
    """Return the literal characters that every match of `head` begins with, as far as they are plain to see."""
    if "|" in head:
        return ""
    plain = _PLAIN.match(head)
    assert plain is not None
    return plain[0][:-1] if head[plain.end() : plain.end() + 1] in {"?", "*", "{"} else plain[0]


_PLAIN = re.compile(r"[A-Za-z0-9_:/@%-]*")


def _grouped(heads: list[str]) -> list[str]:
    """Return the heads grouped by their first character, for an engine that tries one alternative after the other."""
    groups: dict[str, list[str]] = {}
    for head in heads:
        first = plain_beginning(head)[:1]
        groups.setdefault(first, []).append(head[len(first) :])
    unplain = groups.pop("", [])
    return [f"{first}(?:{'|'.join(rests)})" for first, rests in groups.items()] + unplain


def gate_bytes(text: str) -> bytes:
    """Return what the gate reads: one byte for each character of `text`."""
    return text.encode("ascii", "replace")
