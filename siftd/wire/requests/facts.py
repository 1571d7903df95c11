"""Facts as a whole: the page of what holds, a person's word on one, and why one is held."""

from __future__ import annotations

from typing import Literal, TypedDict

from siftd.filters import Moment
from siftd.wire.requests.memories import Memory, MemoryFields
from siftd.wire.requests.request import Request


class FactUses(TypedDict):
    """What came of a fact."""

    given: int
    """How often an agent was given it unasked, in sessions that are over."""
    used: int
    """How often its session then worked on what it names, or asked for it."""
    confirmed: int
    lastTs: int | None


class ListedFact(MemoryFields):
    """A fact on the page of those that hold."""

    sources: int
    """How many events say it."""
    gone: list[str]
    """Files that it cites, that were there once and are no more; looked up at the moment of the answer."""


class FactsAnswer(TypedDict):
    """Every fact that holds, by category and then the newest first; where the list goes on (null: nowhere)."""

    facts: list[ListedFact]
    ofSessions: int
    """How many more there are that one session said and nothing has made the project's."""
    nextCursor: str | None


class Facts(Request[FactsAnswer], frozen=True, kw_only=True):
    """The facts that hold now, or held at `as_of`: all of them, not the best. With `sessions` those of single sessions
    too."""

    may_be_global = True

    as_of: Moment | None = None
    category: str | None = None
    sessions: bool = False
    limit: int = 500
    cursor: str | None = None


class CorrectAnswer(TypedDict):
    """The fact that holds from now on, and the one that holds no more."""

    id: str
    corrected: str
    waits: bool
    """It stands for nothing until a person has accepted it."""


class Correct(Request[CorrectAnswer], frozen=True, kw_only=True):
    """Say what holds in the place of a fact, which stays as history. The rest of it is inherited."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    text: str
    session_id: str | None = None
    source: str = "api"
    typed: bool = False
    root: str | None = None


class VerifyAnswer(TypedDict):
    """What the fact is now."""

    id: str
    status: str


class Verify(Request[VerifyAnswer], frozen=True, kw_only=True):
    """Say that a fact holds, whatever was said of it before, or that it holds no more."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    verdict: Literal["confirmed", "outdated"]
    typed: bool = False


class FactSource(TypedDict):
    """An event that says a fact."""

    id: int
    ts: int
    sessionId: str
    saidBy: str
    client: str | None
    text: str
    """What it says, in short; for a call what it did."""


class FactStoryAnswer(TypedDict):
    """Why a fact is held: what says it, what was said of it since, what came of it."""

    fact: Memory
    sources: list[FactSource]
    uses: FactUses
    gone: list[str]


class FactStory(Request[FactStoryAnswer], frozen=True, kw_only=True):
    """Why a fact is held."""

    may_be_global = True

    id: str
