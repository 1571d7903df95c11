"""What was done to one file, for a person to read."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """What was done to one file: "created", "changed", "restored", "removed", "kept" (it is no longer ours) or
    "unchanged"."""

    path: str
    what: str
