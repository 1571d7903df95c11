"""What a hook prints for programs that take Claude Code's form of output, as most do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from siftd.clients.client import Moment
from siftd.clients.facts import canonical


def nested(event: str, text: str, notice: str) -> dict[str, Any]:
    """Return what gives an agent `text` at its program's event of this name, and the person the line `notice`."""
    shown = {"systemMessage": notice} if notice else {}
    if not text:
        return shown
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}, **shown}


class NestedOutput:
    """What clients have in common whose hooks take this form of output."""

    names: Mapping[Moment, str]
    """The client's own names of what its hooks are asked at."""

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return canonical(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:
        return nested(self.names[moment], text, notice)

    def name_of(self, moment: Moment) -> str:
        return self.names[moment]
