"""Where a long list goes on: `nextCursor` of one answer is `cursor` of the next request.

A cursor is opaque to whoever holds it: base64url of the JSON list of what the last row is ordered by. It stays good
while rows come and go, for it names a place in the order, not a number of rows.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from siftd.errors import RequestInvalid

Row = TypeVar("Row")
Key = tuple[Any, ...]
_CHARS_MAX = 1_024


def encode(key: Key) -> str:
    """Return the cursor behind the row with this key."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str | None, *kinds: type) -> Key:
    """Return the key that a cursor holds, a Nones' tuple for none. Raises RequestInvalid for one that is not ours."""
    if cursor is None:
        return (None,) * len(kinds)
    try:
        padded = cursor[:_CHARS_MAX] + "=" * (-len(cursor) % 4)
        key = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    is_ours = isinstance(key, list) and len(key) == len(kinds)
    if not is_ours or not all(type(part) is kind for part, kind in zip(key, kinds, strict=True)):
        raise RequestInvalid("invalid cursor", hint="give `nextCursor` of the answer before, or none")
    return tuple(key)


def page(rows: Sequence[Row], limit: int, key_of: Callable[[Row], Key]) -> tuple[list[Row], str | None]:
    """Return the first `limit` of rows, of which one more was read, and the cursor behind them; None at the end."""
    shown = list(rows[:limit])
    return shown, encode(key_of(shown[-1])) if len(rows) > limit else None
