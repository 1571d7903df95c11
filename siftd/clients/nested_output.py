"""What a hook prints for programs that take Claude Code's form of output, as most do."""

from __future__ import annotations

from typing import Any


def nested(event: str, text: str, notice: str) -> dict[str, Any]:
    """Return what gives an agent `text` at its program's event of this name, and the person the line `notice`."""
    shown = {"systemMessage": notice} if notice else {}
    if not text:
        return shown
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}, **shown}
