"""Gemini CLI's session files: `tmp/<project>/chats/session-<minute>-<id>.jsonl`, and a folder beside it with a file of
each subagent. Formats as Gemini CLI 0.61 writes them:

    {"sessionId":…,"projectHash":…,"startTime":…,"kind":"main"}     again after a resume; "subagent" with `directories`
    {"id":…,"timestamp":…,"type":"user","content":[{"text":…}]}
    {"id":…,"type":"gemini","content":"…","toolCalls":[{"id":…,"name":…,"args":{…},"result":[…],"status":"success"}]}
    {"$set":{…}}    {"$rewindTo":"<id>"}

A message is written again when its calls have ended: of each id the last line counts. `$set.messages` repeats what was
written before, and is read for the summary of a compaction alone. A rewind takes nothing back that was done. No line
says when a turn ends: the next prompt does, or the end of a file that grows no more.

No line of a main file names its folder, and subagents' calls have no id that hooks would know: they are counted with
those of their session. So a session is read as one stream (`session_lines`): before a call that started a subagent come
the lines of that subagent's file, each as `{"$subagent":"<id>","line":{…}}`. Such a file by itself tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from siftd.clients.client import Decoded, Head, Skipped
from siftd.clients.facts import Answer, Counting, Origin, column_text, milliseconds
from siftd.clients.gemini_cli.facts import (
    FACTS,
    answer_of,
    failure_of,
    known_tool,
    settle_input,
    typed_prompt,
)
from siftd.clients.gemini_parts import text_of
from siftd.clients.media import may_hold_media, without_media
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.foreign_file import open_regular, read
from siftd.model import Event, SessionChange


class Line(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of a line that are read."""

    session_id: Any = None
    kind: Any = None
    start_time: Any = None
    id: Any = None
    timestamp: Any = None
    type: Any = None
    content: Any = None
    tool_calls: Any = None
    set: Any = msgspec.field(default=None, name="$set")
    subagent: Any = msgspec.field(default=None, name="$subagent")
    line: Any = None


_DECODER = msgspec.json.Decoder(Line)
_AGENT_OF_A_CALL = re.compile(rb'"agentId" ?: ?"([\w-]{1,64})"')
_ENDED = ("success", "error", "cancelled")
_SNAPSHOT = "<state_snapshot>"
_CONTEXT = "<session_context>"
_UNHOOKED = re.compile(r'Tool "[^"]{1,200}" not found|params(?:/\S{1,200})? must ')
"""How the failure of a call begins that no hook tells."""
_SMALL_BYTES = 1024 * 1024
_LINE_BYTES_MAX = 32 * 1024 * 1024
_NAME = re.compile(r"[\w-]{1,64}")
_LAST_ACT = "complete_task"
"""By this call a subagent hands in what it found."""


def head_of(path: str, lines: Iterable[bytes]) -> Head:
    """Return whose a file is, by its first line and what stands beside it."""
    for raw in lines:
        try:
            line = decode_as(raw, _DECODER)
        except EnvelopeRejected:
            return Head(None, None, None)
        if not isinstance(line.session_id, str) or not line.session_id:
            return Head(None, None, None)
        if line.kind == "subagent":
            return Head(None, None, line.session_id)
        return Head(line.session_id, _project_root(Path(path).parent), None)
    return Head(None, None, None)


def session_lines(path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a main file's lines, and among them those of its subagents' files, each said to be such a one's."""
    seen: set[str] = set()
    folder: Path | None = None
    for raw in lines:
        if folder is None:
            head = head_of(path, [raw])
            is_main = head.session_id is not None and head.agent_id is None
            folder = Path(path).parent / (head.session_id or "") if is_main else Path()
        for found in _AGENT_OF_A_CALL.findall(raw):
            agent = found.decode()
            if agent not in seen and folder.name:
                seen.add(agent)
                yield from _subagent_lines(folder, agent)
        yield raw
    if folder is not None and folder.name and folder.is_dir():
        for file in sorted(folder.glob("*.jsonl")):
            if file.stem not in seen and _NAME.fullmatch(file.stem):
                yield from _subagent_lines(folder, file.stem)


def _subagent_lines(folder: Path, agent: str) -> Iterator[bytes]:
    try:
        with open_regular(f"{folder}/{agent}.jsonl") as file:
            while (raw := file.readline(_LINE_BYTES_MAX)).endswith(b"\n"):
                yield b'{"$subagent":"%s","line":%s}\n' % (agent.encode(), raw.strip())
    except OSError:
        return  # what the session itself tells is read all the same


def _project_root(chats: Path) -> str | None:
    """Return the folder whose sessions lie in `chats`, as the client notes it beside them, or in its list."""
    project = chats.parent
    try:
        root = read(str(project / ".project_root"), _SMALL_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError):
        root = ""
    return root or _listed_root(project)


def _listed_root(project: Path) -> str | None:
    try:
        listed = msgspec.json.decode(read(str(project.parent.parent / "projects.json"), _SMALL_BYTES))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    projects = listed.get("projects") if isinstance(listed, dict) else None
    roots = projects.items() if isinstance(projects, dict) else ()
    return next((root for root, name in roots if name == project.name and isinstance(root, str)), None)


class SessionReader:
    """Reads a session's lines. The state between them: what the agent said in the turn, which calls were told."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._is_subagent = False
        self._ts: int | None = None
        self._started = False
        self._media = False
        self._said: dict[str, tuple[int, str]] = {}
        """What the agent said in this turn, by message, with the time."""
        self._of_agents: dict[str, tuple[int, str]] = {}
        """What each subagent said last that has not handed in anything yet."""
        self._seen: set[str] = set()
        self._counted = Counting()

    @property
    def is_between(self) -> bool:
        return not self._said and not self._of_agents

    def read(self, raw: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""
        try:
            line = decode_as(raw, _DECODER)
            agent_id = None
            if isinstance(line.subagent, str):
                agent_id, line = line.subagent, msgspec.convert(line.line, Line)
        except EnvelopeRejected as rejected:
            yield Skipped("malformed_line" if rejected.reason == "not_json" else rejected.reason)
            return
        except msgspec.ValidationError:
            yield Skipped("bad_type")
            return
        if self._is_subagent:
            return
        self._media = may_hold_media(raw)
        if isinstance(line.session_id, str) and line.session_id:
            yield from self._header(line)
        elif isinstance(line.set, dict):
            yield from self._changed(line.set.get("messages"))
        elif isinstance(line.id, str):
            self._ts = milliseconds(line.timestamp) or self._ts
            if self._session_id is None or self._ts is None:
                yield Skipped("no_session_or_time")
                return
            yield from self._message(line, agent_id)

    def finish(self, complete: bool) -> Iterator[Event]:
        """A turn is over when the file grows no more."""
        if complete:
            yield from self._end_turn()
            for agent_id, (ts, text) in self._of_agents.items():
                yield FACTS.end(self._origin(ts, agent_id), text)
            self._of_agents.clear()

    def _header(self, line: Line) -> Iterator[SessionChange]:
        if line.kind == "subagent":
            self._is_subagent = not self._started
            return
        self._session_id = column_text(line.session_id)
        self._ts = milliseconds(line.start_time) or self._ts
        if not self._started and self._ts is not None:
            self._started = True
            yield FACTS.change(self._origin(self._ts, None), "start")

    def _origin(self, ts: int, agent_id: str | None) -> Origin:
        return Origin(session_id=self._session_id or "", ts=ts, agent_id=agent_id, from_file=True)

    def _changed(self, messages: Any) -> Iterator[Decoded]:
        """A history written anew: of what it holds only a compaction's summary was not told yet."""
        for message in messages if isinstance(messages, list) else []:
            text = text_of(message.get("content")).strip() if isinstance(message, dict) else ""
            if text.startswith(_SNAPSHOT) and self._session_id is not None:
                ts = milliseconds(message.get("timestamp")) or self._ts
                record_id = message.get("id")
                if ts is not None and isinstance(record_id, str) and record_id not in self._seen:
                    self._seen.add(record_id)
                    yield FACTS.change(self._origin(ts, None), "compact")
                    yield FACTS.compacted(self._origin(ts, None), text, record_id)

    def _message(self, line: Line, agent_id: str | None) -> Iterator[Event]:
        assert self._ts is not None
        if line.type == "user" and agent_id is None:
            yield from self._user(line, self._ts)
        elif line.type == "gemini":
            if text := text_of(line.content).strip():
                if agent_id is None:
                    self._said[line.id] = self._ts, text
                else:
                    self._of_agents[agent_id] = self._ts, text
            for call in line.tool_calls if isinstance(line.tool_calls, list) else []:
                if isinstance(call, dict):
                    yield from self._call(call, self._ts, agent_id)

    def _user(self, line: Line, ts: int) -> Iterator[Event]:
        if line.id in self._seen or _is_answer(line.content) or text_of(line.content).startswith(_CONTEXT):
            return
        prompt = typed_prompt(line.content)
        if prompt is None:
            return
        yield from self._end_turn()
        self._seen.add(line.id)
        yield self._counted(FACTS.prompt(self._origin(ts, None), prompt))

    def _end_turn(self) -> Iterator[Event]:
        said, self._said = list(self._said.values()), {}
        if said:
            text = "\n".join(text for _, text in said)
            yield self._counted(FACTS.end(self._origin(said[-1][0], None), text))

    def _call(self, call: dict[str, Any], message_ts: int, agent_id: str | None) -> Iterator[Event]:
        call_id, tool, status = call.get("id"), call.get("name"), call.get("status")
        if not isinstance(call_id, str) or not isinstance(tool, str) or not tool or status not in _ENDED:
            return
        if call_id in self._seen:
            return
        self._seen.add(call_id)
        tool = column_text(tool)
        tool_input = settle_input(call.get("args"))
        answer = _answer(tool, tool_input, status, call.get("result"))
        is_unhooked = status == "error" and _UNHOOKED.match(str(answer.payload.get("error"))) is not None
        if is_unhooked:
            answer = answer._replace(payload=answer.payload | {"_unhooked": "validation"})
        origin = self._origin(milliseconds(call.get("timestamp")) or message_ts, agent_id)
        spawned = call.get("agentId")
        yield self._counted(
            FACTS.call(
                origin,
                tool,
                known_tool(tool),
                call_id if is_unhooked else None,
                without_media(tool_input) if self._media else tool_input,
                answer,
                spawned=spawned if isinstance(spawned, str) else None,
            )
        )
        if agent_id is not None and tool == _LAST_ACT:
            self._of_agents.pop(agent_id, None)
            yield FACTS.end(origin, _handed_in(tool_input))


def _is_answer(content: Any) -> bool:
    """Whether a message of the user's is what tools answered."""
    return isinstance(content, list) and any(isinstance(part, dict) and "functionResponse" in part for part in content)


def _answer(tool: str, tool_input: Any, status: Any, result: Any) -> Answer:
    parts = result if isinstance(result, list) else []
    responses = [part["functionResponse"] for part in parts if isinstance(part, dict) and "functionResponse" in part]
    given = responses[0].get("response") if responses and isinstance(responses[0], dict) else None
    given = given if isinstance(given, dict) else {}
    if status == "success":
        other_parts = [part for part in parts if isinstance(part, dict) and "functionResponse" not in part]
        return answer_of(tool, tool_input, [given.get("output"), *other_parts])
    failed = failure_of(given.get("error") or given.get("output") or "")
    return failed if status == "error" else failed._replace(outcome="interrupted")


def _handed_in(tool_input: Any) -> str:
    """What a subagent hands in: a text, or an object with one."""
    result = tool_input.get("result") if isinstance(tool_input, dict) else None
    if isinstance(result, dict) and len(result) == 1:
        result = next(iter(result.values()))
    return result if isinstance(result, str) else msgspec.json.encode(result).decode()
