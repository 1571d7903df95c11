"""Copilot's session files: the events of `session-state/<session>/events.jsonl`, subagents and all.

A line is `{type, data, id, timestamp, agentId?}`. A call begins with `tool.execution_start` and ends with
`tool.execution_complete`; between them a `hook.start` keeps the time at which hooks were called for it, which is what
names the call there (`siftd.clients.copilot_cli.facts`). A file of a session without hooks has none, and its own ids
name everything. `user.message` has the prompt as it was typed in `content`; messages of another `source` (skills, other
agents) nobody typed. The format is the client's own and changes without notice, so every field is doubted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.copilot_cli.facts import FACTS, account, call_event, called_at, named, without_guidance
from siftd.clients.facts import Origin, column_text, milliseconds
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event

T = TypeVar("T")

OPEN_MAX = 1_000
"""Calls that wait for their end; the oldest goes. Arbitrary."""
TYPED_SOURCES = (None, "", "user")


class Line(msgspec.Struct, kw_only=True):
    """The fields of a line that are read."""

    type: Any = None
    data: Any = None
    id: Any = None
    timestamp: Any = None
    agentId: Any = None  # noqa: N815 - as it is told


class _Call(NamedTuple):
    tool: str
    tool_input: Any
    spawned: str | None = None


class _Hooked(NamedTuple):
    """A hook that was called for the end of a call."""

    tool: str
    tool_input: Any
    native: str


class _Said(NamedTuple):
    origin: Origin
    text: str
    native: str


_decoder = msgspec.json.Decoder(Line)


def head_of(lines: Iterable[bytes]) -> Head:
    """Return whose a file is, by its first line that says so."""
    for raw in lines:
        try:
            line = decode_as(raw, _decoder)
        except EnvelopeRejected:
            continue
        if line.type in ("session.start", "session.resume") and (cwd := _text(_member(line.data, "context"), "cwd")):
            return Head(_text(line.data, "sessionId"), cwd, None)
    return Head(None, None, None)


class SessionReader:
    """Reads line after line. Between them it knows the open calls, the hooks called for what is not told yet, what each
    agent said last, and where the session is."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._cwd: str | None = None
        self._branch: str | None = None
        self._ts: int | None = None
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._hooked: deque[_Hooked] = deque(maxlen=OPEN_MAX)
        """What hooks were called for and no end has told yet."""
        self._prompted: OrderedDict[str, str] = OrderedDict()
        """What hooks were called for and no message has told yet: by the prompt, when."""
        self._closing: tuple[Origin, str] | None = None
        """The message that may have ended a turn, by its id."""
        self._answers: dict[str, _Said] = {}
        """What each subagent said last: its answer, if it ends now."""

    @property
    def is_between(self) -> bool:
        return not (self._calls or self._hooked or self._prompted or self._closing or self._answers)

    def read(self, raw: bytes) -> Iterator[Decoded]:
        try:
            line = decode_as(raw, _decoder)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        read = _READERS.get(line.type) if isinstance(line.type, str) else None
        if read is None or not isinstance(line.data, dict):
            return
        self._ts = milliseconds(line.timestamp) or self._ts
        if line.type in ("session.start", "session.resume"):
            self._place(line.data)
        if self._session_id is None or self._ts is None:
            yield Skipped("no_session_or_time")
            return
        if may_hold_media(raw):
            line = msgspec.structs.replace(line, data=without_media(line.data))
        yield from read(self, line, self._origin(line, self._session_id, self._ts))

    def finish(self, complete: bool) -> Iterator[Event]:
        """Tell the end of a turn that nothing follows, where no hook told it."""
        if complete:
            yield from self._end_turn()
            yield from self._give_up()

    def _place(self, data: dict[str, Any]) -> None:
        context = _member(data, "context")
        self._session_id = self._session_id or _text(data, "sessionId")
        self._cwd = _text(context, "cwd") or self._cwd
        self._branch = _text(context, "branch") or self._branch

    def _origin(self, line: Line, session_id: str, ts: int) -> Origin:
        agent = line.agentId if isinstance(line.agentId, str) and line.agentId else None
        return Origin(
            session_id=column_text(session_id),
            ts=ts,
            cwd=column_text(self._cwd) if self._cwd else None,
            branch=self._branch,
            agent_id=column_text(agent) if agent else None,
            from_file=True,
        )

    def _session(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        yield from self._end_turn()
        yield from self._give_up()
        if line.type == "session.start":
            yield FACTS.change(origin, "start")

    def _hook(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        """Remember for what a hook was called, and when; an end has no record of its own."""
        kind, given = line.data.get("hookType"), _member(line.data, "input")
        native = called_at(_member(given, "timestamp"))
        if native is None:
            return
        match kind:
            case "postToolUse" | "postToolUseFailure" if tool := _text(given, "toolName"):
                self._hooked.append(_Hooked(tool, _member(given, "toolArgs"), native))
            case "userPromptSubmitted" if not origin.agent_id and (prompt := _text(given, "prompt")):
                _put(self._prompted, prompt.strip(), native)
            case "agentStop" if not origin.agent_id:
                self._closing = None
                yield FACTS.end(named(origin, native), "")

    def _name_of(self, call: _Call) -> str | None:
        """Return the name that a hook gave the call that ends now: one with its input, else the first of its tool."""
        hooks = [each for each in self._hooked if each.tool == call.tool]
        alike = [each for each in hooks if each.tool_input == call.tool_input]
        for each in (alike or hooks)[:1]:
            self._hooked.remove(each)
            return each.native
        return None

    def _prompt(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        text = (_text(line.data, "content") or "").strip()
        if origin.agent_id or line.data.get("source") not in TYPED_SOURCES:
            return
        yield from self._end_turn()
        native = self._prompted.pop(text, None)
        if native is None and self._prompted:  # a hook has changed what was typed
            text, native = self._prompted.popitem(last=False)
        if text:
            yield FACTS.prompt(named(origin, native or _id(line, "messageId")), text)

    def _said(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        text, native = (_text(line.data, "content") or "").strip(), _id(line, "messageId")
        if native is None:
            return
        if origin.agent_id is None:
            self._closing = None if line.data.get("toolRequests") else (origin, native)
            if text:
                yield FACTS.said(origin, text, native)
        elif text:
            before = self._answers.get(origin.agent_id)
            self._answers[origin.agent_id] = _Said(origin, text, native)
            if before is not None:
                yield FACTS.said(*before)

    def _begin_call(self, line: Line, origin: Origin) -> Iterator[Decoded]:  # noqa: ARG002
        key, tool = _text(line.data, "toolCallId"), _text(line.data, "toolName")
        if key and tool:
            _put(self._calls, key, _Call(tool, line.data.get("arguments")))
        yield from ()

    def _end_call(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        key = _text(line.data, "toolCallId")
        call = self._calls.pop(key, None) if key else None
        if call is None or key is None:
            yield Skipped("orphan_result")
            return
        answer: dict[str, Any]
        if line.data.get("success") is False:
            answer = {"error": _text(line.data.get("error"), "message") or ""}
        else:
            text = _text(line.data.get("result"), "content") or ""
            answer = {"tool_response": without_guidance(text, call.tool)}
        yield call_event(FACTS, origin, call.tool, call.tool_input, answer, self._name_of(call) or key, call.spawned)

    def _begin_agent(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        key = _text(line.data, "toolCallId")
        if key is not None and key in self._calls and origin.agent_id:
            self._calls[key] = self._calls[key]._replace(spawned=origin.agent_id)
        yield from ()

    def _end_agent(self, line: Line, origin: Origin) -> Iterator[Decoded]:  # noqa: ARG002
        if origin.agent_id:
            answer = self._answers.pop(origin.agent_id, None)
            yield FACTS.end(origin, answer.text if answer else "")

    def _compaction(self, line: Line, origin: Origin) -> Iterator[Decoded]:
        native, summary = _id(line, "compactionAttemptId"), _text(line.data, "summaryContent")
        if line.data.get("success") is True:
            yield FACTS.change(origin, "compact")
            if native and summary and summary.strip():
                yield FACTS.compacted(origin, account(summary), native)

    def _shutdown(self, line: Line, origin: Origin) -> Iterator[Decoded]:  # noqa: ARG002
        yield from self._end_turn()
        yield from self._give_up()

    def _end_turn(self) -> Iterator[Event]:
        """Tell the end of a turn of which no hook told."""
        closing, self._closing = self._closing, None
        if closing is not None:
            yield FACTS.end(named(*closing), "")

    def _give_up(self) -> Iterator[Event]:
        """The program has ended: what is open has no end. What its subagents said last were no answers."""
        said, self._answers = self._answers, {}
        self._calls.clear()
        self._hooked.clear()
        self._prompted.clear()
        for each in said.values():
            yield FACTS.said(*each)


_READERS = {
    "session.start": SessionReader._session,
    "session.resume": SessionReader._session,
    "session.shutdown": SessionReader._shutdown,
    "session.compaction_complete": SessionReader._compaction,
    "hook.start": SessionReader._hook,
    "user.message": SessionReader._prompt,
    "assistant.message": SessionReader._said,
    "tool.execution_start": SessionReader._begin_call,
    "tool.execution_complete": SessionReader._end_call,
    "subagent.started": SessionReader._begin_agent,
    "subagent.completed": SessionReader._end_agent,
}


def _put(waiting: OrderedDict[str, T], key: str, what: T) -> None:
    waiting[key] = what
    if len(waiting) > OPEN_MAX:
        waiting.popitem(last=False)


def _id(line: Line, key: str) -> str | None:
    return _text(line.data, key) or (line.id if isinstance(line.id, str) and line.id else None)


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: Any, key: str) -> str | None:
    found = _member(value, key)
    return found if isinstance(found, str) and found else None
