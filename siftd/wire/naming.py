"""How Python's names are written on the wire, without loading what decodes it."""

from __future__ import annotations

_OWN = {"valid_from": "from", "valid_until": "until", "from_id": "from", "to_id": "to"}
"""Fields whose names on the wire are words that Python or a reader needs for something else."""


def field_name(name: str) -> str:
    """Return `sessionId` for `session_id`."""
    first, *others = name.split("_")
    return _OWN.get(name) or first + "".join(map(str.capitalize, others))


def kind_name(name: str) -> str:
    """Return `memory_health` for `MemoryHealth`: a request's `kind` is the name of its struct."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")
