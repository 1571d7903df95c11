"""Moments on the command line."""

from __future__ import annotations


def find_moment(text: str | None) -> int | None:
    """Return the moment that an option names, in milliseconds; None for none. Raises RequestInvalid."""
    if not text:
        return None
    import time

    from siftd.timestamps import parse_moment

    return parse_moment(text, time.time_ns() // 1_000_000)
