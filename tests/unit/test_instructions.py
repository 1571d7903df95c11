"""What agents are told of the memory is made of the same lines, wherever they are told it."""

from __future__ import annotations

import inspect
from pathlib import Path

from siftd import instructions
from siftd.clients.tools_only.installer import RULES
from siftd.mcp import rekal_tools
from siftd.mcp.link import Link
from siftd.mcp.serve import make_server
from siftd.mcp.tools import Tools

REPOSITORY = Path(__file__).resolve().parents[2]


def folded(text: str | None) -> str:
    return " ".join((text or "").split())


def test_the_server_says_the_lines(tmp_path: Path) -> None:
    link = Link.from_environment({"HOME": str(tmp_path), "SIFTD_HOME": str(tmp_path / "siftd")})
    assert make_server(link).instructions == instructions.SERVER
    assert make_server(link, "full").instructions == rekal_tools.INSTRUCTIONS


def test_the_tool_that_keeps_says_the_lines() -> None:
    assert folded(inspect.getdoc(Tools.remember)) == instructions.REMEMBER


def test_whoever_may_keep_something_is_taught_the_same_style() -> None:
    texts = [instructions.SERVER, instructions.REMEMBER, instructions.GUARD, rekal_tools.INSTRUCTIONS, RULES]
    for text in map(folded, texts):
        for line in (instructions.LASTS, instructions.STYLE, instructions.NEVER):
            assert line in text
