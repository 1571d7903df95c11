"""Codex's trust in hooks: it runs an entry only while a person has seen it exactly as it is.

What was trusted stands in its configuration, by the entry's place and as a hash of it:

    [hooks.state."/home/a/.codex/hooks.json:post_tool_use:0:0"]
    trusted_hash = "sha256:…"

It is read here and never written: it is the person's consent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from siftd.install.ours import is_our_handler

DEFAULT_SECONDS = 600
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
State = Literal["trusted", "changed", "new", "off"]


class Trusted(NamedTuple):
    """One entry of ours, and what Codex makes of it."""

    event: str
    state: State


def trust_of(path: str, hooks_file: Any, configuration: Mapping[str, Any]) -> Iterator[Trusted]:
    """Yield each entry of ours in a hooks file, given what the file and the configuration hold."""
    events = hooks_file.get("hooks") if isinstance(hooks_file, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for place, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if is_our_handler(handler):
                    key = f"{path}:{_snake(event)}:{number}:{place}"
                    yield Trusted(event, _state(configuration, key, hash_of(event, group, handler)))


def hash_of(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """Return what Codex 0.169 keeps of an entry that it was told to trust."""
    known = {
        "async": handler.get("async", False),
        "command": handler.get("command"),
        "timeout": handler.get("timeout", DEFAULT_SECONDS),
        "type": handler.get("type"),
    }
    described = {"event_name": _snake(event), "hooks": [known]}
    if "matcher" in group:
        described["matcher"] = group["matcher"]
    compact = json.dumps(described, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()


def _state(configuration: Mapping[str, Any], key: str, wanted: str) -> State:
    hooks = configuration.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    described = states.get(key) if isinstance(states, dict) else None
    if not isinstance(described, dict):
        return "new"
    if described.get("enabled") is False:
        return "off"
    return "trusted" if described.get("trusted_hash") == wanted else "changed" if "trusted_hash" in described else "new"


def _snake(event: str) -> str:
    return _WORD.sub("_", event).lower()
