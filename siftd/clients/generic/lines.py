"""Lines of JSON by which any agent or script tells what it does; version 1.

    {"kind":"prompt","session":"s1","text":"Mend the parser","ts":"2026-11-24T09:00:00Z"}
    {"kind":"assistant_text","session":"s1","text":"The lexer drops the last token, because it stops at EOF."}
    {"kind":"tool","session":"s1","id":"c1","tool":"shell","action":"run","input":{"command":"make test"}}
    {"kind":"result","session":"s1","id":"c1","output":{"stdout":"12 passed"}}
    {"kind":"turn_end","session":"s1","text":"The parser keeps the last token now."}

One object a line, UTF-8. Every line has `kind` and `session` (any text that names the conversation), and may have:

    ts      when it happened: ISO 8601 with an offset, or milliseconds since 1970; where a line has none, the time of
            the line before, and for `mem capture` the moment at which it is read
    id      the agent's own id for it; what comes twice in a session with one id is kept once
    cwd     the folder, an absolute path
    branch  the branch that is checked out
    agent   the subagent that it happened in
    client  what the agent calls itself; default `generic`

    prompt          `text`: what a person asked
    assistant_text  `text`: what the agent said between its calls
    tool            a call: `tool` (its name), `input` (an object with `command`, `file_path`, `old_string`,
                    `new_string`, `content`, `pattern`, `url`, `query`, … as far as they fit), `action`
                    (`siftd.model.Action`; default: by the tool's name), `spawned` (the subagent that it starts).
                    With `output` or `error` it is a whole call; else a `result` with its `id` makes it one
    result          `id` of the call, and `output` (any JSON) or `error` (text); `interrupted`: true
    turn_end        `text`: the agent's last words of a turn, or ""; with `agent`, of that subagent
    start, end, compact    the session began, ended, or its context was compacted

Readers skip fields that they do not know. Nobody vouches for such a line: a prompt counts as an agent's words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.generic.tools import TOOLS
from siftd.clients.tolerant_json import decode_as
from siftd.clients.tool import find_tool
from siftd.errors import EnvelopeRejected
from siftd.model import Action, Event, Outcome, SessionChange

NAME = "generic"
PENDING_MAX = 1_000
"""Calls without a result that are remembered; the oldest goes. Arbitrary."""
_CHANGES = ("start", "end", "compact")

Kind = Literal["prompt", "assistant_text", "tool", "result", "turn_end", "start", "end", "compact"]


class Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The fields that are read."""

    kind: str = ""
    session: str = ""
    ts: Any = None
    id: str | None = None
    cwd: str | None = None
    branch: str | None = None
    agent: str | None = None
    client: str = NAME
    text: str = ""
    tool: str = ""
    action: str | None = None
    input: Any = None
    spawned: str | None = None
    output: Any = msgspec.UNSET
    error: Any = msgspec.UNSET
    interrupted: bool = False


_decoder = msgspec.json.Decoder(Line)
_canonical = msgspec.json.Encoder(order="deterministic")


def decode_line(raw: bytes, *, ts: int) -> Event | SessionChange:
    """Return the fact that one whole line tells, at `ts` where it names no time.

    Raises EnvelopeRejected with a countable reason: `not_json`, `bad_type`, `too_deep`, `no_session`, `no_tool`,
    `bad_time`, `unhandled_event` (a kind that is none, a call without its result, a result without its call).
    """
    line = _read(raw)
    if line.kind == "result" or (line.kind == "tool" and not _is_whole(line)):
        raise EnvelopeRejected("unhandled_event")
    return _fact(line, _moment(line.ts) or ts)


class LineReader:
    """Reads a file, or a stream, of such lines: joins calls and their results, gives lines a time that have none."""

    def __init__(self, session_id: str | None = None) -> None:
        """`session_id` stands in where a line names none."""
        self._session_id = session_id
        self._calls: dict[tuple[str, str], Line] = {}
        self._ts: int | None = None

    @property
    def is_between(self) -> bool:
        return not self._calls

    @property
    def waiting(self) -> int:
        """How many calls wait for their result."""
        return len(self._calls)

    def read(self, raw: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        if not raw.strip():
            return
        try:
            line = self.join(raw)
            if line is not None:
                if self._ts is None:
                    yield Skipped("no_session_or_time")
                    return
                yield _fact(line, self._ts, from_file=True)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)

    def join(self, raw: bytes) -> Line | None:
        """Return a line that tells something whole; None for a call that waits. Raises EnvelopeRejected."""
        line = _read(raw, self._session_id)
        self._ts = _moment(line.ts) or self._ts
        key = line.session, line.id or ""
        if line.kind == "tool" and not _is_whole(line):
            if not line.id:
                raise EnvelopeRejected("unhandled_event", "a call without an id never gets its result")
            self._calls[key] = line
            if len(self._calls) > PENDING_MAX:
                del self._calls[next(iter(self._calls))]
            return None
        if line.kind != "result":
            return line
        call = self._calls.pop(key, None)
        if call is None or not _is_whole(line):
            raise EnvelopeRejected("orphan_result")
        return msgspec.structs.replace(
            call, output=line.output, error=line.error, interrupted=line.interrupted, ts=line.ts or call.ts
        )

    def finish(self, complete: bool) -> Iterator[Event]:  # noqa: ARG002 - a call without a result is no fact
        """Nothing: what is not whole waits for the rest of the file."""
        yield from ()


def encode_line(line: Line) -> bytes:
    """Return a line as JSON."""
    return msgspec.json.encode(line)


def head_of(lines: Iterable[bytes]) -> Head:
    """Return whose a file is, by the first line that names a session and a folder."""
    session = cwd = None
    for raw in lines:
        try:
            line = _decode(raw)
        except EnvelopeRejected:
            continue
        session, cwd = session or line.session or None, cwd or line.cwd
        if session and cwd:
            break
    return Head(session, cwd, None)


def identify_input(tool_input: Any) -> str:
    """Return a canonical text of what a call was given."""
    return _canonical.encode(tool_input).decode()


def _decode(raw: bytes) -> Line:
    return decode_as(raw, _decoder)


def _read(raw: bytes, session_id: str | None = None) -> Line:
    line = _decode(raw)
    line.session = line.session.replace("\x00", "\ufffd") or session_id or ""
    line.tool = line.tool.replace("\x00", "\ufffd")
    if line.kind not in get_args(Kind):
        raise EnvelopeRejected("unhandled_event")
    if not line.session:
        raise EnvelopeRejected("no_session")
    if line.kind == "tool" and not line.tool:
        raise EnvelopeRejected("no_tool")
    return line


def _is_whole(line: Line) -> bool:
    return line.output is not msgspec.UNSET or line.error is not msgspec.UNSET


def _fact(line: Line, ts: int, *, from_file: bool = False) -> Event | SessionChange:
    if line.kind in _CHANGES:
        return SessionChange(
            client=line.client,
            session_id=line.session,
            change=line.kind,  # type: ignore[arg-type]
            ts=ts,
            cwd=line.cwd,
        )
    fields: dict[str, Any] = {"agent_id": line.agent, "spawned_agent_id": line.spawned, "prompt_id": None}
    # An agent may count its ids from 1 in each session, and its prompts beside its calls.
    native = f"{line.session}/{line.kind}/{line.id}" if line.id else _own_id(line) if line.ts is not None else None
    fields |= {"native_id": native, "identity": (line.kind, line.agent or "", native) if native else ()}
    match line.kind:
        case "prompt":
            fields |= {"kind": "prompt", "payload": {"prompt": line.text}, "said_by": "agent"}
        case "assistant_text":
            fields |= {"kind": "assistant_text", "payload": {"text": line.text.strip()}, "said_by": _whose(line)}
        case "turn_end":
            fields |= {
                "kind": "subagent_end" if line.agent else "turn_end",
                "payload": {"last_assistant_message": line.text.strip()},
                "said_by": _whose(line),
            }
        case _:
            fields |= _call(line)
    return Event(
        client=line.client,
        session_id=line.session,
        tool=line.tool or line.kind,
        ts=ts,
        cwd=line.cwd,
        branch=line.branch,
        from_transcript=from_file,
        **fields,
    )


def _call(line: Line) -> dict[str, Any]:
    known = find_tool(TOOLS, line.tool)
    action: Action = line.action if line.action in get_args(Action) else known.action  # type: ignore[assignment]
    has_failed = line.error is not msgspec.UNSET and line.error is not None
    answer = {"error": line.error} if has_failed else {"tool_response": line.output}
    outcome: Outcome = "interrupted" if line.interrupted else "failed" if has_failed else "ok"
    said_by = "outside" if action == "web" else known.said_by
    return {
        "kind": "tool",
        "action": action,
        "payload": {"tool_input": line.input, **answer},
        "outcome": outcome,
        "said_by": said_by,
    }


def _whose(line: Line) -> str:
    """A subagent's words come as a tool's result does."""
    return "output" if line.agent else "agent"


def _own_id(line: Line) -> str:
    """Return what names a line without an id: all that it says, its time with it."""
    return hashlib.sha256(_canonical.encode(line)).hexdigest()[:32]


def _moment(ts: Any) -> int | None:
    """Return a time as milliseconds. Raises EnvelopeRejected for what is none."""
    if ts is None:
        return None
    if isinstance(ts, int | float) and not isinstance(ts, bool):
        return int(ts)
    try:
        then = datetime.fromisoformat(ts)
    except (TypeError, ValueError):
        raise EnvelopeRejected("bad_time", "a time is ISO 8601 or milliseconds") from None
    if then.tzinfo is None:
        raise EnvelopeRejected("bad_time", "a time needs its offset, as in 2026-11-24T09:00:00Z")
    return round(then.timestamp() * 1000)
