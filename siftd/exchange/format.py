"""The format of an export: UTF-8, one JSON object a line, told apart by `kind`; what is named comes before its names.

    {"kind":"siftd-export","version":1,"store":"0b5c…","root":"/src/a","ts":…,"counts":{"events":2,"memories":1,…}}
    {"kind":"session","sessionId":"…","startedTs":…,"lastTs":…,"cwd":"/src/a","source":"claude-code"}
    {"kind":"event","id":12,"ts":…,"sessionId":"…","eventKind":"tool","tool":"Bash","action":"run","payload":{…},…}
    {"kind":"summary","id":7,"eventId":12,"ts":…,"model":"extractive:1","promptHash":"…","text":"…","confidence":0.7}
    {"kind":"supersede","newer":7,"older":5,"cosine":0.98,"ts":…}
    {"kind":"apart","a":12,"b":9}
    {"kind":"muted","event":12,"ts":…}
    {"kind":"memory","id":31,"ts":…,"updatedTs":…,"type":"decision","text":"…","tags":["db"],"uid":"…",…}
    {"kind":"link","from":31,"to":30,"relation":"supersedes","ts":…}
    {"kind":"pod","id":40,"type":"playbook","externalId":"release","title":"release","ts":…}
    {"kind":"member","pod":40,"fact":31,"role":"command"}
    {"kind":"conversation","sessionId":"…","title":"queues","parentId":"…","relation":"branches_from","ts":…}
    {"kind":"injection","ts":…,"sessionId":"…","hook":"SessionStart","summaryId":7,"eventId":12,"afterId":14,"why":{…}}
    {"kind":"document","id":60,"path":"docs/a.md","title":"A","type":"markdown","ts":…,"metadata":{…},"text":"…"}
    {"kind":"merge","ts":…,"srcType":"service","srcName":"login","dstType":"service","dstName":"auth service"}
    {"kind":"knowledge","snapshot":{"overview":{…},…}}
    {"kind":"end","lines":11}

Ids mean something within the file only. A file without its last line was cut off; what is there can be used.

Version 1. Fields and kinds may be added: a reader skips those it does not know, and refuses a newer version.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from siftd.capture.admission import LAST_TS, NAME_CHARS_MAX
from siftd.model import Outcome, SaidBy, Scope

VERSION = 1
LINE_BYTES_MAX = 8 * 1024 * 1024
"""Twice the largest `capture.maxPayloadBytes`. A longer line is no line of ours."""
TEXT_CHARS_MAX = 100_000
"""The longest text of a line that is read; how much of it is taken in, its importer says."""

DOCUMENT_CHARS_MAX = 8 * 1024 * 1024
"""The longest text of a document."""

Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARS_MAX)]
Key = Annotated[str, Meta(min_length=1, max_length=128)]
Text = Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS_MAX)]
PathText = Annotated[str, Meta(min_length=1, max_length=4_096)]
Moment = Annotated[int, Meta(ge=0, le=LAST_TS)]
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""What a database's column takes: a larger one would be a record that no table takes."""


class Line(msgspec.Struct, rename="camel", tag_field="kind", omit_defaults=True, frozen=True, kw_only=True):
    """Any line."""


class Header(Line, tag="siftd-export", frozen=True, kw_only=True):
    """The first line."""

    version: Number
    store: str
    root: str
    ts: Number
    counts: dict[str, Number]


class EventLine(Line, tag="event", frozen=True, kw_only=True):
    """A row of `events`, without what the daemon derives."""

    id: Number
    ts: Moment
    session_id: Name
    event_kind: str | None = None
    tool: Name
    action: str | None = None
    """As `event_kind`, of one of ours (`siftd.model`); a file from before they were kept tells neither."""
    payload: Any
    """An object; when written, its canonical JSON as it is stored."""
    outcome: Outcome | None = None
    uid: Key | None = None
    frame_uid: Key | None = None
    native_key: Key | None = None
    input_key: Key | None = None
    prompt_id: Name | None = None
    agent_id: Name | None = None
    spawned_agent_id: Name | None = None
    said_by: SaidBy | None = None


class SessionLine(Line, tag="session", frozen=True, kw_only=True):
    """A row of `sessions`."""

    session_id: Name
    started_ts: Moment
    last_ts: Moment
    ended_ts: Moment | None = None
    cwd: str | None = None
    source: str | None = None


class SummaryLine(Line, tag="summary", frozen=True, kw_only=True):
    """A row of `summaries`."""

    id: Number
    event_id: Number
    ts: Moment
    model: Name
    prompt_hash: str
    text: Text
    tokens_in: Number | None = None
    tokens_out: Number | None = None
    confidence: float | None = None
    scope: Scope = "event"
    cites: list[Number] = []
    """The events that it stands on beside its own: a turn's, a session's."""


class SupersedeLine(Line, tag="supersede", frozen=True, kw_only=True):
    """A row of `summary_supersedes`, by the file's ids of summaries."""

    newer: Number
    older: Number
    cosine: float | None = None
    ts: Number = 0


class ApartLine(Line, tag="apart", frozen=True, kw_only=True):
    """A row of `kept_apart`, by the file's ids of events."""

    a: Number
    b: Number


class MutedLine(Line, tag="muted", frozen=True, kw_only=True):
    """A row of `muted_events`, by the file's id of the event."""

    event: Number
    ts: Moment = 0


class MemoryLine(Line, tag="memory", frozen=True, kw_only=True):
    """A row of `facts`."""

    id: Number
    ts: Moment
    updated_ts: Moment
    type: Name
    text: Text
    tags: list[str] = []
    importance: Number = 3
    confidence: float | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    session_id: Name | None = None
    source: str | None = None
    pinned: bool = False
    uid: Key | None = None
    project: Name | None = None
    said_by: SaidBy | None = None
    person: Name | None = None
    """Whose pod it is a member of: nobody else's import takes it."""
    status: Literal["active", "superseded", "contradicted", "archived"] = "active"
    scope: Literal["session", "project"] = "project"
    origin: Literal["kept", "extracted", "learnt"] = "kept"
    topic: str | None = None
    quote: Text | None = None
    client: Name | None = None
    sources: list[Number] = []
    """The events that it was taken from, by the file's ids."""


class VerdictLine(Line, tag="verdict", frozen=True, kw_only=True):
    """A row of `fact_history`, by the file's ids of memories."""

    fact: Number
    ts: Moment
    what: Name
    by: Number | None = None
    who: Name
    why: str | None = None
    old_text: Text | None = None


class LinkLine(Line, tag="link", frozen=True, kw_only=True):
    """A row of `fact_links`, by the file's ids of memories."""

    from_id: Number = msgspec.field(name="from")
    to_id: Number = msgspec.field(name="to")
    relation: Name
    ts: Number = 0


class PodLine(Line, tag="pod", frozen=True, kw_only=True):
    """A row of `pods`."""

    id: Number
    type: Name
    external_id: str = ""
    title: str = ""
    is_archived: bool = False
    ts: Moment


class MemberLine(Line, tag="member", frozen=True, kw_only=True):
    """A row of `pod_members`, by the file's ids of a pod and a memory."""

    pod: Number
    fact: Number
    role: Name


class ConversationLine(Line, tag="conversation", frozen=True, kw_only=True):
    """A row of `conversations`."""

    session_id: Name
    ts: Moment
    title: str | None = None
    parent_id: Name | None = None
    relation: Literal["follows_up_on", "branches_from"] | None = None
    branches_from: Name | None = None
    project: Name | None = None


class MergeLine(Line, tag="merge", frozen=True, kw_only=True):
    """A merge of two entities that a person asked for and has not taken back, by their names."""

    ts: Moment
    src_type: Name
    src_name: Name
    dst_type: Name
    dst_name: Name


class InjectionLine(Line, tag="injection", frozen=True, kw_only=True):
    """A row of `injections`: what an agent was given, by the file's ids of a memory, or of an event and its summary."""

    ts: Moment
    session_id: Name
    hook: Name
    after_id: Number
    why: dict[str, Any] = {}
    event_id: Number | None = None
    summary_id: Number | None = None
    memory_id: Number | None = None


class DocumentLine(Line, tag="document", frozen=True, kw_only=True):
    """A row of `documents` with its text; the chunks are made of it. By its path, its URL, or else its title."""

    id: Number
    path: PathText | None = None
    url: PathText | None = None
    title: PathText
    type: Name
    ts: Moment
    metadata: dict[str, Any] = {}
    text: Annotated[str, Meta(max_length=DOCUMENT_CHARS_MAX)]


class SnapshotLine(Line, tag="knowledge", frozen=True, kw_only=True):
    """The snapshot of the codebase, as `siftd.knowledge.format` has it."""

    snapshot: Any


class End(Line, tag="end", frozen=True, kw_only=True):
    """The last line: how many came before it, the header not counted."""

    lines: Number


AnyLine = (
    Header
    | EventLine
    | SessionLine
    | SummaryLine
    | SupersedeLine
    | ApartLine
    | MutedLine
    | MemoryLine
    | LinkLine
    | PodLine
    | MemberLine
    | VerdictLine
    | ConversationLine
    | InjectionLine
    | DocumentLine
    | MergeLine
    | SnapshotLine
    | End
)

COUNTED: dict[type[Line], str] = {
    SessionLine: "sessions",
    EventLine: "events",
    SummaryLine: "summaries",
    SupersedeLine: "supersedes",
    ApartLine: "apart",
    MutedLine: "muted",
    MemoryLine: "memories",
    LinkLine: "links",
    PodLine: "pods",
    MemberLine: "members",
    VerdictLine: "verdicts",
    ConversationLine: "conversations",
    InjectionLine: "injections",
    DocumentLine: "documents",
    MergeLine: "merges",
}
"""What each kind of line counts as, in the order of the file."""

SNAPSHOTS = "snapshots"
"""What a snapshot of a codebase counts as: it is a file, and no rows."""
_ALL: tuple[type[Line], ...] = (Header, End, SnapshotLine, *COUNTED)
_KINDS = {each.__struct_config__.tag for each in _ALL}
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyLine] = msgspec.json.Decoder(AnyLine)


class _AnyKind(msgspec.Struct):
    kind: str


_kind_decoder = msgspec.json.Decoder(_AnyKind)


def encode(line: Line) -> bytes:
    """Return a line with its end."""
    return _encoder.encode(line) + b"\n"


def decode(line: bytes) -> AnyLine | None:
    """Return what a line says, None for a kind of a later siftd. Raises msgspec.MsgspecError for what is no line."""
    if _kind_decoder.decode(line).kind not in _KINDS:
        return None
    return _decoder.decode(line)
