"""What is known of an event from before its kind, its action and whose words it brings were kept.

What is known is the way an event came, not who was at the keyboard. A hook's frame, a transcript in the client's home
and a `capture` request may each be written by any process of the same user: the socket and the files are 0600 in 0700
folders, and that is all that is proved. A key for the hook to sign with would lie beside the socket, readable by the
same processes, and prove nothing more. So `person` means: a prompt that came as our hook's frame. A transcript's prompt
counts as the agent's, whose file it is, and nobody vouches for what a `capture` request tells.
"""

from __future__ import annotations

from typing import Any, get_args

from siftd.clients.tools import tool_named
from siftd.model import Action, Kind, SaidBy

_KINDS: dict[str, Kind] = {
    "UserPromptSubmit": "prompt",
    "Stop": "turn_end",
    "SubagentStop": "subagent_end",
    "AssistantText": "assistant_text",
    "CompactSummary": "compaction",
}
"""What no tool call was called, while events had their names alone. So does migration 0006."""


def kind_and_action(kind: Any, action: Any, tool: str) -> tuple[Kind, Action | None]:
    """Return what a kept event is: as it says; by its tool where it says nothing; a call where it says what we do not
    know, as a later siftd may."""
    if kind is None:
        kind = _KINDS.get(tool, "tool")
        action = tool_named(tool).action
    if kind not in get_args(Kind) or kind == "tool":
        return "tool", action if action in get_args(Action) else "other"
    return kind, None


def said_by(payload: Any, tool: str, *, is_hooked: bool, is_native: bool) -> SaidBy:
    """Return whose words a kept event brings: as it says; where it says nothing, by its tool, and whether a hook or a
    transcript told it, as migration 0003 does."""
    if payload is not None:
        known: SaidBy = payload if payload in get_args(SaidBy) else "outside"
        return known
    match _KINDS.get(tool):
        case "prompt":
            return "person" if is_hooked else "agent" if is_native else "outside"
        case "turn_end":
            return "agent" if is_hooked or is_native else "outside"
        case _:
            return tool_named(tool).said_by
