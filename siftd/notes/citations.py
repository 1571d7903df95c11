"""What an entry of the notes stands on: ids as siftd writes them, `(person, 2026-11-25, m12)`, `[e12; s7]`, `#m3`.

A bare `s3` in a sentence is no citation: people write of buckets, chips and licences.
"""

from __future__ import annotations

import re

_GROUP = re.compile(r"[(\[]([^()\[\]]{1,200})[)\]]")
_PARTS = re.compile(r"[,;\s]+")
_ID = re.compile(r"[esmgt][0-9]{1,18}")
_MARKED = re.compile(r"(?:(?<![\w#/-])#|\bshow #?)([esmgt][0-9]{1,18})(?![\w-])")


def cited_in(text: str) -> set[str]:
    """Return the ids that a text cites: those that end a group in brackets, and those that are marked."""
    found = set(_MARKED.findall(text))
    for group in _GROUP.findall(text):
        for part in reversed(_PARTS.split(group.strip())):
            each = part.removeprefix("#")
            if not _ID.fullmatch(each):
                break
            found.add(each)
    return found
