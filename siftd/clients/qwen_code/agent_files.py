"""Which subagent a call started, as files beside the chats tell: `subagents/<session>/agent-<id>.meta.json`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from siftd.foreign_file import read

_BYTES_MAX = 64 * 1024


class _AgentFile(msgspec.Struct, rename="camel"):
    agent_id: str | None = None
    tool_use_id: str | None = None


def spawned_agents(chat: str, session_id: str) -> dict[str, str]:
    """Return which agent each call of a session started, by the call's id."""
    agents = {}
    for file in (Path(chat).parent.parent / "subagents" / Path(session_id).name).glob("agent-*.meta.json"):
        try:
            described = msgspec.json.decode(read(str(file), _BYTES_MAX), type=_AgentFile)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue  # the link is a comfort; the chat itself is read all the same
        if described.tool_use_id and described.agent_id:
            agents[described.tool_use_id] = described.agent_id
    return agents
