"""Being told what happens, while it does."""

from __future__ import annotations

from typing import TypedDict

from siftd.wire.requests.request import Request


class WatchAnswer(TypedDict):
    """The daemon ends, or wants its connection for somebody else."""


class Watch(Request[WatchAnswer], frozen=True, kw_only=True):
    """Stream what happens, until the connection ends. Nothing that is streamed holds a captured text.

    Each progress is one of: `{"epoch", "seq", "reset"}`, first, and again where too much came at once: what happens is
    numbered on from `seq`, and with `reset` something before that was missed; `{"happened": [[seq, kind, data], …]}`;
    `{"alive": true}` every few seconds in which nothing happens. Kinds:

        captured        id, sessionId, eventKind, tool, ts
        memory:indexed  id, source ("summary", "memory"), embeddedAt
        drain           processed, errors, embedded
        forgotten       matched, byKind

    With `epoch` and `after` of an earlier watch it goes on from there, if the last 1,024 reach as far.
    """

    epoch: str | None = None
    after: int = 0
