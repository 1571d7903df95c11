"""Looking something up: search, one thing, what happened around it, sessions, what was given to agents."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from siftd.filters import Filters
from siftd.wire.requests.documents import DocumentHit, ShownDocument
from siftd.wire.requests.memories import Memory
from siftd.wire.requests.request import Request


class Asked(TypedDict):
    """The prompt that a turn answers, and the passage of it that was found."""

    id: str
    text: str | None


class TeamMark(TypedDict):
    """Whose an item of the team's is, and what: the server's and its author's word, of no more weight than that."""

    item: str
    """Its id everywhere; `t12` is its number here."""
    author: str
    isMine: bool
    """Whether who asks wrote it, on another device."""
    saidBy: str
    """Whose words its author's device says they are: a "person" is its author then."""
    source: str
    """memory, fact, summary, note, knowledge, issue, comment, job, decision or policy."""
    visibility: str
    title: str | None
    url: str | None
    """As its author gave it: shown, never opened."""


class Hit(TypedDict):
    """One thing that was found; what a memory has no part in is null."""

    id: str
    kind: str
    """event, summary or memory."""
    eventId: int | None
    sessionId: str | None
    eventKind: str | None
    tool: str | None
    action: str | None
    type: NotRequired[str]
    """Of a memory."""
    ts: int
    saidBy: str
    branch: str | None
    client: str | None
    scope: NotRequired[str]
    """Of an event or its summary: what it tells, "event", "turn" or "session"."""
    score: float
    text: str
    passage: str | None
    """What answers better than the text, of the event itself."""
    asked: Asked | None
    why: dict[str, Any]
    """What found it, each with `rank` and `score`, and what its score is made of, as numbers."""
    workspace: NotRequired[str]
    """Where every workspace was asked: the folder that it is of."""
    team: NotRequired[TeamMark]
    """Of an item of the team's (t12) alone: no event and no session of this workspace's is behind it."""


class NoteHit(TypedDict):
    """An entry of a file of notes (n:decisions.md:14): a file that people keep and siftd writes into, no one's word."""

    id: str
    heading: str
    """Those above it, the nearest one last."""
    text: str
    archived: bool
    score: float
    """The share of the question that it holds."""
    workspace: NotRequired[str]
    """As of a hit."""


class Found(TypedDict):
    """What was found, best first; notes and documents beside it; `degraded` says why a retriever is missing; `clients`
    have written here."""

    hits: list[Hit]
    notes: list[NoteHit]
    documents: list[DocumentHit]
    degraded: str | None
    clients: list[str]


class SearchAnswer(Found):
    """What one workspace found, and how long it took."""

    ms: float


class Search(Request[SearchAnswer], frozen=True, kw_only=True):
    """Find.

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


class SupersedingPair(TypedDict):
    """A summary that hides an older one; by hand where there is no cosine."""

    newerId: int
    olderId: int
    cosine: float | None
    ts: int


class Summary(TypedDict):
    """A summary, what it supersedes, what supersedes it, and the events (e12) that it stands on."""

    id: int
    eventId: int
    ts: int
    model: str
    promptHash: str | None
    text: str
    tokensIn: int | None
    tokensOut: int | None
    confidence: float | None
    scope: str
    waitsFor: str | None
    saidBy: str
    embedder: str | None
    dim: int | None
    supersedes: list[SupersedingPair]
    supersededBy: list[SupersedingPair]
    derivesFrom: list[str]
    mutedSince: int | None
    """Nothing of its event is given unasked since then."""


class Event(TypedDict):
    """An event whole: its row, its payload, its summaries, what caused it and what it caused (e12)."""

    id: int
    ts: int
    sessionId: str
    eventKind: str
    tool: str
    action: str | None
    inputHash: str
    payload: Any
    """JSON's object; text where it is none."""
    status: str
    tokensEst: int
    uid: str | None
    frameUid: str | None
    outcome: str | None
    attempts: int
    lastError: str | None
    nativeKey: str | None
    inputKey: str | None
    promptId: str | None
    agentId: str | None
    spawnedAgentId: str | None
    saidBy: str
    summaries: list[Summary]
    mutedSince: int | None
    """Nothing of it is given unasked since then."""
    causedBy: list[str]
    caused: list[str]


class ShownEvent(Event):
    """`trivial` says why no model is asked about it; null where one is."""

    kind: Literal["event"]
    trivial: str | None


class EventInShort(TypedDict):
    """The event that a summary is of."""

    id: int
    tool: str
    payload: Any


class ShownSummary(Summary):
    """A summary with its event."""

    kind: Literal["summary"]
    event: EventInShort | None


class ShownMemory(Memory):
    """A memory with its links."""

    kind: Literal["memory"]


class ShownNote(TypedDict):
    """An entry of the notes as it stands in its file now, and the lines around it."""

    kind: Literal["note"]
    id: str
    path: str
    line: int
    heading: str
    text: str
    before: list[str]
    after: list[str]


class ShownTeamItem(TypedDict):
    """An item of the team's, as this workspace's replica has it: somebody else's word."""

    kind: Literal["team"]
    id: str
    text: str
    ts: int
    saidBy: str
    type: str | None
    """Of what is kept as a memory is."""
    scope: str | None
    """Of a story: "turn" or "session"."""
    sessionId: str | None
    """Its author's."""
    sourceRef: str
    validFrom: int | None
    validTo: int | None
    status: str
    supersededBy: str | None
    team: TeamMark
    mutedSince: int | None
    """It is given unasked no more since then."""


Shown = ShownEvent | ShownSummary | ShownMemory | ShownNote | ShownDocument | ShownTeamItem


class ShowAnswer(TypedDict):
    """The one thing; its `kind` tells which."""

    item: Shown


class Show(Request[ShowAnswer], frozen=True, kw_only=True):
    """The whole of one thing by its id (e12, s7, m3, t12, d4, n:todo.md:9); of d4:12 the piece that the line is in."""

    may_be_global = True

    id: str


class EventLine(TypedDict):
    """One event in its line: its best summary, or one made on the spot."""

    eventId: int
    sessionId: str
    eventKind: str
    tool: str
    action: str | None
    ts: int
    outcome: str | None
    status: str
    text: str
    saidBy: str
    branch: str | None
    client: str | None


class TimelineAnswer(TypedDict):
    """Events in their order; all clients that have written here.

    Of the latest ones also where the list goes on, to those before (null: nowhere); of one session's latest ones also
    its goals and what is open.
    """

    events: list[EventLine]
    clients: list[str]
    nextCursor: NotRequired[str | None]
    goals: NotRequired[list[Goal]]
    open: NotRequired[str]


class Timeline(Request[TimelineAnswer], frozen=True, kw_only=True):
    """What happened around an event, or at the end of a session.

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


class Goal(TypedDict):
    """What was asked for in a session (empty: only a word was said) and what came of it; the event that ends it."""

    id: str
    asked: str
    outcome: str


class Session(TypedDict):
    """One session in a list; with `goals` and what is `open` unless the list is long."""

    sessionId: str
    cwd: str | None
    startedTs: int
    lastTs: int
    endedTs: int | None
    source: str | None
    events: int
    asked: str | None
    """The beginning of its first prompt."""
    summary: str | None
    client: str | None
    goals: NotRequired[list[Goal]]
    open: NotRequired[str]


class SessionsAnswer(TypedDict):
    """Sessions; all clients that have written here; where the list goes on (null: nowhere)."""

    sessions: list[Session]
    nextCursor: str | None
    clients: list[str]


class Sessions(Request[SessionsAnswer], frozen=True, kw_only=True):
    """The sessions, newest first."""

    limit: int = 20
    client: str | None = None
    """Those of this client alone."""
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Injection(TypedDict):
    """One piece that an agent was given."""

    id: int
    piece: str
    """As it is cited: s7, m3, g3, e12."""
    eventId: int | None
    memoryId: int | None
    afterId: int
    """The event that was the last one then."""
    sessionId: str
    hook: str
    ts: int
    text: str | None
    """As it is now; null: it is gone."""
    why: dict[str, Any]
    touchedBy: int | None
    """The event by which the session then worked on it, as far as there is one."""


class InjectionsAnswer(TypedDict):
    """Injections, and where the list goes on (null: nowhere)."""

    injections: list[Injection]
    nextCursor: str | None


class Injections(Request[InjectionsAnswer], frozen=True, kw_only=True):
    """What was given to agents unasked, newest first: one piece (`id`), one session, or all."""

    id: str | None = None
    session: str | None = None
    limit: int = 50
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""
