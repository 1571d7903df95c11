"""What a tool does, by the name that any agent gives it.

Agents spell the same tools alike, so one table serves whoever reads a payload for its shape and does not know, or need,
whose it is. A decoder uses its own client's table.
"""

from __future__ import annotations

from siftd.clients.antigravity.tools import TOOLS as ANTIGRAVITY
from siftd.clients.claude_code.tools import TOOLS as CLAUDE_CODE
from siftd.clients.cline.tools import TOOLS as CLINE
from siftd.clients.codex.tools import TOOLS as CODEX
from siftd.clients.copilot_cli.tools import TOOLS as COPILOT_CLI
from siftd.clients.cursor.tools import TOOLS as CURSOR
from siftd.clients.droid.tools import TOOLS as DROID
from siftd.clients.gemini_cli.tools import TOOLS as GEMINI_CLI
from siftd.clients.generic.tools import TOOLS as GENERIC
from siftd.clients.goose.tools import TOOLS as GOOSE
from siftd.clients.kimi_code.tools import TOOLS as KIMI_CODE
from siftd.clients.opencode.tools import TOOLS as OPENCODE
from siftd.clients.pi.tools import TOOLS as PI
from siftd.clients.qwen_code.tools import TOOLS as QWEN_CODE
from siftd.clients.tool import Tool, find_tool

KNOWN = {
    **CURSOR,
    **COPILOT_CLI,
    **PI,
    **ANTIGRAVITY,
    **CLINE,
    **OPENCODE,
    **DROID,
    **GENERIC,
    **GEMINI_CLI,
    **QWEN_CODE,
    **KIMI_CODE,
    **CODEX,
    **GOOSE,
    **CLAUDE_CODE,
}
"""By the name in lower case."""


def tool_named(name: str) -> Tool:
    """Return what is known of a tool with this name."""
    return find_tool(KNOWN, name)
