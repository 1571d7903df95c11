"""The memories that `mem import --from` reads, by name."""

from __future__ import annotations

from siftd.errors import RequestInvalid
from siftd.other_memories.claude_mem import CLAUDE_MEM
from siftd.other_memories.mcp_memory import MCP_MEMORY
from siftd.other_memories.mem0 import MEM0
from siftd.other_memories.model import OtherMemory
from siftd.other_memories.note_files import AUTO_MEMORY, CLAUDE_MD, MEMD
from siftd.other_memories.rekal import REKAL

OTHER_MEMORIES = {each.name: each for each in (AUTO_MEMORY, CLAUDE_MD, CLAUDE_MEM, MCP_MEMORY, MEM0, MEMD, REKAL)}


def other_memory(name: str) -> OtherMemory:
    """Return the memory of a name. Raises RequestInvalid."""
    if (found := OTHER_MEMORIES.get(name)) is None:
        raise RequestInvalid("there is no such memory to import from", hint=f"one of {', '.join(OTHER_MEMORIES)}")
    return found
