"""droid's session files, one of each session, of a subagent's too: it is a session of its own.

    session_start         id, cwd, callingSessionId
    message               id, timestamp, message{role, content[text | tool_use | tool_result]}
    agent_turn_outcome    turnId: the id of the prompt

Messages with a `hookEventName` tell of hooks, those whose id begins with `context-` are the client's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.droid import facts
from siftd.clients.facts import Counting, Origin, column_text, milliseconds
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event

_OPEN_MAX = 1_000
"""Calls that wait for a result at most. Arbitrary."""
_OF_THE_CLIENT = "context-"


class Message(msgspec.Struct, kw_only=True, rename="camel"):
    """What is read of a message."""

    role: Any = None
    content: Any = None
    hook_event_name: Any = None


class Record(msgspec.Struct, kw_only=True):
    """The fields of a line that are read."""

    type: Any = None
    id: str | None = None
    timestamp: Any = None
    cwd: str | None = None
    message: Message = msgspec.field(default_factory=Message)


class _Words(NamedTuple):
    """The agent's last words so far."""

    origin: Origin
    text: str
    id: str | None


_DECODER = msgspec.json.Decoder(Record)


def session_head(lines: Iterable[bytes]) -> Head:
    """Whose a file is: its first line says so."""
    for line in lines:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected:
            continue
        if record.type == "session_start":
            return Head(record.id, record.cwd, None)
    return Head(None, None, None)


class SessionReader:
    """Reads line after line."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where no line names one: reading may begin behind the first."""
        self._session_id = session_id
        self._cwd: str | None = None
        self._turn: str | None = None
        self._is_in_turn = False
        self._calls: dict[str, tuple[str, Any]] = {}
        self._words: _Words | None = None
        self._counted = Counting()

    @property
    def is_between(self) -> bool:
        return not self._is_in_turn and not self._calls and self._words is None

    def read(self, line: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known. Never raises for what a line holds."""
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        if record.type == "session_start":
            self._session_id = record.id or self._session_id
            self._cwd = record.cwd
        elif record.type == "agent_turn_outcome":
            yield from self._close()
            self._is_in_turn = False
        elif record.type == "message" and record.message.hook_event_name is None:
            yield from self._message(record, has_media=may_hold_media(line))

    def finish(self, complete: bool) -> Iterator[Event]:
        """Yield the end of a turn that is over because the file grows no more."""
        if complete:
            yield from self._close()

    def _message(self, record: Record, *, has_media: bool) -> Iterator[Decoded]:
        ts = milliseconds(record.timestamp)
        if ts is None or not self._session_id:
            yield Skipped("no_session_or_time")
            return
        content = without_media(record.message.content) if has_media else record.message.content
        blocks = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
        if record.message.role == "assistant":
            yield from self._assistant(record, ts, blocks)
        elif record.message.role == "user" and not (record.id or "").startswith(_OF_THE_CLIENT):
            yield from self._user(record, ts, blocks)

    def _assistant(self, record: Record, ts: int, blocks: list[dict[str, Any]]) -> Iterator[Event]:
        for number, block in enumerate(blocks):
            name, call_id, text = block.get("name"), block.get("id"), block.get("text")
            if block.get("type") == "tool_use" and isinstance(name, str) and isinstance(call_id, str):
                yield from self._say()
                self._calls[call_id] = name, block.get("input")
                if len(self._calls) > _OPEN_MAX:
                    del self._calls[next(iter(self._calls))]
            elif block.get("type") == "text" and isinstance(text, str) and text.strip():
                yield from self._say()
                self._words = _Words(self._origin(ts), text, record.id and f"{record.id}/{number}")

    def _user(self, record: Record, ts: int, blocks: list[dict[str, Any]]) -> Iterator[Decoded]:
        for block in blocks:
            if block.get("type") == "tool_result":
                yield from self._result(self._origin(ts), block)
        texts = [text for block in blocks if block.get("type") == "text" and isinstance(text := block.get("text"), str)]
        if not texts:
            return
        yield from self._close()
        self._turn, self._is_in_turn = record.id, True
        prompt = facts.typed_prompt("\n".join(each for each in texts if not each.startswith("<system-reminder>")))
        if prompt is not None:
            yield self._counted(facts.FACTS.prompt(self._origin(ts), prompt))

    def _result(self, origin: Origin, block: dict[str, Any]) -> Iterator[Decoded]:
        call_id, content = block.get("tool_use_id"), block.get("content")
        call = self._calls.pop(call_id, None) if isinstance(call_id, str) else None
        if call is None or not isinstance(call_id, str):
            yield Skipped("orphan_result")
            return
        if block.get("is_error") is True:
            yield facts.failed(origin, call[0], call_id, call[1], _text(content))
        else:
            response = content if isinstance(content, str) else _text(content)
            yield self._counted(facts.ended_well(origin, call[0], call[1], response))

    def _origin(self, ts: int) -> Origin:
        return Origin(
            session_id=column_text(self._session_id or ""),
            ts=ts,
            cwd=self._cwd,
            prompt_id=self._turn,
            from_file=True,
        )

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said on the way: something else has followed."""
        said, self._words = self._words, None
        if said:
            yield self._counted(facts.FACTS.said(said.origin, said.text, said.id))

    def _close(self) -> Iterator[Event]:
        closing, self._words = self._words, None
        if closing:
            yield self._counted(facts.FACTS.end(closing.origin, closing.text))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [each.get("text") for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))
