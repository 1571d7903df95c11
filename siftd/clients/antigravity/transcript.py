"""Antigravity's conversations as lines, each a step (`transcript_full.jsonl`; published, of agy 1.1 and 1.3):

    {"step_index":1,"source":"USER_EXPLICIT","type":"USER_INPUT","created_at":"…","content":"<USER_REQUEST>…"}
    {"step_index":2,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":"…","tool_calls":[{"name":…,"args":{…}}]}
    {"step_index":3,"source":"MODEL","type":"RUN_COMMAND","status":"DONE","content":"…"}
    {"step_index":9,"source":"SYSTEM","type":"CHECKPOINT","content":"…"}

A step of a tool comes behind the response that called it, in the order of the calls. Of a conversation's database
`siftd.clients.antigravity.steps` makes such lines too, with calls that are whole: `"type":"CALL"`, `name`, `args`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from siftd.clients.antigravity.facts import FACTS, answer_of, call_event, step_id, typed_prompt
from siftd.clients.client import Decoded, Skipped
from siftd.clients.facts import Origin, column_text, milliseconds
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event


class Step(msgspec.Struct, kw_only=True):
    """The fields of a line that are read."""

    step_index: Any = None
    source: Any = None
    type: Any = None
    status: Any = None
    created_at: Any = None
    content: Any = None
    error: Any = None
    tool_calls: Any = None
    name: Any = None
    args: Any = None


class _Closing(NamedTuple):
    """The last words so far."""

    origin: Origin
    text: str
    step: int


DECODER = msgspec.json.Decoder(Step)
FAILED = ("ERROR", "FAILED", "CANCELED", "CANCELLED")
_CALLS_MAX = 100


class StepReader:
    """Reads line after line. The state between them: open calls, the turn's last words."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._calls: deque[dict[str, Any]] = deque(maxlen=_CALLS_MAX)
        self._closing: _Closing | None = None
        self._ts: int | None = None
        self._started = False

    @property
    def is_between(self) -> bool:
        return not (self._calls or self._closing)

    def read(self, raw: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            step = decode_as(raw, DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        self._ts = milliseconds(step.created_at) or self._ts
        if not isinstance(step.step_index, int) or not isinstance(step.type, str):
            return
        if self._session_id is None or self._ts is None:
            yield Skipped("no_session_or_time")
            return
        origin = Origin(session_id=column_text(self._session_id), ts=self._ts, from_file=True)
        if not self._started:
            self._started = True
            yield FACTS.change(origin, "start")
        content = step.content if isinstance(step.content, str) else ""
        if may_hold_media(raw):
            content, step.args = without_media(content), without_media(step.args)
        yield from self._step(step, step.step_index, origin, content)

    def finish(self, complete: bool) -> Iterator[Event]:
        """What was said last is a closing once nothing can follow."""
        if complete:
            yield from self._end_turn()

    def _step(self, step: Step, index: int, origin: Origin, content: str) -> Iterator[Decoded]:
        match step.type:
            case "USER_INPUT":
                self._calls.clear()
                if (text := typed_prompt(content)) is not None:
                    yield from self._end_turn()
                    yield FACTS.prompt(_of_step(origin, index), text)
            case "PLANNER_RESPONSE":
                yield from self._say()
                calls = step.tool_calls if isinstance(step.tool_calls, list) else []
                self._calls = deque((each for each in calls if isinstance(each, dict)), maxlen=_CALLS_MAX)
                if content.strip():
                    self._closing = _Closing(origin, content, index)
                if self._calls:
                    yield from self._say()
            case "CHECKPOINT":
                yield FACTS.change(origin, "compact")
                if content.strip():
                    yield FACTS.compacted(origin, content, step_id(origin.session_id, index))
            case "CALL" if isinstance(step.name, str) and step.name:
                yield from self._say()
                yield call_event(origin, column_text(step.name), step.args, index, answer_of(content, step.error))
            case _ if step.source not in ("SYSTEM", "USER_EXPLICIT", "USER_IMPLICIT") and self._calls:
                yield from self._result(step, index, origin, content)

    def _result(self, step: Step, index: int, origin: Origin, content: str) -> Iterator[Event]:
        call = self._calls.popleft()
        name = call.get("name")
        if isinstance(name, str) and name:
            error = step.error or (step.status if step.status in FAILED else None)
            if error in FAILED and content:
                error, content = content, ""
            yield call_event(origin, column_text(name), call.get("args"), index, answer_of(content, error))

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said in the middle of a turn: something else has followed."""
        said, self._closing = self._closing, None
        if said:
            yield FACTS.said(said.origin, said.text, step_id(said.origin.session_id, said.step))

    def _end_turn(self) -> Iterator[Event]:
        closing, self._closing = self._closing, None
        if closing:
            yield FACTS.end(_of_step(closing.origin, closing.step), closing.text)


def _of_step(origin: Origin, step: int) -> Origin:
    return msgspec.structs.replace(origin, prompt_id=step_id(origin.session_id, step))
