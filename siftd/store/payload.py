"""Reading `payload_json` back. We write canonical JSON there; a person with sqlite3 may write anything."""

from __future__ import annotations

from typing import Any

import msgspec


def find_object(payload_json: str) -> dict[str, Any] | None:
    """Return the payload; None for text that is no JSON object, or none that can be written again."""
    try:
        value = msgspec.json.decode(payload_json)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
