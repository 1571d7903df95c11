"""Claude Code's transcripts: the events of a session, read from its file's lines.

A transcript tells what the hooks would have told, and more: calls that no hook reports, because the input
failed validation, permission was not given, or a parallel call's failure cancelled them. Those are marked
with `_unhooked` in the payload. A subagent's file carries its parent's session id and an `agentId`; its first
user line is what the agent was asked, not a prompt.

The format is the client's own and changes without notice, so every field is doubted. Clients before 2.1.50
write no `promptId` and no `stop_reason`: there a prompt's text and its how-manieth time are its identity, and
a turn is over when the next one begins or a `system` record says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from siftd.clients.claude_facts import (
    CLIENT,
    Origin,
    column_text,
    prompt_event,
    settle_input,
    stop_event,
    tool_event,
    typed_prompt,
)
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.model import Event, Outcome, SessionChange


class Skipped(msgspec.Struct, frozen=True):
    """A line that should have told something and could not: `reason` is a short, countable name."""

    reason: str


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of a line that are read."""

    type: Any = None
    subtype: Any = None
    session_id: str | None = None
    agent_id: str | None = None
    prompt_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    message: Any = None
    tool_use_result: Any = None
    attachment: Any = None


class TranscriptHead(NamedTuple):
    """Whose transcript it is: what its first records say."""

    session_id: str | None
    cwd: str | None
    agent_id: str | None


class _Call(NamedTuple):
    tool: str
    tool_input: Any


class _Closing(NamedTuple):
    """The last words so far of a turn, and whether the model said that it is done (None: this client never says)."""

    origin: Origin
    text: str
    message_id: Any
    ended: bool | None


_DECODER = msgspec.json.Decoder(Record)

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


def read_transcript(
    lines: Iterable[bytes], *, session_id: str | None = None, complete: bool = False
) -> Iterator[Event | SessionChange | Skipped]:
    """Everything a whole transcript tells, from its first line, in the file's order.

    `session_id` stands in where records name none. Calls that are still unanswered and a turn that is not
    over are left out: a later reading of the grown file tells them. `complete` promises that the file will
    grow no more, so that the last words of a client that writes no `stop_reason` end their turn. Never raises
    for what a line holds.
    """
    reader = _Reader(session_id)
    for line in lines:
        if line.strip():
            yield from reader.read(line)
    yield from reader.finish(complete)


def transcript_head(lines: Iterable[bytes]) -> TranscriptHead:
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
    return TranscriptHead(session_id, cwd, agent_id)


class _Reader:
    """The state between lines: open calls, the turn's id and last words, the time, how often a text came."""

    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.calls: dict[str, _Call] = {}
        self.closing: _Closing | None = None
        self.prompt_id: str | None = None
        self.ts: int | None = None
        self.started = False
        self.has_media = False
        self.told: Counter[tuple[str, ...]] = Counter()

    def read(self, line: bytes) -> Iterator[Event | SessionChange | Skipped]:
        try:
            record = decode_as(line, _DECODER)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        if record.type not in ("user", "assistant", "system", "attachment"):
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

    def finish(self, complete: bool) -> Iterator[Event]:
        """A turn that the model has ended is over, though nothing follows it."""
        if self.closing and (self.closing.ended or (complete and self.closing.ended is None)):
            yield from self._close_turn()

    def _origin(self, record: Record) -> Origin | None:
        session_id = record.session_id or self.session_id
        if not session_id or self.ts is None:
            return None
        return Origin(
            session_id=column_text(session_id),
            ts=self.ts,
            cwd=column_text(record.cwd) if record.cwd else None,
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
        if record.is_meta or record.is_compact_summary or record.is_visible_in_transcript_only or record.is_sidechain:
            return
        yield from self._prompt(origin, _text_of(blocks))

    def _prompt(self, origin: Origin, text: str) -> Iterator[Event]:
        if text.startswith("[Request interrupted by user"):
            self.closing = None  # no hook runs when a person stops the turn
            return
        prompt = typed_prompt(text)
        if prompt is None and "<task-notification>" not in text:
            return
        yield from self._close_turn()
        if prompt is not None:
            yield self._counted(prompt_event(origin, prompt))

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
        yield tool_event(origin, call.tool, tool_use_id, call.tool_input, answer, outcome)

    def _attachment(self, record: Record, origin: Origin) -> Iterator[Event]:
        """A prompt typed while the agent was at work; everything else attached was injected."""
        attachment = record.attachment
        if _member(attachment, "type") != "queued_command" or _member(attachment, "commandMode") != "prompt":
            return
        content = attachment.get("prompt")
        prompt = typed_prompt(content if isinstance(content, str) else _text_of(content))
        if prompt is not None and not record.is_sidechain:
            yield self._counted(prompt_event(origin, prompt))

    # What the model says ------------------------------------------------------------------------------

    def _assistant(self, record: Record, origin: Origin) -> Iterator[Event]:
        message_id = _member(record.message, "id")
        if self.closing and self.closing.ended and self.closing.message_id != message_id:
            yield from self._close_turn()
        content = _member(record.message, "content")
        for block in content if isinstance(content, list) else []:
            kind, name = _member(block, "type"), _member(block, "name")
            if kind == "tool_use" and isinstance(name, str) and isinstance(block.get("id"), str):
                tool_input = settle_input(name, block.get("input"), origin.cwd)
                self.calls[block["id"]] = _Call(column_text(name), self._without_media(tool_input))
                self.closing = None
            elif kind == "text" and isinstance(block.get("text"), str) and _has_turns(record):
                stop_reason = _member(record.message, "stop_reason")
                ended = None if stop_reason is None else stop_reason == "end_turn"
                self.closing = _Closing(origin, block["text"], message_id, ended)

    def _system(self, record: Record, origin: Origin) -> Iterator[Event | SessionChange]:
        if record.subtype in TURN_ENDS:
            yield from self._close_turn()
        elif record.subtype == "compact_boundary":
            yield _change(origin, "compact")

    def _close_turn(self) -> Iterator[Event]:
        closing, self.closing = self.closing, None
        if closing:
            yield self._counted(stop_event(closing.origin, closing.text))

    def _without_media(self, value: Any) -> Any:
        return without_media(value) if self.has_media else value

    def _counted(self, event: Event) -> Event:
        """The event with its how-manieth time, where the client gave no id."""
        if event.native_id is not None:
            return event
        self.told[event.identity] += 1
        return msgspec.structs.replace(event, occurrence=self.told[event.identity])


def _has_turns(record: Record) -> bool:
    """Whether this text can be a turn's last word: not an error's notice, nor a subagent inside a main file."""
    return not record.is_api_error_message and (not record.is_sidechain or record.agent_id is not None)


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
