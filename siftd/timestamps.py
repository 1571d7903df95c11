"""Moments as a person writes them: `2d` ago, a date, a time, milliseconds since the epoch."""

from __future__ import annotations

import re

from siftd.errors import RequestInvalid

_AGO = re.compile(r"([0-9]{1,6})\s*(s|m|min|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_moment(text: str, now_ms: int) -> int:
    """Return milliseconds since the epoch. A date without a zone is local time. Raises RequestInvalid."""
    text = text.strip()
    if ago := _AGO.fullmatch(text):
        return now_ms - int(ago[1]) * _SECONDS[ago[2]] * 1000
    if re.fullmatch(r"[0-9]{9,15}", text):
        return int(text)
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise RequestInvalid(
            "this is not a moment", hint="write 2d, 3h, 1w, a date like 2026-03-01, or milliseconds since 1970"
        ) from error
