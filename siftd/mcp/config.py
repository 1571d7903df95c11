"""`siftd mcp --print-config`: the entry by which any client starts the server."""

from __future__ import annotations

import json

from siftd.resources import server_entry


def print_config(surface: str) -> int:
    """Print the entry as the clients that take JSON want it."""
    print(json.dumps({"mcpServers": {"siftd": server_entry(surface)}}, indent=2))  # noqa: T201 - what was asked for
    return 0
