"""The summary of a session's account, as its client leaves it when it compacts: numbered sections with a title each."""

from __future__ import annotations

import re

from siftd.summarise.contract import Item
from siftd.summarise.extractive.text import SPOKEN, Line, clip, mapping, string
from siftd.summarise.extractive.words import informative, unmarked

_SECTION = re.compile(r"^\s{0,3}\d{1,2}\.\s+\**([A-Z][^:*\n]{2,60}):\**", re.MULTILINE)
_ANALYSIS_END = "</analysis>"
_LOOKED_AT = 60_000
_REPORTS = (
    ("primary request", "Account of a session: ", 130),
    ("errors", "fixed: ", 90),
    ("current work", "then: ", 90),
    ("pending", "open: ", 70),
)
"""By how a section's title begins: what stands before it, and how much of it is told."""


def account(item: Item) -> Line:
    """What was wanted, what was mended, where the work stood and what was open."""
    text = string(mapping(item.payload).get("summary"))
    found = sections(text)
    parts = []
    for title, before, limit in _REPORTS:
        said = next((body for name, body in found.items() if name.startswith(title)), "")
        if said and (short := informative(said, limit)):
            parts.append(f"{before}{short}")
    return Line("; ".join(parts) or f"Account of a session: {clip(unmarked(text), 340)}", SPOKEN)


def sections(text: str) -> dict[str, str]:
    """Return the sections by their titles in lower case; of two with one title the last, behind the analysis."""
    text = text[:_LOOKED_AT]
    text = text.rpartition(_ANALYSIS_END)[2]
    found = list(_SECTION.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return {match[1].lower(): text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}
