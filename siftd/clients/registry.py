"""The clients that siftd knows. Whoever adds one writes its room and a line here."""

from __future__ import annotations

from siftd.clients.claude_code.client import ClaudeCode
from siftd.clients.client import Client
from siftd.clients.generic.client import Generic
from siftd.clients.opencode.client import OpenCode
from siftd.errors import RequestInvalid

_GENERIC = Generic()
CLIENTS: dict[str, Client] = {each.name: each for each in (ClaudeCode(), OpenCode(), _GENERIC)}
"""By name."""
DEFAULT = ClaudeCode.name
"""Whose sessions are read where nobody names a client."""


def client_named(name: str) -> Client:
    """Return the client of an event; people's own agents, which call themselves what they like, are generic ones."""
    return CLIENTS.get(name, _GENERIC)


def client_asked_for(name: str | None) -> Client:
    """Return the client that a request names, or the default. Raises RequestInvalid."""
    name = name or DEFAULT
    if name not in CLIENTS:
        raise RequestInvalid("there is no such client", hint=f"one of {', '.join(CLIENTS)}")
    return CLIENTS[name]
