"""What the rooms hand each other about facts: plain values, without a database.

A `Turn` goes into extraction, `Candidate`s come out; a candidate and the `Known` facts beside it make a `Verdict`.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from siftd.model import Kind, SaidBy

Category = Literal[
    "preference",
    "decision",
    "convention",
    "constraint",
    "architecture",
    "workflow",
    "domain",
    "metric",
    "issue",
    "action",
    "fact",
    "instruction",
    "procedure",
    "context",
    "episode",
]
"""What a fact is about. The last five are what `mem remember` took before there were the others."""
CATEGORIES: tuple[Category, ...] = get_args(Category)

VerdictKind = Literal["add", "merge", "update", "delete"]
"""What becomes of a candidate: a new fact; one more source of a known one; the newer value of a known one, which it
supersedes; the opposite of a known one, which holds no longer."""

TEXT_CHARS_MIN = 8
TEXT_CHARS_MAX = 200
"""An extracted fact is one sentence that stands by itself."""


class Said(msgspec.Struct, frozen=True):
    """One event of a turn, as far as it is words."""

    event_id: int
    ts: int
    kind: Kind
    said_by: SaidBy
    text: str


class Turn(msgspec.Struct, frozen=True):
    """What was said from a prompt to the agent's closing words, in order."""

    session_id: str
    client: str
    events: tuple[Said, ...]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that may become a fact."""

    text: str
    category: Category
    confidence: float
    """From 0 to 1: how sure it is that somebody meant this."""
    importance: int
    """From 1 to 5."""
    quote: str
    """The exact words that it stands on, as they are stored; empty for what was learnt from deeds."""
    sources: tuple[int, ...]
    """The events that it stands on."""
    said_by: SaidBy
    topic: str | None = None
    """What a newer fact replaces an older one by, without a comparison of words: "command:test"."""
    valid_from: int
    """Milliseconds since 1970."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A live fact of the same scope, beside which a candidate is judged."""

    id: int
    text: str
    category: str
    topic: str | None
    said_by: SaidBy
    importance: int
    confidence: float | None
    cosine: float
    """Of its vector and the candidate's."""


class Verdict(msgspec.Struct, frozen=True):
    """What becomes of a candidate."""

    kind: VerdictKind
    target: int | None
    """The known fact that it is about; None for "add"."""
    why: str
    """In plain words, for `mem why`."""
