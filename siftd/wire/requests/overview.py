"""The memory as pictures: how much happened when, what came of what agents were given, what came from what."""

from __future__ import annotations

from typing import Literal, TypedDict

from siftd.wire.requests.request import Request


class DayStatistics(TypedDict):
    """One day that had events, by the clock of the machine."""

    day: str
    """2026-11-25."""
    events: int
    sessions: int


class ToolCount(TypedDict):
    """A tool, and how many events are of it."""

    tool: str
    events: int


class GivenCounts(TypedDict):
    """What agents were given, of the newest pieces: in how many sessions, and how many were touched there since."""

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
    given: int
    touched: int
    lastTs: int
    text: str | None


class StoredKind(TypedDict):
    """What takes room on the disk, and how much."""

    kind: str
    """events, summaries, memories, vectors, full text, other; log, snapshots, spool."""
    bytes: int


class StatsAnswer(TypedDict):
    """How much happened when, and what became of what agents were given."""

    days: list[DayStatistics]
    tools: list[ToolCount]
    injections: GivenCounts
    weeks: list[WeekGiven]
    offenders: list[PieceGiven]
    """Given at least twice, the least helpful first."""
    storage: list[StoredKind]
    redactions: dict[str, int]
    """Replacements by rule, ever."""


class Stats(Request[StatsAnswer], frozen=True, kw_only=True):
    """How much happened on the last days that had any, and what became of what agents were given."""

    days: int = 30


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
