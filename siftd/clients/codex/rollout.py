"""Codex's rollouts: the events of a session, read from its file's lines.

A line is `{timestamp, ordinal, type, payload}`. What was done is told by `item_completed`, with the id that hooks give
(0.16x on), or by the events that came before it. Of the model's own items (`response_item`) only calls count: what no
item tells of, as a patch that did not apply, an unknown tool, a subagent that was started. Messages of the roles user
and developer there are for the most part the client's, and hooks': none is read.

A subagent has a file of its own, which may begin with a copy of its parent's: what is of another thread is passed over.
The last words of a turn come with its end, all others are told as said on the way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.codex import facts
from siftd.clients.codex.items import Done, done_by_event, done_by_item
from siftd.clients.codex.outputs import Outputs, call_of
from siftd.clients.facts import Counting, Origin, column_text, milliseconds
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event

_SEEN_MAX = 10_000
"""Ids of calls that are remembered as told: a call's item and its output stand close together."""
_BEFORE_A_SUMMARY = "use the information in this summary to assist with your own analysis:\n"
"""How the client's own words before the model's account of a session end."""


class Record(msgspec.Struct, kw_only=True):
    """The fields of a line that are read."""

    timestamp: Any = None
    type: Any = None
    payload: Any = None


class _Words(NamedTuple):
    """The agent's last words so far."""

    origin: Origin
    text: str
    id: str | None


_DECODER = msgspec.json.Decoder(Record)


def rollout_head(lines: Iterable[bytes]) -> Head:
    """Whose a file is: its first line says so."""
    for line in lines:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected:
            continue
        if record.type == "session_meta" and isinstance(record.payload, dict):
            session_id, thread = _ids(record.payload)
            return Head(session_id, _text(record.payload, "cwd"), None if thread == session_id else thread)
    return Head(None, None, None)


class RolloutReader:
    """Reads line after line."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where no line names one: reading may begin behind the first."""
        self._session_id = session_id
        self._thread = session_id
        self._has_begun = False
        self._cwd: str | None = None
        self._branch: str | None = None
        self._turn: str | None = None
        self._is_in_turn = False
        self._threads: OrderedDict[str, str] = OrderedDict()
        """By turn, whose it is; items say so, the ends of turns do not."""
        self._outputs = Outputs()
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._spawned: dict[str, str] = {}
        self._words: _Words | None = None
        self._counted = Counting()
        self._has_media = False

    @property
    def is_between(self) -> bool:
        return not self._is_in_turn and self._words is None and self._outputs.is_empty

    def read(self, line: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known. Never raises for what a line holds."""
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        payload = record.payload
        if not isinstance(payload, dict):
            return
        self._has_media = may_hold_media(line)
        ts = milliseconds(record.timestamp)
        if record.type == "session_meta" and not self._has_begun:
            self._begin(payload)
        elif record.type == "turn_context":
            self._cwd = _text(payload, "cwd") or self._cwd
            self._turn = _text(payload, "turn_id") or self._turn
        elif ts is not None and self._session_id:
            yield from self._decode(record, payload, ts)
        elif record.type in ("event_msg", "response_item", "compacted"):
            yield Skipped("no_session_or_time")

    def _decode(self, record: Record, payload: dict[str, Any], ts: int) -> Iterator[Decoded]:
        match record.type:
            case "event_msg":
                yield from self._event(payload, ts)
            case "response_item":
                yield from self._response(payload, ts)
            case "compacted":
                yield from self._compacted(payload, record, ts)

    def finish(self, complete: bool) -> Iterator[Event]:
        """Yield the end of a turn that is over because the file grows no more."""
        if complete:
            yield from self._close(None)

    def _begin(self, meta: Mapping[str, Any]) -> None:
        self._has_begun = True
        session_id, self._thread = _ids(meta)
        self._session_id = session_id or self._session_id
        self._cwd = _text(meta, "cwd")
        git = meta.get("git")
        self._branch = _text(git, "branch") if isinstance(git, dict) else None

    # What is told ----------------------------------------------------------------------------------------

    def _event(self, payload: dict[str, Any], ts: int) -> Iterator[Decoded]:
        kind = payload.get("type")
        self._turn = _text(payload, "turn_id") or self._turn
        origin = self._origin(ts, self._turn)
        match kind:
            case "task_started" | "turn_started":
                yield from self._close(None)
                self._is_in_turn = True
            case "task_complete" | "turn_complete":
                yield from self._close(_text(payload, "last_agent_message") or "", origin)
                self._is_in_turn = False
            case "turn_aborted":
                yield from self._say()
                self._is_in_turn = False
                self._outputs.clear()
            case "item_completed":
                yield from self._item(payload, ts)
            case "user_message":
                yield from self._prompt(origin, payload.get("message"))
            case "agent_message":
                yield from self._speak(origin, payload.get("message"), None)
            case _:
                written = self._outputs.written(payload.get("call_id"))
                yield from self._done(origin, done_by_event(payload, written))

    def _item(self, payload: dict[str, Any], ts: int) -> Iterator[Decoded]:
        item, thread = payload.get("item"), _text(payload, "thread_id")
        if not isinstance(item, dict) or (self._has_begun and thread not in (None, self._thread)):
            return  # a copy of another thread's
        if thread and self._turn:
            self._threads[self._turn] = thread
            if len(self._threads) > _SEEN_MAX:
                self._threads.popitem(last=False)
        origin = self._origin(ts, self._turn)
        match item.get("type"):
            case "UserMessage":
                yield from self._prompt(origin, facts.text_of(item.get("content")))
            case "AgentMessage":
                yield from self._speak(origin, facts.text_of(item.get("content")), _text(item, "id"))
            case "SubAgentActivity":
                if item.get("kind") == "started" and (agent := _text(item, "agent_thread_id")):
                    self._spawned[str(item.get("id"))] = agent
            case _:
                yield from self._done(origin, done_by_item(item, self._outputs.written(item.get("id"))))

    def _response(self, payload: dict[str, Any], ts: int) -> Iterator[Decoded]:
        call_id = payload.get("call_id")
        if not isinstance(call_id, str):
            return
        match payload.get("type"):
            case "function_call" | "custom_tool_call":
                yield from self._say()
                self._outputs.open(call_id, call_of(payload))
            case "function_call_output" | "custom_tool_call_output":
                for done in self._outputs.answer(call_id, payload.get("output")):
                    yield from self._done(self._origin(ts, self._turn), done)

    def _compacted(self, payload: dict[str, Any], record: Record, ts: int) -> Iterator[Event]:
        message = _text(payload, "message") or ""
        summary = message.rpartition(_BEFORE_A_SUMMARY)[2].strip()
        if summary:
            yield from self._say()
            fields = facts.FACTS.compacted(self._origin(ts, self._turn), summary, f"{self._thread}/{record.timestamp}")
            yield self._counted(fields)

    # Facts -----------------------------------------------------------------------------------------------

    def _origin(self, ts: int, turn: str | None) -> Origin:
        thread = self._threads.get(turn or "", self._thread)
        return Origin(
            session_id=column_text(self._session_id or ""),
            ts=ts,
            cwd=self._cwd,
            branch=self._branch,
            prompt_id=turn,
            agent_id=None if thread == self._session_id else thread,
            from_file=True,
        )

    def _prompt(self, origin: Origin, text: Any) -> Iterator[Event]:
        """A subagent's is what its parent asked, no prompt."""
        prompt = facts.typed_prompt(text) if isinstance(text, str) and origin.agent_id is None else None
        if prompt is not None:
            yield from self._close(None)
            yield self._counted(facts.FACTS.prompt(origin, prompt))

    def _speak(self, origin: Origin, text: Any, record_id: str | None) -> Iterator[Event]:
        if not isinstance(text, str) or not text.strip() or (self._words and self._words.text == text):
            return
        yield from self._say()
        self._words = _Words(origin, text, record_id)

    def _done(self, origin: Origin, done: Done | None) -> Iterator[Event]:
        if done is None or done.id in self._seen:
            return
        self._seen[done.id] = None
        if len(self._seen) > _SEEN_MAX:
            self._seen.popitem(last=False)
        yield from self._say()
        tool_input, answer = done.tool_input, done.answer
        if self._has_media:
            tool_input, answer = without_media(tool_input), answer._replace(payload=without_media(answer.payload))
        spawned = self._spawned.pop(done.id, None)
        yield facts.call(origin, column_text(done.tool), done.id, tool_input, answer, spawned=spawned)

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said on the way: something else has followed."""
        said, self._words = self._words, None
        if said:
            yield self._counted(facts.FACTS.said(said.origin, said.text, said.id))

    def _close(self, last: str | None, origin: Origin | None = None) -> Iterator[Event]:
        """Tell a turn's end, with its `last` words; None: nothing says what they were, or that there was a turn."""
        if last is None:
            last, origin = (self._words.text, self._words.origin) if self._words else (None, None)
        if last is None or origin is None:
            return
        if self._words and self._words.text.strip() != last.strip():
            yield from self._say()
        self._words = None
        yield self._counted(facts.FACTS.end(origin, last))


def _ids(meta: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the session and the thread of a file; a subagent's session is its parent's."""
    thread = _text(meta, "id")
    source = meta.get("source")
    subagent = source.get("subagent") if isinstance(source, dict) else None
    spawned = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
    parent = _text(spawned, "parent_thread_id") if isinstance(spawned, dict) else None
    return _text(meta, "session_id") or parent or thread, thread


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None
