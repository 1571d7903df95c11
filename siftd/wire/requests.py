"""The requests of the socket, as the daemon decodes them: one tagged struct each, told apart by `kind`.

Field names on the wire are camelCase. New fields have defaults, types never change, unknown fields are ignored.
A request that is refused is answered with `{"ok":false,"retry":…,"error":{"code","message","hint"}}`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from siftd.errors import RequestInvalid, SiftdError

Moment = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
"""Milliseconds since the epoch, as far as a database's integers reach."""


class Request(msgspec.Struct, rename="camel", tag_field="kind", frozen=True, kw_only=True):
    """Any request."""

    changes_brief: ClassVar[bool] = False
    """Whether the kept brief may say something else after it."""
    may_be_global: ClassVar[bool] = False
    """Whether it may be about memories for every project (`siftd.wire.global_routing`, which names them without
    loading this)."""
    waits_for_log: ClassVar[bool] = False
    """Whether it stands on what is stored: then the database catches up with the log before."""


class Hello(Request, tag="hello", frozen=True, kw_only=True):
    """Who are you? Answers version, protocol, workspace, pid, uptimeMs."""


class Capture(Request, tag="capture", frozen=True, kw_only=True):
    """Keep a tool call. Answers `id`, `eventId`, `tokensEst`, and `duplicate` when it was there already.

    `uid` makes a repeat harmless; `source` is the agent that did the work.
    """

    session_id: str
    tool: str
    payload: dict[str, Any]
    ts: int
    uid: str | None = None
    source: str = "api"
    cwd: str | None = None


class Filters(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What hits must be; every filter applies before the top is cut."""

    tool: str | None = None
    session: str | None = None
    client: str | None = None
    """Whose agent's program: "claude-code", "codex". A memory is of none."""
    file: str | None = None
    symbol: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    kind: str | None = None
    """summary, event, memory, tool, prompt, stop, text or failure."""
    type: str | None = None
    """Of a memory: then nothing else is found."""
    label: str | None = None
    """What a memory was labelled with; nothing else has a label."""
    project: bool = False
    """Of this project alone: no memory that is kept for every one."""
    superseded: bool = False
    as_of: Moment | None = None
    """As things stood then: nothing later, and what only something later hides is shown."""


class Search(Request, tag="search", frozen=True, kw_only=True):
    """Find. Answers `hits`, `degraded` (null, or why a leg is missing) and `clients` (all that have
    written here).

    `weights` sets single signals of `search.weights`, or w_fts, w_vec, w_recency and half_life
    (`siftd.ranking_config`), for this search; `group` "session" gives one hit for each session. What the session that
    is `asking` has in its context is left out."""

    may_be_global = True

    query: str
    k: int = 10
    filters: Filters = Filters()
    weights: dict[str, float] = {}
    group: str | None = None
    asking: str | None = None


class Show(Request, tag="show", frozen=True, kw_only=True):
    """The whole of one thing by its id (e12, s7, m3). Answers `item`."""

    may_be_global = True

    id: str


class Timeline(Request, tag="timeline", frozen=True, kw_only=True):
    """What happened around an event, or at the end of a session. Answers `events`, `clients` (all that have
    written here), and of the latest ones `nextCursor`, for those before.

    Of the latest ones none is in the context of the session that is `asking`.
    """

    around: str | None = None
    session: str | None = None
    client: str | None = None
    """Of the latest ones, those of this client's sessions."""
    asking: str | None = None
    before: int = 10
    after: int = 10
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Sessions(Request, tag="sessions", frozen=True, kw_only=True):
    """The sessions, newest first. Answers `sessions`, `clients` (all that have written here) and `nextCursor`."""

    limit: int = 20
    client: str | None = None
    """Those of this client alone."""
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Info(Request, tag="info", frozen=True, kw_only=True):
    """The state of everything; `mem info --json` is this answer."""


class Drain(Request, tag="drain", frozen=True, kw_only=True):
    """Summarise and embed what is raw, at most `limit` events. Streams progress; answers the counts.

    `backend` names another than the configured one for this time; a remote one is bound by the same daily cap.
    """

    changes_brief = True

    limit: int | None = None
    backend: str | None = None


class Retry(Request, tag="retry", frozen=True, kw_only=True):
    """Make a skipped event raw again, or all of them. Answers `retried`."""

    waits_for_log = True

    id: str | None = None


class Pause(Request, tag="pause", frozen=True, kw_only=True):
    """Capture nothing more until `resume`; with a session's id nothing more of that session. Answers `since` and
    `session`.

    With `known` the id may be the beginning of one, and a session that was never heard of is refused: a person may
    mistype what a client would not.
    """

    session: str = ""
    known: bool = False


class Resume(Request, tag="resume", frozen=True, kw_only=True):
    """Capture again what happens from now on; `known` as of `pause`. Answers `since` (when it was paused; null: it was
    not) and `session`.
    """

    session: str = ""
    known: bool = False


class Resummarise(Request, tag="resummarise", frozen=True, kw_only=True):
    """Have what happened in a time told anew by the configured backend, at the next drains. Answers `summaries`."""

    waits_for_log = True

    since: Moment
    until: Moment | None = None


class Reembed(Request, tag="reembed", frozen=True, kw_only=True):
    """Make the vectors anew, of what happened since a moment or of everything. Answers `cleared` and `embedded`.

    Search goes on meanwhile with the words, and with each vector as soon as it is there.
    """

    since: Moment | None = None


class Undo(Request, tag="undo", frozen=True, kw_only=True):
    """Bring a superseded summary back for good. Answers `restored`."""

    changes_brief = True
    waits_for_log = True

    id: str


class Remember(Request, tag="remember", frozen=True, kw_only=True):
    """Keep a statement on purpose. Answers `id`, `memoryId`, `similar` (ids), and `duplicate` when it is kept already.

    `from` and `until` bound its validity: outside of it the memory is in no search and no recall.
    """

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    text: str
    type: str = "fact"
    tags: list[str] = []
    importance: int = 3
    confidence: float | None = None
    project: bool = True
    valid_from: Moment | None = msgspec.field(default=None, name="from")
    valid_until: Moment | None = msgspec.field(default=None, name="until")
    pin: bool = False
    label: str | None = None
    """A word of one's own to keep it under, as rekal's users name their projects; one search may ask for it alone."""
    session_id: str | None = None
    source: str = "api"
    typed: bool = False
    """`mem` says so where a person typed it at a terminal. Else a pin, or a memory for every project, waits for one."""
    root: str | None = None
    """A folder more whose `.env`-like files' values are redacted: of the project from which one for all is kept."""


class Supersede(Request, tag="supersede", frozen=True, kw_only=True):
    """Keep a memory in the place of another one (`id`), which stays as history, out of search. Answers like `remember`.

    What is not given is inherited.
    """

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    text: str
    type: str | None = None
    tags: list[str] | None = None
    importance: int | None = None
    confidence: float | None = None
    valid_from: Moment | None = msgspec.field(default=None, name="from")
    valid_until: Moment | None = msgspec.field(default=None, name="until")
    pin: bool | None = None
    label: str | None = None
    session_id: str | None = None
    source: str = "api"
    typed: bool = False
    root: str | None = None


class Update(Request, tag="update", frozen=True, kw_only=True):
    """Change fields of a memory; a changed text is embedded anew. Answers `id`, `changed`."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    text: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    importance: int | None = None
    confidence: float | None = None
    valid_from: Moment | None = msgspec.field(default=None, name="from")
    valid_until: Moment | None = msgspec.field(default=None, name="until")
    pin: bool | None = None
    typed: bool = False
    root: str | None = None


class Accept(Request, tag="accept", frozen=True, kw_only=True):
    """Say in a person's name that a memory that waits may stand: be pinned, or be for every project. Answers `id`.

    `mem pins --accept` asks a person first; no tool of an agent sends this.
    """

    may_be_global = True

    id: str


class Link(Request, tag="link", frozen=True, kw_only=True):
    """Link two memories: `supersedes`, `contradicts` or `related_to`. Answers `from`, `to`, `relation`."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    from_id: str = msgspec.field(name="from")
    to_id: str = msgspec.field(name="to")
    relation: str


class Memories(Request, tag="memories", frozen=True, kw_only=True):
    """The memories that hold now, or held at `as_of`, the latest first. `superseded` adds those that do not.

    `pinned` and `waiting` leave those that are pinned, or wait for a person's word; `ids` asks for these, whether they
    hold or not, and `read` counts that somebody read them. `by_creation` orders by when they were first written.
    """

    may_be_global = True

    ids: list[str] | None = None
    read: bool = False
    by_creation: bool = False
    type: str | None = None
    tag: str | None = None
    label: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    pinned: bool = False
    waiting: bool = False
    superseded: bool = False
    limit: int = 50
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Related(Request, tag="related", frozen=True, kw_only=True):
    """The links of a memory, with what stands at their other ends. Answers `related`."""

    may_be_global = True

    id: str


class Similar(Request, tag="similar", frozen=True, kw_only=True):
    """The live memories nearest to one in meaning. Answers `similar`."""

    may_be_global = True

    id: str
    limit: int = 5


class MemoryHealth(Request, tag="memory_health", frozen=True, kw_only=True):
    """The memories as a whole. Answers `health`, and `topics` and `conflicts`, of one label if so."""

    may_be_global = True

    label: str | None = None


class SetConfig(Request, tag="set_config", frozen=True, kw_only=True):
    """Set how this project's searches are weighed, or those under a label; null: no longer.

    Answers `scoring`: each number and whence it is.
    """

    may_be_global = True
    waits_for_log = True

    label: str | None = None
    values: dict[str, float | None] = {}


class Sampling(Request, tag="sampling", frozen=True, kw_only=True):
    """Offer a model of one's own for summaries, and bring what it `said` to question `id` (null: nothing).

    Answers after a while at most: `ask` (null, or `id`, `rules`, `message`, `maxTokens`), and `wanted`, whether another
    offer makes sense.
    """

    id: int | None = None
    said: str | None = None


class Converse(Request, tag="converse", frozen=True, kw_only=True):
    """Name a session, or begin one from another: it follows up on one, branches from one, or both. Answers `id`."""

    waits_for_log = True

    id: str | None = None
    title: str = ""
    follows_up_on: str | None = None
    branches_from: str | None = None
    label: str | None = None


class Conversations(Request, tag="conversations", frozen=True, kw_only=True):
    """The conversations, the latest first; the tree of one (`id`); or those idle for `stale_days`."""

    id: str | None = None
    label: str | None = None
    stale_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] | None = None
    limit: int = 20
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Recall(Request, tag="recall", frozen=True, kw_only=True):
    """What bears on a prompt, as a marked block. Answers `text`, `items` and `tokens`; empty when nothing is relevant.

    What `session_id` itself did is left out. `max_tokens` may lower the configured bound, never raise it.
    """

    prompt: str
    session_id: str | None = None
    max_tokens: int | None = None


class Brief(Request, tag="brief", frozen=True, kw_only=True):
    """What a session is given at its start, as a marked block. Answers `text`, `items` and `tokens`.

    Without `session_id` it is what any new session would get. `max_tokens` may lower the configured bound.
    """

    session_id: str | None = None
    max_tokens: int | None = None


class Injections(Request, tag="injections", frozen=True, kw_only=True):
    """What was given to agents unasked, newest first: one piece (`id`), one session, or all. Answers `injections`."""

    id: str | None = None
    session: str | None = None
    limit: int = 50
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Export(Request, tag="export", frozen=True, kw_only=True):
    """Write everything into a new file (mode 0600) at an absolute path. Streams progress; answers `path`, `counts`."""

    path: str


class Import(Request, tag="import", frozen=True, kw_only=True):
    """Merge an exported file in. Streams progress; answers `added`, `known`, `forgotten`, `errors`, `firstError`.

    `own`: a person says that the file is an export of their own, and it is believed who said what. What is for every
    project takes nothing in without `yes`.
    """

    changes_brief = True

    path: str
    own: bool = False
    yes: bool = False


class Forget(Request, tag="forget", frozen=True, kw_only=True):
    """Forget for good: ids (e12, s7, m3), or a session, a file, a text, or a span of time alone.

    `since` and `until` narrow a session, a file or a text. With `dry_run` nothing changes. Answers `matched`, `byKind`
    `pending` (what still holds something, by name) and `left` (what holds the text and stays).
    """

    changes_brief = True
    may_be_global = True

    ids: list[str] = []
    session: str | None = None
    file: str | None = None
    query: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    dry_run: bool = True


class Scrub(Request, tag="scrub", frozen=True, kw_only=True):
    """Apply the rules of the configuration as it is now to everything stored. With `dry_run` nothing changes.

    Answers `changed` (rows by table, `records` of the log), `byRule` and `pending` (what still holds something).
    """

    dry_run: bool = True


class Prune(Request, tag="prune", frozen=True, kw_only=True):
    """Forget what is older than `store.keepDays` and `log.keepDays` now. Answers `events`, `segments`, `pending`."""

    changes_brief = True


class Backup(Request, tag="backup", frozen=True, kw_only=True):
    """Copy the database, checked, into a new file (mode 0600) at an absolute path. Answers `path`, `bytes`, `seq`."""

    path: str


class Backfill(Request, tag="backfill", frozen=True, kw_only=True):
    """Read a client's session files into the store. Streams progress; answers the counts.

    `paths` are absolute; none: this workspace's own in `folder`, where the client keeps them.
    """

    changes_brief = True

    client: str | None = None
    """None: the one whose sessions are read where nobody names any (`siftd.clients.registry`)."""
    paths: list[str] = []
    folder: str | None = None
    any_workspace: bool = False
    own: bool = False
    """Whether a person says that the files are of an agent of theirs: its words then count as an agent's."""


class Stop(Request, tag="stop", frozen=True, kw_only=True):
    """Finish what is in flight and end; with `hold` stay down until `mem start` or a new session."""

    hold: bool = True


AnyRequest = (
    Hello
    | Capture
    | Search
    | Show
    | Timeline
    | Sessions
    | Info
    | Drain
    | Retry
    | Pause
    | Resume
    | Reembed
    | Resummarise
    | Undo
    | Remember
    | Supersede
    | Update
    | Accept
    | Link
    | Memories
    | Related
    | Similar
    | MemoryHealth
    | SetConfig
    | Sampling
    | Converse
    | Conversations
    | Recall
    | Brief
    | Injections
    | Export
    | Import
    | Forget
    | Prune
    | Scrub
    | Backup
    | Backfill
    | Stop
)


class HookHeader(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The header of a hook frame."""

    client: str
    frame_uid: str
    root: str
    ts: int
    bytes: int = 0
    """How long the client's input was. More than follows the header: it did not fit a frame."""
    told: str = ""
    """The ids in the kept brief that the hook printed while no daemon answered."""
    tell: int = 0
    """1: what there is to tell the agent at this event is wanted, in an answer of its own behind this one."""
    off: bool = False
    """With SIFTD_OFF=1: nothing of the session is to be kept, now or later."""


_decoder: msgspec.json.Decoder[AnyRequest] = msgspec.json.Decoder(AnyRequest)
_header_decoder = msgspec.json.Decoder(HookHeader)
encode = msgspec.json.Encoder().encode


def decode_request(message: bytes) -> AnyRequest:
    """Return the request in a JSON message. Raises RequestInvalid; its message names fields, never values."""
    try:
        return _decoder.decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestInvalid(_reason(message, error), hint="see siftd/wire/requests.py for the requests") from None


def decode_header(header: bytes) -> HookHeader:
    """Return the header of a hook frame. Raises RequestInvalid."""
    try:
        return _header_decoder.decode(header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RequestInvalid(f"the header of a hook frame is wrong ({type(error).__name__})") from None


def ok(**fields: Any) -> bytes:
    """Return the message of a good answer."""
    return encode({"ok": True, **fields})


def refused(error: SiftdError) -> bytes:
    """Return the message of a refusal; it begins as hooks expect."""
    described = {"code": error.code, "message": error.message, "hint": error.hint}
    return encode({"ok": False, "retry": error.retry, "error": described})


def progress(**fields: Any) -> bytes:
    """Return the message that tells how far long work is."""
    return encode({"progress": fields})


def _reason(message: bytes, error: Exception) -> str:
    if not isinstance(error, msgspec.ValidationError):
        return f"the message is not JSON ({type(error).__name__})"
    where = str(error).rpartition(" - at ")[2]
    field = where if where.startswith("`$") and where.endswith("`") else "`$`"
    if field == "`$.kind`" or b'"kind"' not in message[:4096]:
        return "the request has no known kind"
    return f"the request has a missing or wrong field at {field}"
