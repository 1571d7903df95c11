"""Claude Code's transcripts: the events of a session, read from its file's lines.

A transcript tells what the hooks would have told, and more:

- what the agent says between its tool calls. A turn's last text is its closing, which the turn's end brings, and is
  told once;
- calls that no hook reports, because the input failed validation, permission was not given, or a parallel call's
  failure cancelled them. Those are marked with `_unhooked` in the payload;
- what a person typed while the agent was at work, where the client took it up in the middle of a turn (`remove`);
  what waits for the turn's end (`dequeue`) comes again as a prompt, and what is taken back (`popAll`) was not said;
- what a subagent in the background answered;
- the summary of a session that a compaction leaves.

A subagent's file carries its parent's session id and an `agentId`; its first user line is what the agent was asked,
not a prompt. What the client writes in the model's place (`<synthetic>`, an API's errors) nobody said.

The format is the client's own and changes without notice, so every field is doubted. Clients before 2.1.50
write no `promptId` and no `stop_reason`: there a prompt's text and its how-manieth time are its identity, and
a turn is over when the next one begins or a `system` record says so.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from siftd.clients.claude_code.facts import (
    CLIENT,
    Origin,
    between,
    compaction_event,
    prompt_event,
    settle_input,
    stop_event,
    text_event,
    tool_event,
    typed_prompt,
)
from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.facts import column_text
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, Outcome, SessionChange


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of a line that are read."""

    type: Any = None
    subtype: Any = None
    uuid: str | None = None
    operation: Any = None
    content: Any = None
    session_id: str | None = None
    agent_id: str | None = None
    prompt_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    message: Any = None
    tool_use_result: Any = None
    attachment: Any = None


DETACHED = "HEAD"
"""What the client calls the branch where none is checked out."""


class _Call(NamedTuple):
    tool: str
    tool_input: Any


class _Closing(NamedTuple):
    """The last words so far of a turn, and whether the model said that it is done (None: this client never says)."""

    origin: Origin
    text: str
    record_id: str | None
    message_id: Any
    ended: bool | None


_DECODER = msgspec.json.Decoder(Record)

_NOTHING_SAID = frozenset(("", "(no content)"))
_SYNTHETIC = "<synthetic>"
_AGENT_ID = re.compile(r"[\w-]{1,64}")
"""As clients make them; between the tags of a notification anything may stand."""
_QUEUED_MAX = 100
"""Prompts that wait in the client's queue at once, as far as it is followed."""

TURN_ENDS = ("stop_hook_summary", "turn_duration")
"""The `system` records that follow a turn's last word."""

UNHOOKED = (
    ("<tool_use_error>Sibling tool call errored", "cancelled"),
    ("<tool_use_error>Cancelled:", "cancelled"),
    ("<tool_use_error>", "validation"),
    ("The user doesn't want to proceed with this tool use", "rejected"),
    ("The user doesn't want to take this action right now", "rejected"),
    ("[Request interrupted by user for tool use]", "rejected"),
    ("Claude requested permissions to ", "denied"),
    ("Permission to use ", "denied"),
    ("PreToolUse:", "denied"),
)
"""How a failure begins that reaches neither PostToolUse nor PostToolUseFailure, and why it does not."""


def transcript_head(lines: Iterable[bytes]) -> Head:
    """Session, folder and agent, each from the first line that names it; reads no further than needed."""
    session_id = cwd = agent_id = None
    for line in lines:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected:
            continue
        session_id = session_id or record.session_id
        agent_id = agent_id or record.agent_id
        cwd = cwd or record.cwd
        if session_id and cwd:
            break
    return Head(session_id, cwd, agent_id)


class TranscriptReader:
    """Reads line after line. The state between them: open calls, the turn's id and last words, what a person typed
    meanwhile, the time, how often a text came."""

    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.calls: dict[str, _Call] = {}
        self.closing: _Closing | None = None
        self.queued: deque[str] = deque(maxlen=_QUEUED_MAX)
        self.taken_up: Counter[str] = Counter()
        """Queued prompts of this turn that were told, by their text: most clients tell of them once more."""
        self.started_agents: dict[str, str | None] = {}
        """In which turn each subagent was started: one in the background may answer in a later one."""
        self.prompt_id: str | None = None
        self.ts: int | None = None
        self.started = False
        self.has_media = False
        self.seen: Counter[tuple[str, ...]] = Counter()

    def read(self, line: bytes) -> Iterator[Decoded]:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        if record.type not in ("user", "assistant", "system", "attachment", "queue-operation"):
            return
        self.ts = _milliseconds(record.timestamp) or self.ts
        origin = self._origin(record)
        if origin is None:
            yield Skipped("no_session_or_time")
            return
        if not self.started and not origin.agent_id:
            self.started = True
            yield _change(origin, "start")
        self.has_media = may_hold_media(line)
        match record.type:
            case "user":
                yield from self._user(record, origin)
            case "assistant":
                yield from self._assistant(record, origin)
            case "system":
                yield from self._system(record, origin)
            case "attachment":
                yield from self._attachment(record, origin)
            case "queue-operation":
                yield from self._queue(record, origin)

    def finish(self, complete: bool) -> Iterator[Event]:
        """A turn that the model has ended is over, though nothing follows it. What it said last without ending was no
        closing, once nothing can follow."""
        if self.closing and (self.closing.ended or (complete and self.closing.ended is None)):
            yield from self._close_turn()
        elif complete:
            yield from self._say()

    @property
    def is_between(self) -> bool:
        """Whether nothing is open: a reader that begins with the next line tells the same as this one, but for the
        counts of what has no id."""
        return not (self.calls or self.closing or self.queued)

    def _origin(self, record: Record) -> Origin | None:
        session_id = record.session_id or self.session_id
        if not session_id or self.ts is None:
            return None
        return Origin(
            session_id=column_text(session_id),
            ts=self.ts,
            cwd=column_text(record.cwd) if record.cwd else None,
            branch=record.git_branch if record.git_branch != DETACHED else None,
            prompt_id=record.prompt_id or self.prompt_id,
            agent_id=record.agent_id,
            from_transcript=True,
        )

    # What a person or a tool says ---------------------------------------------------------------------

    def _user(self, record: Record, origin: Origin) -> Iterator[Event | Skipped]:
        self.prompt_id = origin.prompt_id
        content = _member(record.message, "content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            if _member(block, "type") == "tool_result":
                yield from self._result(record, origin, block)
        if record.is_compact_summary and not record.is_sidechain:
            yield self._counted(compaction_event(origin, _text_of(blocks), record.uuid))
        if record.is_meta or record.is_compact_summary or record.is_visible_in_transcript_only or record.is_sidechain:
            return
        has_result = any(_member(block, "type") == "tool_result" for block in blocks)
        yield from self._prompt(origin, _text_of(blocks), has_result)

    def _prompt(self, origin: Origin, text: str, has_result: bool) -> Iterator[Event]:
        if text.startswith("[Request interrupted by user"):
            yield from self._say()  # no hook runs when a person stops the turn
            return
        prompt = typed_prompt(text)
        if prompt is None and "<task-notification>" not in text:
            return
        if prompt is not None and has_result and self._was_taken_up(prompt):
            return
        yield from self._close_turn()
        if prompt is not None:
            yield self._counted(prompt_event(origin, prompt))
        else:
            yield from self._notification(origin, text)

    def _queue(self, record: Record, origin: Origin) -> Iterator[Event]:
        """What a person, or a task in the background, says while the agent is at work."""
        match record.operation:
            case "enqueue":
                self.queued.append(record.content if isinstance(record.content, str) else "")
            case "popAll":
                self.queued.clear()
            case "dequeue" if self.queued:
                self.queued.popleft()
            case "remove" if self.queued:
                text = self.queued.popleft()
                prompt = typed_prompt(text)
                if prompt is not None:
                    self.taken_up[prompt] += 1
                    yield self._counted(prompt_event(origin, prompt))
                else:
                    yield from self._notification(origin, text)

    def _was_taken_up(self, prompt: str) -> bool:
        """Whether this is a queued prompt that was told."""
        if not self.taken_up[prompt]:
            return False
        self.taken_up[prompt] -= 1
        return True

    def _notification(self, origin: Origin, text: str) -> Iterator[Event]:
        """The answer of a subagent that ran in the background, as its own hook tells it."""
        agent_id, answer = between(text, "<task-id>", "</task-id>"), between(text, "<result>", "</result>")
        if agent_id and _AGENT_ID.fullmatch(agent_id.strip()) and answer and answer.strip():
            agent_id = agent_id.strip()
            turn = self.started_agents.get(agent_id)
            yield stop_event(msgspec.structs.replace(origin, agent_id=agent_id, prompt_id=turn), answer)

    def _result(self, record: Record, origin: Origin, block: Any) -> Iterator[Event | Skipped]:
        tool_use_id = _member(block, "tool_use_id")
        call = self.calls.pop(tool_use_id, None) if isinstance(tool_use_id, str) else None
        if call is None:
            yield Skipped("orphan_result")
            return
        content, structured = self._without_media(block.get("content")), self._without_media(record.tool_use_result)
        if block.get("is_error") is True:
            answer, outcome = _failure(content)
        else:
            # A subagent's file has no structured results, only what its model saw.
            answer = {"tool_response": content if structured is None else structured}
            outcome = "interrupted" if _member(structured, "interrupted") is True else "ok"
        event = tool_event(origin, call.tool, tool_use_id, call.tool_input, answer, outcome)
        if event.spawned_agent_id:
            self.started_agents[event.spawned_agent_id] = origin.prompt_id
        yield event

    def _attachment(self, record: Record, origin: Origin) -> Iterator[Event]:
        """A prompt typed while the agent was at work; everything else attached was injected."""
        attachment = record.attachment
        if _member(attachment, "type") != "queued_command" or _member(attachment, "commandMode") != "prompt":
            return
        content = attachment.get("prompt")
        prompt = typed_prompt(content if isinstance(content, str) else _text_of(content))
        if prompt is not None and not record.is_sidechain and not self._was_taken_up(prompt):
            yield self._counted(prompt_event(origin, prompt))

    # What the model says ------------------------------------------------------------------------------

    def _assistant(self, record: Record, origin: Origin) -> Iterator[Event]:
        if record.is_api_error_message or _member(record.message, "model") == _SYNTHETIC:
            return
        message_id = _member(record.message, "id")
        if self.closing and self.closing.ended and self.closing.message_id != message_id:
            yield from self._close_turn()
        content = _member(record.message, "content")
        for block in content if isinstance(content, list) else []:
            kind, name = _member(block, "type"), _member(block, "name")
            if kind == "tool_use" and isinstance(name, str) and isinstance(block.get("id"), str):
                tool_input = settle_input(name, block.get("input"), origin.cwd)
                self.calls[block["id"]] = _Call(column_text(name), self._without_media(tool_input))
                yield from self._say()
            elif kind == "text" and _is_said(block.get("text")) and _has_turns(record):
                yield from self._say()
                stop_reason = _member(record.message, "stop_reason")
                ended = None if stop_reason is None else stop_reason == "end_turn"
                self.closing = _Closing(origin, block["text"], record.uuid, message_id, ended)

    def _system(self, record: Record, origin: Origin) -> Iterator[Event | SessionChange]:
        if record.subtype in TURN_ENDS:
            yield from self._close_turn()
        elif record.subtype == "compact_boundary":
            yield _change(origin, "compact")

    def _say(self) -> Iterator[Event]:
        """Tell the last words as said in the middle of a turn: something else has followed."""
        said, self.closing = self.closing, None
        if said:
            yield self._counted(text_event(said.origin, said.text, said.record_id))

    def _close_turn(self) -> Iterator[Event]:
        closing, self.closing = self.closing, None
        self.taken_up.clear()
        if closing:
            yield self._counted(stop_event(closing.origin, closing.text))

    def _without_media(self, value: Any) -> Any:
        return without_media(value) if self.has_media else value

    def _counted(self, event: Event) -> Event:
        """The event with its how-manieth time, where the client gave no id."""
        if event.native_id is not None:
            return event
        self.seen[event.identity] += 1
        return msgspec.structs.replace(event, occurrence=self.seen[event.identity])


def _has_turns(record: Record) -> bool:
    """Whether this text can be a turn's last word: a subagent's inside a main file, as old clients wrote it, cannot."""
    return not record.is_sidechain or record.agent_id is not None


def _is_said(text: Any) -> bool:
    return isinstance(text, str) and text.strip() not in _NOTHING_SAID


def _failure(content: Any) -> tuple[dict[str, Any], Outcome]:
    """What a failed call answers, marked where no hook told it, and how it ended."""
    text = content if isinstance(content, str) else _text_of(content)
    reason = next((reason for start, reason in UNHOOKED if text.startswith(start)), None)
    answer = {"error": text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")}
    if reason:
        answer["_unhooked"] = reason
    return answer, "interrupted" if reason in ("rejected", "cancelled") else "failed"


def _text_of(blocks: Any) -> str:
    """The text blocks of a message, as hooks join them."""
    texts = [_member(block, "text") for block in blocks] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _milliseconds(timestamp: str | None) -> int | None:
    try:
        return round(datetime.fromisoformat(timestamp or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _change(origin: Origin, change: Any) -> SessionChange:
    return SessionChange(client=CLIENT, session_id=origin.session_id, change=change, ts=origin.ts, cwd=origin.cwd)
