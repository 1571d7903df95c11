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


AUTOMATON_BYTES = 32 << 20
"""Bound of re2's cache of states, filled as needed. In practice it stays below one megabyte."""


def open_gate(heads: list[str], *, pure: bool = False) -> Gate:
    """Compile the heads, in order of preference. `pure` asks for the standard library's engine."""
    pattern = "|".join(heads).encode("ascii")
    if not pure:
        try:
            import re2  # type: ignore[import-untyped]  # 20 ms: late
        except ImportError:
            pass
        else:
            options = re2.Options()
            options.encoding = re2.Options.Encoding.LATIN1
            options.max_mem = AUTOMATON_BYTES
            gate: Gate = re2.compile(pattern, options)
            return gate
    return re.compile(pattern)


def gate_bytes(text: str) -> bytes:
    """Return what the gate reads: one byte for each character of `text`."""
    return text.encode("ascii", "replace")
