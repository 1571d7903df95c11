"""Qwen Code's session files: `projects/<folder>/chats/<session>.jsonl`, and `subagents/<session>/agent-<id>.jsonl`.

Lines as Claude Code's, with contents as Gemini CLI's (Qwen Code 0.24): `user`, `assistant` and `tool_result` with
`message.parts`, `system` with a `subtype`. A subagent's lines carry its session's id and an `agentId`; its first `user`
line is what it was asked. A turn's last text is its closing: the next prompt, or the end of a file that grows no more,
says that it was the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.facts import Counting, Origin, column_text, milliseconds
from siftd.clients.gemini_parts import text_of
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.qwen_code.facts import FACTS, answer_of, failure_of, known_tool, typed_prompt
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of a line that are read."""

    uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: Any = None
    type: Any = None
    subtype: Any = None
    provenance: Any = None
    cwd: str | None = None
    git_branch: str | None = None
    message: Any = None
    system_payload: Any = None
    tool_call_result: Any = None


class _Call(NamedTuple):
    tool: str
    tool_input: Any


class _Closing(NamedTuple):
    """The last words so far."""

    origin: Origin
    text: str
    record_id: str | None


_DECODER = msgspec.json.Decoder(Record)
_DETACHED = "HEAD"


def head_of(lines: Iterable[bytes]) -> Head:
    """Return whose a file is; reads no further than needed."""
    session_id = cwd = agent_id = None
    for line in lines:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected:
            continue
        session_id, agent_id = session_id or record.session_id, agent_id or record.agent_id
        cwd = cwd or record.cwd
        if session_id and cwd:
            break
    return Head(session_id, cwd, agent_id)


class ChatReader:
    """Reads line after line. The state between them: open calls, the turn's last words, the time."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._calls: dict[str, _Call] = {}
        self._closing: _Closing | None = None
        self._ts: int | None = None
        self._started = False
        self._media = False
        self._counted = Counting()

    @property
    def is_between(self) -> bool:
        return not (self._calls or self._closing)

    def read(self, raw: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            record = decode_as(raw, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        self._ts = milliseconds(record.timestamp) or self._ts
        session_id = record.session_id or self._session_id
        if not session_id or self._ts is None:
            yield Skipped("no_session_or_time")
            return
        origin = Origin(
            session_id=column_text(session_id),
            ts=self._ts,
            cwd=column_text(record.cwd) if record.cwd else None,
            branch=record.git_branch if record.git_branch != _DETACHED else None,
            agent_id=record.agent_id,
            from_file=True,
        )
        if not self._started and not origin.agent_id:
            self._started = True
            yield FACTS.change(origin, "start")
        self._media = may_hold_media(raw)
        match record.type:
            case "user":
                yield from self._user(record, origin)
            case "assistant":
                yield from self._assistant(record, origin)
            case "tool_result":
                yield from self._results(record, origin)
            case "system" if record.subtype == "chat_compression":
                yield from self._compacted(record, origin)

    def finish(self, complete: bool) -> Iterator[Event]:
        """What was said last is a closing once nothing can follow."""
        if complete:
            yield from self._end_turn()

    def _user(self, record: Record, origin: Origin) -> Iterator[Event]:
        if origin.agent_id or record.provenance not in (None, "real_user"):
            return
        shown = record.system_payload.get("displayText") if isinstance(record.system_payload, dict) else None
        prompt = typed_prompt(shown if isinstance(shown, str) else text_of(_parts(record)))
        if prompt is not None:
            yield from self._end_turn()
            yield self._counted(FACTS.prompt(origin, prompt))

    def _assistant(self, record: Record, origin: Origin) -> Iterator[Event]:
        for part in _parts(record):
            call = part.get("functionCall") if isinstance(part, dict) else None
            if isinstance(call, dict) and isinstance(call.get("id"), str) and isinstance(name := call.get("name"), str):
                tool_input = without_media(call.get("args")) if self._media else call.get("args")
                self._calls[call["id"]] = _Call(column_text(name), tool_input)
                yield from self._say()
            elif isinstance(part, dict) and part.get("thought") is not True and (text := text_of(part).strip()):
                yield from self._say()
                self._closing = _Closing(origin, text, record.uuid)

    def _results(self, record: Record, origin: Origin) -> Iterator[Decoded]:
        result = record.tool_call_result if isinstance(record.tool_call_result, dict) else {}
        for part in _parts(record):
            given = part.get("functionResponse") if isinstance(part, dict) else None
            if not isinstance(given, dict):
                continue
            call_id = given.get("id")
            call = self._calls.pop(call_id, None) if isinstance(call_id, str) else None
            if call is None:
                yield Skipped("orphan_result")
                continue
            response: dict[str, Any] = given["response"] if isinstance(given.get("response"), dict) else {}
            status = result.get("status")
            if status == "cancelled" or "error" in response or status == "error":
                error = response.get("error") or response.get("output") or ""
                answer = failure_of(call.tool, call.tool_input, error, is_interrupt=status == "cancelled")
                if result.get("executionStatus") == "not_started":
                    answer = answer._replace(payload=answer.payload | {"_unhooked": "not started"})
            else:
                answer = answer_of(call.tool, call.tool_input, response.get("output"))
            yield FACTS.call(origin, call.tool, known_tool(call.tool), call_id, call.tool_input, answer)

    def _compacted(self, record: Record, origin: Origin) -> Iterator[Decoded]:
        """A history made shorter: its first message is the summary."""
        payload = record.system_payload if isinstance(record.system_payload, dict) else {}
        history = payload.get("compressedHistory")
        first = history[0] if isinstance(history, list) and history else None
        text = text_of(first.get("parts")).strip() if isinstance(first, dict) else ""
        if text:
            yield FACTS.change(origin, "compact")
            yield FACTS.compacted(origin, text, record.uuid)

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said in the middle of a turn: something else has followed."""
        said, self._closing = self._closing, None
        if said:
            yield self._counted(FACTS.said(said.origin, said.text, said.record_id))

    def _end_turn(self) -> Iterator[Event]:
        closing, self._closing = self._closing, None
        if closing:
            yield self._counted(FACTS.end(closing.origin, closing.text))


def _parts(record: Record) -> list[Any]:
    parts = record.message.get("parts") if isinstance(record.message, dict) else None
    return parts if isinstance(parts, list) else []
