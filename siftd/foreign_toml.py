"""TOML that siftd does not own: a repository's manifests, parsed within a bounded time.

`tomllib` takes a time that grows with the square of a dotted key's parts: 1 s for 10,000 of them, 20 KB. A key stands
in one line, so that the dots of each line bound what all of them can cost. Strings are not told from keys: which quote
begins one depends on all before it, and who writes such a file decides that.
"""

from __future__ import annotations

import tomllib
from typing import Any

DOTS_SQUARED_MAX = 25_000_000
"""The squares of the lines' dots, summed: some 0.3 s. A line may hold a thousand dependencies with their versions."""


def loads(text: str) -> dict[str, Any]:
    """Return what a text of TOML says. Raises ValueError for what is none, or would take too long."""
    if sum(line.count(".") ** 2 for line in text.split("\n")) > DOTS_SQUARED_MAX:
        raise ValueError("keys of too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
