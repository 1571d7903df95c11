"""The clients of which siftd captures nothing: one entry each."""

from __future__ import annotations

from siftd.clients.support import NOTHING_CAPTURED, Support
from siftd.clients.tools_only.installer import Files, ToolsOnly

_PUBLISHED = Support(**NOTHING_CAPTURED, mcp="yes", evidence="published shapes")  # type: ignore[arg-type]
_NEITHER = Support(
    **NOTHING_CAPTURED,  # type: ignore[arg-type]
    mcp="no",
    evidence="published shapes",
    note="it takes neither hooks nor tools: `mem brief > brief.md`, then `aider --read brief.md`",
)
_ROO = "Code/User/globalStorage/rooveterinaryinc.roo-cline"

TOOLS_ONLY = (
    ToolsOnly(
        "windsurf",
        "Windsurf",
        support=_PUBLISHED,
        programs=("windsurf",),
        folder=".codeium/windsurf",
        user=Files(".codeium/windsurf/mcp_config.json", ".codeium/windsurf/memories/global_rules.md"),
        project=Files(rules=".windsurf/rules/siftd.md"),
    ),
    ToolsOnly(
        "kiro",
        "Kiro",
        support=_PUBLISHED,
        programs=("kiro", "kiro-cli"),
        folder=".kiro",
        user=Files(".kiro/settings/mcp.json", ".kiro/steering/siftd.md"),
        project=Files(".kiro/settings/mcp.json", ".kiro/steering/siftd.md"),
    ),
    ToolsOnly(
        "amp",
        "Amp",
        support=_PUBLISHED,
        programs=("amp",),
        folder=".config/amp",
        user=Files(".config/amp/settings.json", ".config/amp/AGENTS.md"),
        holder="amp.mcpServers",
    ),
    ToolsOnly(
        "crush",
        "Crush",
        support=_PUBLISHED,
        programs=("crush",),
        folder=".config/crush",
        user=Files(".config/crush/crush.json"),
        project=Files("crush.json"),
        holder="mcp",
        shape="stdio",
    ),
    ToolsOnly(
        "roo",
        "Roo Code",
        support=_PUBLISHED,
        folder=f".config/{_ROO}",
        user=Files(f".config/{_ROO}/settings/mcp_settings.json", ".roo/rules/siftd.md"),
        project=Files(".roo/mcp.json", ".roo/rules/siftd.md"),
    ),
    ToolsOnly("aider", "Aider", support=_NEITHER, programs=("aider",)),
)
