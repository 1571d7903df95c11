"""pi's sessions: `--<folder>--/<time>_<id>.jsonl`, a line a message; what extensions inject has lines of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.facts import Counting, Origin, column_text, milliseconds
from siftd.clients.pi.facts import ENDINGS, FACTS, call_event, text_of
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event

PENDING_MAX = 1_000
"""Calls without a result that are remembered; the oldest goes. Arbitrary."""


class Line(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    type: str = ""
    id: str | None = None
    cwd: str | None = None
    timestamp: Any = None
    message: Any = None
    summary: Any = None


_DECODER = msgspec.json.Decoder(Line)


def head_of(lines: Iterable[bytes]) -> Head:
    """Return whose a file is, by its first line that says it."""
    for raw in lines:
        try:
            line = decode_as(raw, _DECODER)
        except EnvelopeRejected:
            continue
        if line.type == "session":
            return Head(line.id, line.cwd, None)
    return Head(None, None, None)


class SessionReader:
    """Reads one session's file."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where lines name none."""
        self._origin = Origin(session_id=session_id or "", ts=0, from_file=True)
        self._calls: dict[str, tuple[str, Any]] = {}
        self._counted = Counting()

    @property
    def is_between(self) -> bool:
        return not self._calls

    def read(self, line: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        ts = milliseconds(record.timestamp)
        self._origin = msgspec.structs.replace(self._origin, ts=ts if ts and ts > 0 else self._origin.ts)
        match record.type:
            case "session":
                self._origin = msgspec.structs.replace(
                    self._origin,
                    session_id=column_text(record.id or "") or self._origin.session_id,
                    cwd=column_text(record.cwd) if record.cwd else None,
                )
            case "compaction" if isinstance(record.summary, str) and record.summary.strip():
                yield FACTS.compacted(self._origin, record.summary, record.id)
            case "message" if isinstance(record.message, dict):
                yield from self._message(record, record.message)

    def finish(self, complete: bool) -> Iterator[Event]:  # noqa: ARG002 - each line is told when it is read
        yield from ()

    def _message(self, record: Line, message: dict[str, Any]) -> Iterator[Decoded]:
        content = message.get("content")
        text = text_of(content).strip()
        match message.get("role"):
            case "user" if text:
                yield self._counted(FACTS.prompt(self._origin, text))
            case "assistant":
                blocks = content if isinstance(content, list) else []
                calls = [each for each in blocks if isinstance(each, dict) and each.get("type") == "toolCall"]
                for each in calls:
                    self._take_call(each)
                if calls or message.get("stopReason") not in ENDINGS:
                    if text:
                        yield FACTS.said(self._origin, text, record.id)
                else:
                    yield self._counted(FACTS.end(self._origin, text))
            case "toolResult":
                yield self._result(message, content)

    def _take_call(self, call: dict[str, Any]) -> None:
        call_id, name = call.get("id"), call.get("name")
        if isinstance(call_id, str) and isinstance(name, str) and name:
            self._calls[call_id] = name, call.get("arguments")
            if len(self._calls) > PENDING_MAX:
                del self._calls[next(iter(self._calls))]

    def _result(self, message: dict[str, Any], content: Any) -> Decoded:
        call_id = message.get("toolCallId")
        call = self._calls.pop(call_id, None) if isinstance(call_id, str) else None
        if call is None:
            return Skipped("orphan_result")
        return call_event(self._origin, call[0], call_id, call[1], content, is_error=message.get("isError") is True)
