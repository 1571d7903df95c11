"""Salience: which events are worth a model's time.

Of a listing, a re-read or a short prompt the built-in backend says all there is to say; a model would be paid for
saying it again. What failed is never trivial. The rules are few, look at the event alone, and `mem show` names the
one that held.
"""

from __future__ import annotations

import re

from siftd.summarise.contract import Item
from siftd.summarise.extractive import lookups, planning, renderer_of, shell
from siftd.summarise.extractive.text import call_of, mapping, printed, string

SHORT_PROMPT_CHARS = 300
"""A prompt up to this length stands in its summary word for word."""
_LISTING = re.compile(
    r"(?:ls|ll|pwd|cd|tree|which|type|whoami|date|echo|true|sleep|clear|env|hostname|uname|df|du|stat|file|wc"
    r"|mkdir|touch|git (?:status|branch|remote|stash list)|docker ps|kubectl get \S+)(?:\s[^|;&<>`$]*)?"
)
_LOOK_UPS = {
    lookups.glob: "a listing",
    lookups.tool_search: "a search for tools",
    planning.task_look: "a look at a task",
}
_NOTHING = ("", "No matches found", "No files found")


def trivial_because(item: Item) -> str | None:
    """Return the rule by which no model is asked about an event; None for one that is worth it."""
    if item.scope != "event" or item.outcome == "failed" or "error" in item.payload:
        return None
    if item.kind == "prompt":
        is_short = len(string(item.payload.get("prompt"))) <= SHORT_PROMPT_CHARS
        return "a prompt short enough to stand for itself" if is_short else None
    if item.kind == "assistant_text":
        is_short = len(string(item.payload.get("text"))) <= SHORT_PROMPT_CHARS
        return "words short enough to stand for themselves" if is_short else None
    if item.kind in ("turn_end", "subagent_end"):
        return None if string(item.payload.get("last_assistant_message")).strip() else "an end without words"
    return "the same call with the same result as before" if item.is_repeat else _trivial_call(item)


def _trivial_call(item: Item) -> str | None:
    call = call_of(item)
    renderer = renderer_of(item)
    if renderer in _LOOK_UPS:
        return _LOOK_UPS[renderer]
    if renderer is shell.shell:
        return "a listing" if _LISTING.fullmatch(shell.bare(shell.command_of(call))) else None
    response = mapping(call.response)
    if response.get("type") == "file_unchanged":
        return "a re-read"
    if renderer is lookups.grep:
        has_found = response.get("filenames") or printed(call.response).strip() not in _NOTHING
        return None if has_found else "a search that found nothing"
    return None
