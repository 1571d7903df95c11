"""Words out of payloads: bounded, total, and never more than what was there.

Every function takes any value and looks at a bounded part of it, so that a renderer can neither raise nor be
slowed by a hostile payload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item

HEAD_CHARS = 2_000
TAIL_CHARS = 3_000
"""How much of a long text is looked at. Errors and totals stand at the ends of what tools print."""

SEEN = 0.9  # the event itself shows it
SPOKEN = 0.7  # somebody's words, untested
THIN = 0.5  # the kind of call and its subject, little of what came of it
BARE = 0.3  # hardly more than a name

TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")
_TEXT_KEYS = ("stdout", "output", "stderr", "text", "content", "result", "message", "aggregated_output")
_SENTENCE_END = re.compile(r"(?<=[.!?。!?])[\"')\]]*\s+")


class Line(NamedTuple):
    """A rendered summary and how far it can be trusted."""

    text: str
    confidence: float


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One event, with its parts coerced to what a renderer may rely on."""

    tool: str
    given: Any
    """`tool_input` as it came."""
    response: Any
    error: str | None
    outcome: str | None
    cwd: str | None
    symbols: list[str]

    @property
    def input(self) -> dict[str, Any]:
        return mapping(self.given)

    def path(self, *keys: str) -> str:
        """Return the first of these inputs that is a path, relative to the working directory when inside it."""
        return relative(self.word(*keys), self.cwd)

    def word(self, *keys: str) -> str:
        """Return the first of these inputs that is a text with something in it."""
        return first_text(self.input, *keys)


def call_of(item: Item) -> Call:
    """Read an item's payload, whatever its shape."""
    payload = mapping(item.payload)
    error = payload.get("error")
    return Call(
        tool=item.tool,
        given=payload.get("tool_input"),
        response=payload.get("tool_response"),
        error=None if error is None else printed(error),
        outcome=item.outcome,
        cwd=item.cwd,
        symbols=[name for name in sequence(payload.get("symbols"))[:32] if isinstance(name, str)],
    )


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def first_text(values: dict[str, Any], *keys: str) -> str:
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def printed(value: Any, depth: int = 3) -> str:
    """Return the text that a result shows, whatever its shape; "" when it shows none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "\n".join(filter(None, (printed(part, depth - 1) for part in value[:20])))
    if isinstance(value, dict) and depth:
        return "\n".join(filter(None, (printed(value.get(key), depth - 1) for key in _TEXT_KEYS)))
    return ""


def ends(text: str, head_chars: int, tail_chars: int) -> str:
    """Return the text, or its head and tail when it is longer, cut where no word is cut."""
    if len(text) <= head_chars + tail_chars:
        return text
    head, tail = text[:head_chars], text[-tail_chars:]
    return head[: _gap(head)] + "\n" + tail[len(tail) - _gap(tail[::-1]) :]


def bounded(text: str) -> str:
    """Return the text's ends, without terminal colours."""
    text = ends(text, HEAD_CHARS, TAIL_CHARS)
    if "\x1b" in text:
        text = TERMINAL_CODES.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _gap(text: str) -> int:
    """Return where to cut so that no word is cut: at the last line's end, else at the last space, else at the end."""
    return max(text.rfind("\n"), 0) or max(text.rfind(" "), 0) or len(text)


def one_line(text: str) -> str:
    """Return the text's words, single-spaced."""
    line = " ".join(text[: 8 * MAX_SUMMARY_CHARS].split())
    return line if line.isprintable() else " ".join(line.translate(_CONTROLS).split())


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters of one line, cut between words where there is a gap to cut at."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", limit // 3, limit - 1)
    return line[: cut if cut > 0 else limit - 1].rstrip(" ,;:—-") + "…"


def finished(line: Line) -> Line:
    """Return the line as it is stored: one line, never empty, within the limit."""
    return Line(clip(line.text, MAX_SUMMARY_CHARS) or "(nothing told)", line.confidence)


def relative(path: str, cwd: str | None) -> str:
    """Return a path as seen from the working directory, in full when outside it, "" for the directory itself."""
    root = (cwd or "").rstrip("/\\")
    if root and path.rstrip("/\\") == root:
        return ""
    if root and path.startswith(root) and path[len(root) :][:1] in ("/", "\\"):
        path = path[len(root) + 1 :]
    return clip(path, 160)


def join_within(parts: Iterable[str], limit: int, between: str = ", ") -> str:
    """Join as many of these as fit; an ellipsis says that some did not."""
    text = ""
    for part in parts:
        if text and len(text) + len(between) + len(part) > limit - 3:
            return text + between.rstrip() + " …"
        text = text + between + part if text else clip(part, limit)
    return text


def unique(names: Iterable[str], limit: int) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))[:limit]


def lines_of(text: str, limit: int = 60) -> list[str]:
    """Return the first lines that say something, stripped."""
    found = []
    for line in bounded(text).split("\n"):
        line = line.strip()
        if line and any(char.isalnum() for char in line[:200]):
            found.append(line)
            if len(found) == limit:
                break
    return found


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def prose(parts: Iterable[str]) -> str:
    """Join sentences; one that has no end of its own (a bullet) gets one."""
    text = ""
    for part in parts:
        text += ("" if not text else " " if text.endswith((".", "!", "?", ":", ";", "。")) else "; ") + part
    return text


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if part]
