"""What a distil is made of: plain values, read from the store by `reading`, without a database.

Everything in here is captured text as it stands. It is made harmless where a line is made of it (`forms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Fact(NamedTuple):
    """A fact that holds and that others may read."""

    id: int
    text: str
    category: str
    said_by: str
    origin: str
    topic: str | None
    importance: int
    since_ts: int
    branch: str | None
    """On which its words were said; None where nobody knows."""


class Commit(NamedTuple):
    """A commit of a session's agent, with what led to it."""

    event_id: int
    ts: int
    subject: str
    body: tuple[str, ...]
    """Its sentences, without lists and trailers."""
    items: tuple[str, ...]
    """The entries of its lists."""
    tests: tuple[str, ...]
    """Files of tests that changed since the commit before, by their own names."""


class Repair(NamedTuple):
    """A turn that changed files, and whose end names the cause of a fault."""

    event_id: int
    ts: int
    asked: str
    """What was reported; empty where nobody said that anything was wrong."""
    cause: str
    """A sentence of the agent's own."""
    changed: tuple[str, ...]
    """Other files that changed in it, by their own names."""
    tests: tuple[str, ...]
    """Files of tests that changed in it, likewise."""


class Checked(NamedTuple):
    """The last test, check or build of a session."""

    ts: int
    command: str
    is_well: bool


class Answer(NamedTuple):
    """What was chosen when the agent asked."""

    event_id: int
    ts: int
    question: str
    answer: str


class Issue(NamedTuple):
    """An issue that was filed with a tracker."""

    event_id: int
    ts: int
    title: str
    number: str
    """As the tracker names it, empty where it did not say."""


class Task(NamedTuple):
    """An item of the agent's own list that nothing shows as done when its session ended."""

    event_id: int
    ts: int
    text: str


class Deferred(NamedTuple):
    """What somebody said is to be done later."""

    event_id: int
    ts: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that is over."""

    id: str
    cited: str
    """`s12`, its story; else the event that ended it."""
    ended_ts: int
    branch: str | None
    asked: str
    commits: tuple[Commit, ...] = ()
    repairs: tuple[Repair, ...] = ()
    checked: Checked | None = None
    changed: tuple[str, ...] = ()
    """Files, as seen from its folder, the last one first."""
    closed: str = ""
    """How the agent closed its last turn that changed something, in words of its own; empty where they are not, or a
    commit tells it."""
    answers: tuple[Answer, ...] = ()
    issues: tuple[Issue, ...] = ()
    tasks: tuple[Task, ...] = ()
    deferred: tuple[Deferred, ...] = ()


class OpenFailure(NamedTuple):
    """A command of the project that fails: the first of its failures since it last succeeded."""

    event_id: int
    ts: int
    topic: str
    command: str


@dataclass(frozen=True, slots=True)
class Material:
    """All that a distil is made of."""

    facts: tuple[Fact, ...] = ()
    """The most important first."""
    withdrawn: Mapping[int, int | None] = field(default_factory=dict)
    """Facts in the notes that hold no longer, or that others may not read: with what took their place."""
    sessions: tuple[Session, ...] = ()
    """The latest first."""
    closed_issues: frozenset[str] = frozenset()
    """By number, or title where there was none."""
    failures: tuple[OpenFailure, ...] = ()

    @property
    def newest_ts(self) -> int:
        """When the latest of it happened: what is old is so beside this, so that time alone changes no notes."""
        return max((each.ended_ts for each in self.sessions), default=0)
