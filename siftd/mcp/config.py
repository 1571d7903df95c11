"""`siftd mcp --print-config`: the entry by which any client starts the server."""

from __future__ import annotations

import json
import sys

from siftd.resources import entry_point


def server_entry(surface: str) -> dict[str, object]:
    """Return the command of this very installation; it needs no shell profile and no PATH."""
    arguments = ["-I", entry_point(), "mcp"]
    return {"command": sys.executable, "args": [*arguments, "--tools", surface] if surface != "default" else arguments}


def print_config(surface: str) -> int:
    """Print the entry as the clients that take JSON want it."""
    print(json.dumps({"mcpServers": {"siftd": server_entry(surface)}}, indent=2))  # noqa: T201 - what was asked for
    return 0
