"""The memory as pictures: how much happened when, what came of what agents were given, what came from what."""

from __future__ import annotations

from typing import Literal, TypedDict

from siftd.wire.requests.living import Spend
from siftd.wire.requests.request import Request

StatsPart = Literal["captured", "replaced", "given", "stored"]
"""What is read apart: the days' events and tools; replacements; what agents were given; the room on the disk."""


class DayStatistics(TypedDict):
    """One day on which something was captured or given, by the clock of the machine."""

    day: str
    """2026-11-25."""
    events: int
    sessions: int
    raw: int
    """Of the events, those that are not summarised yet."""
    skipped: int
    replaced: int
    """Secrets, in what is stored of the day."""
    given: int
    """Pieces, to agents."""
    touched: int
    """Those of them that their session then worked on."""


class ToolCount(TypedDict):
    """A tool, and how many events are of it."""

    tool: str
    events: int


class DayCount(TypedDict):
    """How many secrets were replaced in what is stored of a day."""

    day: str
    replaced: int


class RuleCount(TypedDict):
    """A rule of redaction, how many secrets it has replaced, and on which days."""

    rule: str
    replaced: int
    days: list[DayCount]
    """Those with any, the oldest first."""


class GivenCounts(TypedDict):
    """What agents were given in these days, of the newest 2,000 pieces: in how many sessions, and how many were touched
    there since."""

    pieces: int
    sessions: int
    touched: int


class WeekGiven(TypedDict):
    """The same for one week; `week` is its Monday."""

    week: str
    pieces: int
    touched: int


class PieceGiven(TypedDict):
    """A piece that was given often and touched seldom."""

    piece: str
    memoryId: int | None
    given: int
    touched: int
    lastTs: int
    text: str | None
    """As it is now; null: it is gone."""


class DrainCounts(TypedDict):
    """How far everything that was captured is summarised."""

    raw: int
    summarized: int
    skipped: int


class StoredKind(TypedDict):
    """What takes room on the disk, and how much."""

    kind: str
    """events, summaries, memories, vectors, full text, other; log, snapshots, spool."""
    bytes: int


class StatsAnswer(TypedDict):
    """How much happened from `since` to `until`, and what became of what agents were given.

    What is captured is counted in what is stored: nothing of what was forgotten is. `drain`, `storage` and `redactions`
    are of everything, as it is now.
    """

    since: int
    until: int
    eventsBefore: int
    """Events that are older."""
    days: list[DayStatistics]
    tools: list[ToolCount]
    injections: GivenCounts
    weeks: list[WeekGiven]
    offenders: list[PieceGiven]
    """Given at least twice, the least helpful first."""
    storage: list[StoredKind]
    redactions: dict[str, int]
    """Replacements by rule, ever."""
    replaced: list[RuleCount]
    """Those in what is stored of these days."""
    spent: list[Spend]
    """Tokens that models used in these days, by backend."""
    drain: DrainCounts


class Stats(Request[StatsAnswer], frozen=True, kw_only=True):
    """How much happened on the last days, and what became of what agents were given; where nothing was captured in
    them, on the days up to the newest event."""

    days: int = 30
    part: StatsPart | None = None
    """All that is wanted; null: everything. What is not wanted is not read, and empty in the answer."""


class GraphNode(TypedDict):
    """A memory, a summary or an event, in one line."""

    id: str
    kind: Literal["memory", "summary", "event", "prompt"]
    ts: int
    text: str
    saidBy: str


GraphEdge = TypedDict("GraphEdge", {"from": str, "to": str, "relation": str})
"""The first comes from the second: derives_from, caused_by, answers, or a link between memories."""


class EdgesAnswer(TypedDict):
    """What a thing comes from, level by level; `isWhole` is false where there was more than is told."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    isWhole: bool


class Edges(Request[EdgesAnswer], frozen=True, kw_only=True):
    """What a memory, a summary or an event comes from: the summary, its events, the prompt that they answer."""

    id: str
    depth: int = 3
