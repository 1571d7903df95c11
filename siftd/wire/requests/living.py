"""Whether a daemon is there, what state it is in, and its end."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from siftd.wire.requests.request import Request
from siftd.wire.requests.team import TeamLine


class Place(TypedDict):
    """A workspace: its folder and its key."""

    root: str
    key: str


class HelloAnswer(TypedDict):
    """Who answers."""

    version: str
    protocol: int
    workspace: Place
    pid: int
    uptimeMs: int


class DaemonState(TypedDict):
    """The daemon's process; null where none runs."""

    running: bool
    pid: int | None
    version: str | None
    uptimeMs: int | None
    rssBytes: int | None


class Counts(TypedDict):
    """How many rows of each kind there are."""

    events: int
    raw: int
    summarized: int
    skipped: int
    summaries: int
    embeddings: int
    superseded: int
    memories: int


class BackendState(TypedDict):
    """The configured backend of summaries: "ready", "waiting" or "stopped"."""

    name: str
    state: str
    lastError: str | None
    awaySince: NotRequired[int | None]


class NamedBackend(BackendState):
    """A backend that can be named, and what is missing to use it."""

    remedy: str | None


class EmbedderState(TypedDict):
    """What makes vectors: "ready", "stopped", or what keeps it from it."""

    name: str
    dim: int | None
    state: str


class Spend(TypedDict):
    """The tokens of one backend on one day."""

    backend: str
    tokens: int
    isRemote: int


class Spending(TypedDict):
    """A day's tokens by backend, and how many answers the cache has saved ever."""

    byBackend: list[Spend]
    cacheHits: int


class Tokens(Spending):
    """What was spent remotely today (UTC), and what is left of the cap."""

    day: str
    cap: int
    spent: int
    left: int


class LogState(TypedDict):
    """The log: `behind` says that the database lacks some of it, `refusing` why it cannot be written."""

    segments: int
    bytes: int
    appliedSeq: int
    behind: NotRequired[bool]
    refusing: NotRequired[str | None]


class Files(TypedDict):
    """How many there are."""

    files: int


class NotesState(TypedDict):
    """How many entries of notes a search finds, and of how many files."""

    entries: int
    files: int


class DocumentsState(TypedDict):
    """How many documents were read in, and in how many chunks they are found."""

    count: int
    chunks: int


class Rejection(TypedDict):
    """Why captures were rejected, how many, and when last."""

    reason: str
    count: int
    lastTs: int


class Parked(TypedDict):
    """Why raw or skipped events have no summary."""

    status: str
    reason: str
    count: int


class Pending(TypedDict):
    """What still holds something that is to go."""

    pending: list[str]


class Problem(TypedDict):
    """What is wrong, in a sentence; null: nothing."""

    problem: str | None


class RescuedRows(TypedDict):
    """What a rebuild took over from a database that was set aside."""

    ts: int
    events: int
    rest: int
    left: int


class Recovery(TypedDict):
    """What was mended at starts."""

    tornBytes: int
    corruptLines: int
    databaseMadeAnewTs: int | None
    logLostTs: int | None
    foreignSegments: int
    rescued: RescuedRows | None


class PausedSession(TypedDict):
    """A session of which nothing is captured, by `pause` or by a word in a prompt."""

    sessionId: str
    since: int


class SearchesState(TypedDict):
    """What was searched for since the daemon started: how often; when last, how long that took, what it found."""

    count: int
    lastTs: int | None
    lastMs: float | None
    lastHits: int | None


class InfoAnswer(TypedDict):
    """The state of everything. What is not required is told by a running daemon alone."""

    workspace: Place
    socket: str
    database: str
    daemon: DaemonState
    counts: Counts
    notes: NotRequired[NotesState]
    documents: NotRequired[DocumentsState]
    backend: BackendState
    embedder: EmbedderState
    backends: list[NamedBackend]
    tokens: NotRequired[Tokens]
    pausedSince: NotRequired[int | None]
    pausedSessions: NotRequired[list[PausedSession]]
    log: LogState
    captures: dict[str, int]
    searches: NotRequired[SearchesState]
    spool: Files
    rejections: list[Rejection]
    parked: list[Parked]
    forget: Pending
    snapshots: NotRequired[Files]
    redactions: dict[str, int]
    scrub: NotRequired[Pending]
    config: Problem
    problems: list[str]
    recovery: NotRequired[Recovery]
    team: NotRequired[TeamLine | None]


class StopAnswer(TypedDict):
    """It ends."""


class Hello(Request[HelloAnswer], frozen=True, kw_only=True):
    """Who are you? Answers version, protocol, workspace, pid, uptimeMs."""


class Info(Request[InfoAnswer], frozen=True, kw_only=True):
    """The state of everything; `mem info --json` is this answer."""


class Stop(Request[StopAnswer], frozen=True, kw_only=True):
    """Finish what is in flight and end; with `hold` stay down until `mem start` or a new session."""

    hold: bool = True
