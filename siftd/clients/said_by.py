"""Whose words an event brings, by its tool; and by what old records hold, from before this was written down.

What is known is the way an event came, not who was at the keyboard. A hook's frame, a transcript in the client's home
and a `capture` request may each be written by any process of the same user: the socket and the files are 0600 in 0700
folders, and that is all that is proved. A key for the hook to sign with would lie beside the socket, readable by the
same processes, and prove nothing more. So `person` means: a prompt that came as our hook's frame. A transcript's prompt
counts as the agent's, whose file it is, and nobody vouches for what a `capture` request tells.
"""

from __future__ import annotations

from siftd.model import SaidBy

PROMPT = "UserPromptSubmit"
TEXT = "AssistantText"
"""What an agent says between its tool calls; no hook's name, transcripts alone tell it."""
ACCOUNT = "CompactSummary"
"""What the client tells of a session when it compacts it, in the agent's words."""
_OUTSIDE = frozenset(
    "WebFetch WebSearch web_fetch web_search google_web_search ListMcpResourcesTool ReadMcpResourceTool".split()
)
_AGENT = frozenset(
    "TodoWrite TaskCreate TaskUpdate TaskGet TaskList ExitPlanMode EnterPlanMode AskUserQuestion update_plan".split()
)
"""Calls whose result is the agent's own list, plan or question."""


def said_by_tool(tool: str) -> SaidBy:
    """Return whose words a call of this tool brings. A subagent's come as a tool's result does."""
    if tool.startswith("mcp__") or tool in _OUTSIDE:
        return "outside"
    return "agent" if tool in _AGENT else "output"


def said_by_then(tool: str, *, is_hooked: bool, is_native: bool) -> SaidBy:
    """Return whose words an event brings that does not say: by its tool, and whether a hook or a transcript told it.

    The rule of migration 0003, for records of the log and spool files that are older.
    """
    if tool == PROMPT:
        return "person" if is_hooked else "agent" if is_native else "outside"
    if tool == "Stop":
        return "agent" if is_hooked or is_native else "outside"
    return said_by_tool(tool)
