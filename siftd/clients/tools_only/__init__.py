"""Clients that siftd captures nothing of: their agents get the memory's tools, and a line that tells of them.

`table` says where each keeps its MCP servers and its rules, `installer` writes there.
"""
