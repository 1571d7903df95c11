"""Kimi Code's session files, one of the session and one of each subagent (`siftd.clients.kimi_code.files`).

Of their records (protocol 1.5) these are read, each with `time` in milliseconds:

    profile.bind               environmentDisclosure.cwd
    turn.prompt                input, promptId, turnId, origin.kind: `user` where a person typed it
    context.append_loop_event  event: tool.call{toolCallId,name,args}, tool.result{toolCallId,result{output,isError}},
                               content.part{part{type,text}}
    turn.ended                 the turn's last words are its closing
    subagent.spawned           subagentId, parentToolCallId
    context.apply_compaction   summary
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.facts import Counting, Origin, column_text, milliseconds
from siftd.clients.kimi_code.facts import (
    FACTS,
    answer_of,
    failure_of,
    known_tool,
    settle_input,
    typed_prompt,
)
from siftd.clients.kimi_code.files import MAIN, folder_of, whose
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of a line that are read."""

    type: Any = None
    time: Any = None
    agent_id: Any = None
    environment_disclosure: Any = None
    input: Any = None
    origin: Any = None
    prompt_id: Any = None
    event: Any = None
    subagent_id: Any = None
    parent_tool_call_id: Any = None
    summary: Any = None


class _Call(NamedTuple):
    tool: str
    tool_input: Any


class _Closing(NamedTuple):
    """The last words so far."""

    origin: Origin
    text: str
    record_id: str | None


_DECODER = msgspec.json.Decoder(Record)


def head_of(path: str, lines: Iterable[bytes]) -> Head:
    """Return whose a file is, by its path, the folder by one of its first lines or the client's index."""
    session_id, agent_id = whose(path)
    if session_id is None:
        return Head(None, None, None)
    for raw in lines:
        try:
            record = decode_as(raw, _DECODER)
        except EnvelopeRejected:
            continue
        disclosed = record.environment_disclosure
        if isinstance(disclosed, dict) and isinstance(cwd := disclosed.get("cwd"), str) and cwd:
            return Head(session_id, cwd, agent_id)
        if record.type == "turn.prompt":
            break
    return Head(session_id, folder_of(path, session_id), agent_id)


class WireReader:
    """Reads line after line. The state between them: open calls, the turn's id and last words."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._calls: dict[str, _Call] = {}
        self._spawned: dict[str, str] = {}
        self._closing: _Closing | None = None
        self._prompt_id: str | None = None
        self._cwd: str | None = None
        self._agent: str | None = None
        self._started = False
        self._media = False
        self._counted = Counting()

    @property
    def is_between(self) -> bool:
        return not (self._calls or self._closing or self._prompt_id)

    def read(self, raw: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            record = decode_as(raw, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        if isinstance(disclosed := record.environment_disclosure, dict) and isinstance(
            cwd := disclosed.get("cwd"), str
        ):
            self._cwd = column_text(cwd)
        ts = milliseconds(record.time)
        if self._session_id is None or ts is None:
            return
        if self._agent is None and isinstance(record.agent_id, str):
            self._agent = record.agent_id
        agent_id = None if self._agent in (None, MAIN) else self._agent
        origin = Origin(
            session_id=column_text(self._session_id), ts=ts, cwd=self._cwd, agent_id=agent_id, from_file=True
        )
        if not self._started and self._agent == MAIN:
            self._started = True
            yield FACTS.change(origin, "start")
        self._media = may_hold_media(raw)
        match record.type:
            case "turn.prompt":
                yield from self._prompt(record, origin)
            case "context.append_loop_event" if isinstance(record.event, dict):
                yield from self._event(record.event, origin)
            case "turn.ended":
                yield from self._end_turn()
            case "subagent.spawned" if isinstance(record.subagent_id, str):
                if isinstance(record.parent_tool_call_id, str):
                    self._spawned[record.parent_tool_call_id] = record.subagent_id
            case "context.apply_compaction" if isinstance(record.summary, str) and record.summary.strip():
                yield FACTS.change(origin, "compact")
                yield self._counted(FACTS.compacted(origin, record.summary, None))

    def finish(self, complete: bool) -> Iterator[Event]:
        """What was said last without the turn's end was no closing, once nothing can follow."""
        if complete:
            yield from self._say()

    def _prompt(self, record: Record, origin: Origin) -> Iterator[Event]:
        yield from self._say()
        self._prompt_id = record.prompt_id if isinstance(record.prompt_id, str) else None
        kind = record.origin.get("kind") if isinstance(record.origin, dict) else None
        prompt = typed_prompt(record.input)
        if kind == "user" and prompt is not None:
            yield self._counted(FACTS.prompt(origin, prompt))

    def _event(self, event: dict[str, Any], origin: Origin) -> Iterator[Decoded]:
        call_id, record_id = event.get("toolCallId"), event.get("uuid")
        match event:
            case {"type": "tool.call", "name": str(tool)} if isinstance(call_id, str):
                tool_input = settle_input(tool, event.get("args"))
                self._calls[call_id] = _Call(
                    column_text(tool), without_media(tool_input) if self._media else tool_input
                )
                yield from self._say()
            case {"type": "tool.result"} if isinstance(call_id, str):
                yield from self._result(call_id, event.get("result"), origin)
            case {"type": "content.part", "part": {"type": "text", "text": str(text)}} if text.strip():
                yield from self._say()
                self._closing = _Closing(origin, text, record_id if isinstance(record_id, str) else None)

    def _result(self, call_id: str, result: Any, origin: Origin) -> Iterator[Decoded]:
        call = self._calls.pop(call_id, None)
        if call is None:
            yield Skipped("orphan_result")
            return
        given = result if isinstance(result, dict) else {"output": result}
        output = without_media(given.get("output")) if self._media else given.get("output")
        answer = failure_of(call.tool, output) if given.get("isError") is True else answer_of(output)
        spawned = self._spawned.pop(call_id, None)
        yield FACTS.call(origin, call.tool, known_tool(call.tool), call_id, call.tool_input, answer, spawned=spawned)

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said in the middle of a turn: something else has followed."""
        said, self._closing = self._closing, None
        if said:
            yield self._counted(FACTS.said(said.origin, said.text, said.record_id))

    def _end_turn(self) -> Iterator[Event]:
        closing, self._closing = self._closing, None
        prompt_id, self._prompt_id = self._prompt_id, None
        if closing:
            origin = msgspec.structs.replace(closing.origin, prompt_id=prompt_id)
            end = FACTS.end(origin, closing.text)
            # An agent is `agent-0` in every session: its end is known by the prompt that began it.
            yield self._counted(msgspec.structs.replace(end, native_id=prompt_id))
