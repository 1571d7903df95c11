"""goose's own tools."""

from __future__ import annotations

from siftd.clients.tool import Tool, by_name

ALIKE = (
    (Tool("run", "shell"), "developer__shell"),
    (Tool("edit", "write"), "developer__write"),
    (Tool("edit", "edit"), "developer__edit"),
    (Tool("search", "glob"), "developer__tree"),
    (Tool("read", "read"), "developer__read_image"),
)
TOOLS = by_name(ALIKE)
