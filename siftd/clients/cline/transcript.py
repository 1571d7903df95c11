"""What a session of Cline's tells, line after line, as `siftd.clients.cline.sessions` makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from siftd.clients.client import Decoded, Skipped
from siftd.clients.cline.facts import FACTS, call_event, typed_prompt
from siftd.clients.facts import Counting, Origin, column_text
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event


class Line(msgspec.Struct, kw_only=True):
    """The fields that are read."""

    session_id: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    id: str | None = None
    role: str = ""
    content: Any = None
    ts: Any = None
    metadata: Any = None


_DECODER = msgspec.json.Decoder(Line)


class SessionReader:
    """Reads one session, or one subagent's part of it."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where the lines do not say whose they are."""
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
        if not record.role:
            self._origin = msgspec.structs.replace(
                self._origin,
                session_id=column_text(record.session_id or "") or self._origin.session_id,
                cwd=column_text(record.cwd) if record.cwd else None,
                agent_id=record.agent_id or None,
            )
            return
        ts = record.ts if isinstance(record.ts, int) and not isinstance(record.ts, bool) and record.ts > 0 else None
        self._origin = msgspec.structs.replace(self._origin, ts=ts or self._origin.ts)
        content = record.content
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks = [each for each in blocks if isinstance(each, dict)]
        if record.role == "assistant":
            yield from self._assistant(record, blocks)
        elif record.role == "user":
            yield from self._user(record, blocks)

    def finish(self, complete: bool) -> Iterator[Event]:  # noqa: ARG002 - each message is told when it is read
        yield from ()

    def _assistant(self, record: Line, blocks: list[dict[str, Any]]) -> Iterator[Decoded]:
        text = _texts(blocks).strip()
        calls = [each for each in blocks if each.get("type") == "tool_use"]
        for each in calls:
            call_id, name = each.get("id"), each.get("name")
            if isinstance(call_id, str) and isinstance(name, str) and name:
                self._calls[call_id] = name, each.get("input")
        if text and calls:
            yield FACTS.said(self._origin, text, record.id)
        elif text:
            yield self._counted(FACTS.end(self._origin, text))

    def _user(self, record: Line, blocks: list[dict[str, Any]]) -> Iterator[Decoded]:
        for each in blocks:
            if each.get("type") == "tool_result":
                yield self._result(each)
        about = record.metadata if isinstance(record.metadata, dict) else {}
        prompt = typed_prompt(_texts(blocks))
        # A subagent's is in the call that started it.
        if prompt is not None and about.get("displayRole") != "system" and self._origin.agent_id is None:
            yield self._counted(FACTS.prompt(self._origin, prompt))

    def _result(self, block: dict[str, Any]) -> Decoded:
        call_id = block.get("tool_use_id")
        call = self._calls.pop(call_id, None) if isinstance(call_id, str) else None
        if call is None:
            return Skipped("orphan_result")
        is_error = block.get("is_error") is True
        return call_event(self._origin, call[0], call_id, call[1], block.get("content"), is_error=is_error)


def _texts(blocks: list[dict[str, Any]]) -> str:
    texts = [each.get("text") for each in blocks if each.get("type") == "text"]
    return "\n".join(each for each in texts if isinstance(each, str))
