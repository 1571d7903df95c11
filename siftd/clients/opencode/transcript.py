"""What a session of OpenCode's tells, line after line, as `siftd.clients.opencode.sessions` makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from siftd.clients.client import Decoded, Skipped
from siftd.clients.facts import column_text
from siftd.clients.opencode.facts import (
    Origin,
    compaction_event,
    end_event,
    prompt_event,
    text_event,
    tool_event,
    typed,
)
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event


class Line(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    table: str = ""
    id: str = ""
    agent_id: str | None = None
    directory: str | None = None
    time_created: int | None = None
    data: Any = None


_DECODER = msgspec.json.Decoder(Line)
_GOES_ON = ("tool-calls", "unknown", None)
"""How a message finishes that is not the last of its turn."""


class _Said(msgspec.Struct, frozen=True):
    """The last words so far, which are the turn's last if nothing follows."""

    text: str
    part_id: str
    ts: int


class SessionReader:
    """Reads one session. A turn ends where the next begins, or where the last message says that it is done."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where the lines do not say whose they are."""
        self._origin = Origin(session_id=session_id or "", ts=0, from_transcript=True)
        self._message: Line | None = None
        self._typed: list[Any] = []
        self._said: _Said | None = None
        self._turn: str | None = None
        self._is_done = False

    @property
    def is_between(self) -> bool:
        return self._turn is None and not self._typed

    def read(self, line: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            row = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        match row.table:
            case "session":
                self._origin = msgspec.structs.replace(
                    self._origin,
                    session_id=column_text(row.id) or self._origin.session_id,
                    cwd=column_text(row.directory) if row.directory else None,
                    agent_id=row.agent_id or None,
                )
            case "message":
                yield from self._take_prompt()
                self._message = row
                data = row.data if isinstance(row.data, dict) else {}
                self._is_done = data.get("role") == "assistant" and data.get("finish") not in _GOES_ON
            case "part" if isinstance(row.data, dict):
                yield from self._part(row, row.data)

    def finish(self, complete: bool) -> Iterator[Event]:
        """Yield the prompt that came last, and the end of a turn that goes on no more."""
        yield from self._take_prompt()
        if complete or self._is_done:
            yield from self._close()

    def _part(self, row: Line, data: dict[str, Any]) -> Iterator[Event]:
        message = self._message
        about = message.data if message is not None and isinstance(message.data, dict) else {}
        if about.get("role") == "user":
            self._typed.append(data)
            return
        event = tool_event(self._at(_ended(data) or row.time_created), {**data, "id": row.id})
        if event is not None:
            yield from self._say()
            yield event
            return
        text = data.get("text")
        if data.get("type") != "text" or data.get("synthetic") or not isinstance(text, str) or not text.strip():
            return
        ts = row.time_created or 0
        if about.get("summary") is True:
            yield compaction_event(self._at(ts), text, row.id)
            return
        yield from self._say()
        self._said = _Said(text, row.id, ts)

    def _take_prompt(self) -> Iterator[Event]:
        """Tell the prompt whose parts have been read."""
        text, self._typed = typed(self._typed), []
        message = self._message
        if not text or message is None:
            return
        yield from self._close()
        self._turn = message.id
        if self._origin.agent_id is None:  # a subagent's is in the call that started it
            yield prompt_event(self._at(message.time_created), text, message.id)

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said in the middle of a turn: something else has followed."""
        said, self._said = self._said, None
        if said is not None:
            yield text_event(self._at(said.ts), said.text, said.part_id)

    def _close(self) -> Iterator[Event]:
        said, self._said = self._said, None
        turn, self._turn = self._turn, None
        if turn is not None:
            ts = said.ts if said is not None else self._message.time_created if self._message else 0
            yield end_event(self._at(ts), said.text if said is not None else "", turn)

    def _at(self, ts: int | None) -> Origin:
        return msgspec.structs.replace(self._origin, ts=ts if ts is not None and ts > 0 else 0)


def _ended(part: dict[str, Any]) -> int | None:
    """When a call ended."""
    state = part.get("state")
    time = state.get("time") if isinstance(state, dict) else None
    end = time.get("end") if isinstance(time, dict) else None
    return end if isinstance(end, int) else None
