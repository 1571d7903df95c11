"""What siftd itself said to an agent, as it comes back in what is captured: memory must not feed on itself.

A block that this workspace gave (`siftd.search.context_block`) is cut out of every string, wherever it stands. It is
known by the id in its opening, which is made from the workspace's secret: a page that only writes such a tag can hide
nothing from the record. Of a result of our own tools, by MCP or by `mem` in a shell, the ids are kept and nothing
else: with the query in the input they tell what was looked at. Such a call, and what was typed to us (`/mem …`) with
the turn that answers it, is on the record and nowhere else: no summary, no vector, no words to be found by.
"""

from __future__ import annotations

import hmac
import re
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from siftd import ids
from siftd.model import Action, Kind

MARK = b"siftd-memory"
BLOCK_CHARS_MAX = 24_000
"""No block of ours is longer, two levels of JSON's escapes included."""
_OPENING = "<siftd-memory"
_OPENING_CHARS_MAX = 200
_CLOSING = "</siftd-memory>"
_TOOL = re.compile(r"(?:mcp_{1,2})?(?:plugin_\w{1,64}_)?siftd(?:_{1,3}|-)\w{1,64}")
"""As agents name the tools of a server: `mcp__siftd__search`, `mcp_siftd_search`, `siftd-search`, `siftd___search`."""
_COMMAND = re.compile(
    r"[ \t]*+(?:cd[ \t]++[\w./~@+-]++[ \t]*+&&[ \t]*+)?(?P<program>[^\s'\"|<>;&`$()\\]++)(?:[ \t]++-[\w-]++)*+[ \t]++"
    r"(?P<verb>[a-z]{1,20})"
    r"(?![\w-])(?:[^'\"|<>;&`$()\\\n\r]|'[^'\n\r]*+'|\"[^\"$`\\\n\r]*+\")*+"
)
"""`mem` alone, told where to stand at most: what else a command line does, in any way, is to be captured."""
_LOOKS = frozenset(
    "search timeline tail top stats show sessions session brief why injections memories facts conversations context"
    " pods entity graph documents knowledge".split()
)
"""Verbs that answer with what is remembered: it must not be remembered again."""
VERBS = _LOOKS | frozenset(
    "help info status doctor remember correct verify pins update drain backfill export import retry reembed"
    " resummarise undo forget redact scrub prune rebuild backup start stop pause resume exclude logs install uninstall"
    " clients workspaces config completion slash capture notes note web mute ingest team".split()
)
"""Every verb: a program of the same name that is told something else is another one."""
_PROMPT = re.compile(r"/(?:mem|siftd:[\w-]{1,64})(?:\s|\Z)")
_SKILL = re.compile(r"(?:mem|siftd(?::[\w-]{1,64})?)")
IDS_MAX = 100


def block_id(secret: bytes) -> str:
    """Return what tells the blocks that a workspace gives from what a page pretends."""
    return hmac.digest(secret, b"the opening of a block", "sha256")[:4].hex()


def is_own_call(action: Action | None, tool: str, tool_input: Any) -> bool:
    """Whether a tool call asked siftd what it remembers."""
    return _own_verb(action, tool_input) in _LOOKS or _TOOL.fullmatch(tool) is not None


def is_own_traffic(kind: Kind, action: Action | None, tool: str, payload: dict[str, Any]) -> bool:
    """Whether an event is somebody's word to siftd or its answer; what else a session says and does is not."""
    prompt, tool_input = payload.get("prompt"), payload.get("tool_input")
    if kind == "prompt":
        return isinstance(prompt, str) and is_own_prompt(prompt)
    if action == "other" and isinstance(tool_input, dict):
        skill = tool_input.get("skill") or tool_input.get("command") or ""
        if isinstance(skill, str) and _SKILL.fullmatch(skill.lstrip("/")):
            return True
    return _own_verb(action, tool_input) is not None or _TOOL.fullmatch(tool) is not None


def is_own_prompt(text: str) -> bool:
    """Whether a prompt speaks to siftd: `/mem …`, `/siftd:mem …`."""
    return _PROMPT.match(text) is not None


def _own_verb(action: Action | None, tool_input: Any) -> str | None:
    """Return the verb of a command line that runs `mem`, by name or from beside our interpreter, and nothing else."""
    command = None
    if action == "run" and isinstance(tool_input, dict):
        command = tool_input.get("command")
    if not isinstance(command, str) or "mem " not in command:
        return None
    found = _COMMAND.fullmatch(command.strip())
    is_ours = found is not None and found["program"] in ("mem", str(PurePath(sys.executable).with_name("mem")))
    return found["verb"] if found is not None and is_ours and found["verb"] in VERBS else None


def ids_alone(response: Any) -> Any:
    """Return the result of one of our tools with the ids in it and nothing else, in the form it had."""
    ids = list(dict.fromkeys(_iter_ids(response)))[:IDS_MAX]
    return (
        {"stdout": " ".join(ids), "stderr": ""} if isinstance(response, dict) and "stdout" in response else {"ids": ids}
    )


def without_blocks(value: Any, own_id: str) -> Any:
    """Return a JSON value whose strings hold no block with this id."""
    match value:
        case str():
            return _without_blocks(value, own_id) if _OPENING in value else value
        case dict():
            return {key: without_blocks(each, own_id) for key, each in value.items()}
        case list():
            return [without_blocks(each, own_id) for each in value]
        case _:
            return value


def _without_blocks(text: str, own_id: str) -> str:
    """Cut each block of ours, in one pass; one that nothing closes, and what a stranger wrote, is text."""
    pieces, position = [], 0
    begin, closing = text.find(_OPENING), -1
    while begin >= 0:
        end = text.find(">", begin, begin + _OPENING_CHARS_MAX)
        if end > 0 and own_id in text[begin:end]:
            if closing < end:
                closing = text.find(_CLOSING, end)
            if closing < 0:
                break
            if closing - begin <= BLOCK_CHARS_MAX:
                pieces.append(text[position:begin])
                position = end = closing + len(_CLOSING)
                position += text[position : position + 1].isspace()
        begin = text.find(_OPENING, max(end, begin + 1))
    return "".join([*pieces, text[position:]])


def _iter_ids(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield from ids.find(value)
        case dict():
            for each in value.values():
                yield from _iter_ids(each)
        case list():
            for each in value:
                yield from _iter_ids(each)
