"""The clients that siftd knows. Whoever adds one writes its room and a line here."""

from __future__ import annotations

from siftd.clients.antigravity.client import Antigravity
from siftd.clients.claude_code.client import ClaudeCode
from siftd.clients.client import Client
from siftd.clients.cline.client import Cline
from siftd.clients.codex.client import Codex
from siftd.clients.copilot_cli.client import CopilotCli, VsCode
from siftd.clients.cursor.client import Cursor
from siftd.clients.droid.client import Droid
from siftd.clients.gemini_cli.client import GeminiCli
from siftd.clients.generic.client import Generic
from siftd.clients.goose.client import Goose
from siftd.clients.kimi_code.client import KimiCode
from siftd.clients.marks import other_program
from siftd.clients.opencode.client import OpenCode
from siftd.clients.pi.client import Pi
from siftd.clients.qwen_code.client import QwenCode
from siftd.errors import RequestInvalid

_GENERIC = Generic()
_KNOWN: tuple[Client, ...] = (
    ClaudeCode(),
    Codex(),
    OpenCode(),
    GeminiCli(),
    QwenCode(),
    KimiCode(),
    Cline(),
    Pi(),
    Goose(),
    CopilotCli(),
    VsCode(),
    Cursor(),
    Antigravity(),
    Droid(),
    _GENERIC,
)
CLIENTS: dict[str, Client] = {each.name: each for each in _KNOWN}
"""By name."""
DEFAULT = ClaudeCode.name
"""Whose sessions are read where nobody names a client."""


def client_of_frame(name: str, raw: bytes) -> Client | None:
    """Return the client whose input a hook frame brings: as it is named, but for another program's that runs the
    default client's settings files. None for a name that nobody has."""
    if name == DEFAULT and (other := other_program(raw)) in CLIENTS:
        return CLIENTS[other]
    return CLIENTS.get(name)


def client_named(name: str) -> Client:
    """Return the client of an event; people's own agents, which call themselves what they like, are generic ones."""
    return CLIENTS.get(name, _GENERIC)


def client_asked_for(name: str | None) -> Client:
    """Return the client that a request names, or the default. Raises RequestInvalid."""
    name = name or DEFAULT
    if name not in CLIENTS:
        raise RequestInvalid("there is no such client", hint=f"one of {', '.join(CLIENTS)}")
    return CLIENTS[name]
