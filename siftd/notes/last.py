"""The last distil of a project, for `mem notes status` and the brief.

    $SIFTD_HOME/<ns>/notes/<id>/last.json, mode 0600, replaced atomically:

    {"version": 1, "ts": 1764083000000, "trigger": "session-end", "model": "haiku", "summary": "…",
     "tokens": {"2026-11-25": 5120}, "problem": null}

`ts`, `trigger`, `model` and `summary` are of the last that was written. `tokens` are what the curator used on the last
day on which it was asked; `problem` is why the last sync failed, None after one that did not.
"""

from __future__ import annotations

import msgspec

from siftd.foreign_file import read
from siftd.notes.layout import Bookkeeping

VERSION = 1
_BYTES_MAX = 1024 * 1024


class Last(msgspec.Struct, frozen=True):
    """What is remembered of the last distil."""

    ts: int = 0
    trigger: str = ""
    model: str = ""
    summary: str = ""
    tokens: dict[str, int] = {}
    problem: str | None = None
    version: int = VERSION

    def encoded(self) -> str:
        return msgspec.json.encode(self).decode()


def load(books: Bookkeeping) -> Last:
    """Return it; one of nothing where there is none that can be read: it is for looking at alone."""
    try:
        return msgspec.json.decode(read(books.last, _BYTES_MAX), type=Last)
    except (OSError, msgspec.MsgspecError):
        return Last()
