"""Which subagent a call started, as files beside a transcript tell: a subagent's own transcript does not say it of the
agents that it starts itself."""

from __future__ import annotations

from pathlib import Path

import msgspec

from siftd.foreign_file import read

_BYTES_MAX = 64 * 1024


class _AgentFile(msgspec.Struct, rename="camel"):
    tool_use_id: str | None = None


def spawned_agents(transcript: str, *, is_subagent: bool) -> dict[str, str]:
    """Return which agent each call of the transcript's session started, by tool_use_id."""
    path = Path(transcript)
    folder = path.parent if is_subagent else path.with_suffix("") / "subagents"
    agents = {}
    for file in folder.glob("agent-*.meta.json"):
        try:
            tool_use_id = msgspec.json.decode(read(str(file), _BYTES_MAX), type=_AgentFile).tool_use_id
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue  # the link is a comfort; the transcript itself is read all the same
        if tool_use_id:
            agents[tool_use_id] = file.name.removeprefix("agent-").removesuffix(".meta.json")
    return agents
