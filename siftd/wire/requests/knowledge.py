"""The snapshot of a codebase: what the store knows for it, keeping it, reading it."""

from __future__ import annotations

from typing import Any, TypedDict

from siftd.wire.requests.request import Request


class KnowledgeAnswer(TypedDict):
    """The snapshot as JSON (`siftd.knowledge.format`), and the file in which it is; null where there is none."""

    snapshot: dict[str, Any] | None
    path: str


class Knowledge(Request[KnowledgeAnswer], frozen=True, kw_only=True):
    """Read the snapshot of this workspace's codebase."""


class KnowledgeSeenAnswer(TypedDict):
    """Commands that were seen to succeed, each with `kind`, `command`, `where` and `evidence`; changes by file."""

    commands: list[dict[str, Any]]
    edits: dict[str, int]


class KnowledgeSeen(Request[KnowledgeSeenAnswer], frozen=True, kw_only=True):
    """Say what the store has seen of the codebase. `root` is the top of the work tree."""

    waits_for_log = True
    root: str


class KeepKnowledgeAnswer(TypedDict):
    """What became of a snapshot: the file, whether it changed, and the snapshot as it is kept, redacted.

    `added`, `replaced` and `ended` count the memories that it made, that took another's place, that hold no more.
    """

    path: str
    changed: bool
    snapshot: dict[str, Any]
    added: int
    replaced: int
    ended: int


class KeepKnowledge(Request[KeepKnowledgeAnswer], frozen=True, kw_only=True):
    """Keep a snapshot of the codebase, in the place of the one that was there."""

    changes_brief = True
    waits_for_log = True
    snapshot: dict[str, Any]
    prose: bool = False
    """Whether the configured model is asked for a few sentences."""
