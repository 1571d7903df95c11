"""The digest: what happened since the last distil, short enough to be read by a curator.

    == session 5b1c9f0e, 2026-11-24 10:02
    person: …                        at most 2,500 characters
    agent: …                         at most 2,500 characters
    tool Bash {"command": "make"}    the input at most 300
      failed: …                      the result at most 240

What goes on below a first line is indented, so that no text can begin a line as another speaker. Of a digest that is
longer than it may be, the first 30 % and the last 70 % stay. Everything was redacted before it is cut here.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from siftd.store.note_sources import CapturedEvent
from siftd.store.payload import texts_of

SAID_CHARS = 2_500
INPUT_CHARS = 300
RESULT_CHARS = 240
FIRST_SHARE = 0.3
_SCANNED_CHARS = 20_000
"""Of a payload's texts, enough for the longest cut."""


class Digest(NamedTuple):
    """What a curator reads of captured events."""

    text: str
    events: int
    sessions: int
    left_out_chars: int = 0


def make_digest(events: Iterable[CapturedEvent], chars_max: int) -> Digest:
    """Return the digest of events, in their order; empty where they hold nothing to tell."""
    pieces = _Middle(chars_max)
    session, count, sessions = None, 0, set()
    for event in events:
        if not (lines := _lines_of(event)):
            continue
        if event.session_id != session:
            session = event.session_id
            pieces.add(f"== session {_one_line(session)[:8]}, {_moment(event.ts)}\n")
        pieces.add(lines)
        count += 1
        sessions.add(session)
    return Digest(pieces.text(), count, len(sessions), pieces.left_out)


class _Middle:
    """Takes pieces in and leaves out the middle of what is too long."""

    def __init__(self, chars_max: int) -> None:
        self._first_max = int(chars_max * FIRST_SHARE)
        self._last_max = chars_max - self._first_max - 80
        self._first: list[str] = []
        self._first_chars = 0
        self._last: deque[str] = deque()
        self._last_chars = 0
        self.left_out = 0

    def add(self, piece: str) -> None:
        if not self._last and self._first_chars + len(piece) <= self._first_max:
            self._first.append(piece)
            self._first_chars += len(piece)
            return
        self._last.append(piece)
        self._last_chars += len(piece)
        while self._last_chars > self._last_max:
            gone = len(self._last.popleft())
            self._last_chars -= gone
            self.left_out += gone

    def text(self) -> str:
        cut = f"[{self.left_out:,} characters left out]\n" if self.left_out else ""
        return "".join(self._first) + cut + "".join(self._last)


def _lines_of(event: CapturedEvent) -> str:
    """Return an event's lines; empty for one that says nothing."""
    if event.kind == "prompt":
        speaker = event.said_by if event.said_by == "person" else f"prompt ({event.said_by})"
        return _said(speaker, event.payload.get("prompt"))
    if event.kind == "turn_end":
        return _said("agent", event.payload.get("last_assistant_message"))
    if event.kind == "assistant_text":
        return _said("agent", event.payload.get("text"))
    if event.kind != "tool":
        return ""
    given = _clip(_one_line(_json(event.payload.get("tool_input"))), INPUT_CHARS)
    result = _clip(_one_line(_result(event.payload)), RESULT_CHARS)
    return f"tool {_one_line(event.tool)[:80]} {given}\n" + f"  {event.outcome or 'done'}: {result}".rstrip() + "\n"


def _said(speaker: str, text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        return ""
    lines = _clip(text.strip(), SAID_CHARS).splitlines()
    return f"{speaker}: " + "\n  ".join(lines) + "\n"


def _result(payload: dict[str, Any]) -> str:
    value = payload.get("error", payload.get("tool_response"))
    parts, chars = [], 0
    for text in texts_of(value):
        parts.append(text[:_SCANNED_CHARS])
        chars += len(parts[-1])
        if chars > _SCANNED_CHARS:
            break
    return " ".join(parts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value is not None else ""


def _clip(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def _one_line(text: str) -> str:
    return " ".join(text[:_SCANNED_CHARS].split())


def _moment(ts: int) -> str:
    return datetime.fromtimestamp(ts / 1000, UTC).strftime("%Y-%m-%d %H:%M")
