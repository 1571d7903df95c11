"""Whose a hook's input is: several programs run the hooks of Claude Code's settings files, and give them inputs of
their own. The environment proves nothing, because it is inherited; so the input is looked at, and of it only what
stands at the top: what a tool printed says nothing about who ran it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected


class _Top(msgspec.Struct, kw_only=True):
    """The fields that tell. No other is built, and of Claude Code's own none is large."""

    timestamp: Any = None
    cursor_version: Any = None
    hookEventName: Any = None  # noqa: N815 - as it is told
    sessionId: Any = None  # noqa: N815
    conversationId: Any = None  # noqa: N815
    client_type: Any = None
    turn_id: Any = None
    model: Any = None
    prompt_id: Any = None
    hook_event_name: Any = None
    transcript_path: Any = None
    tool_result: Any = None
    initial_prompt: Any = None
    stop_reason: Any = None
    custom_instructions: Any = None


def _is_copilot(top: _Top) -> bool:
    """Its events carry their time; those that name a transcript have a field that no other program gives."""
    if top.timestamp is None:
        return False
    if top.hook_event_name is None:
        return top.sessionId is not None
    its_own = (top.tool_result, top.initial_prompt, top.stop_reason, top.custom_instructions)
    return top.transcript_path is None or any(each is not None for each in its_own)


_MARKS: tuple[tuple[str, Callable[[_Top], bool]], ...] = (
    ("cursor", lambda top: top.cursor_version is not None),
    ("vscode", lambda top: top.hookEventName is not None and top.sessionId is not None),
    ("kimi-code", lambda top: top.client_type == "kimi_code_cli"),
    ("antigravity", lambda top: top.conversationId is not None),
    ("codex", lambda top: top.turn_id is not None and top.model is not None),
    ("qwen-code", lambda top: top.timestamp is not None and "########" in str(top.prompt_id)),
    ("copilot-cli", _is_copilot),
)
"""The first that fits."""
_decoder = msgspec.json.Decoder(_Top)


def other_program(raw: bytes) -> str | None:
    """Return the client whose marks an input bears that came as Claude Code's; None for Claude Code's own, and for what
    cannot be read."""
    try:
        top = _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            top = decode_as(raw, _decoder)
        except EnvelopeRejected:
            return None
    if (
        top.timestamp
        is top.cursor_version
        is top.hookEventName
        is top.conversationId
        is top.client_type
        is top.turn_id
        is None
    ):
        return None  # nearly all: nothing more is asked
    return next((name for name, bears in _MARKS if bears(top)), None)
