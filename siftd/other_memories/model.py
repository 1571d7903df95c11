"""What a reader of another memory hands over: memories, the links between them, and what it leaves behind and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from siftd.facts.model import Category
from siftd.model import SaidBy

TEXT_BYTES_MAX = 32 * 1024 * 1024
"""No store that is one file of text is longer, or it is refused: the largest seen have some megabytes."""
LATEST_MS = 4_102_444_800_000
"""The year 2100: a date behind it is none."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is kept. `key` names it within its store, at every reading the same; times are milliseconds.

    `said_by` is whose words the store holds by its nature. It is believed only where a person says that the store is
    their own.
    """

    key: str
    text: str
    category: Category = "fact"
    ts: int | None = None
    updated_ts: int | None = None
    tags: tuple[str, ...] = ()
    project: str | None = None
    said_by: SaidBy = "agent"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Of two memories, by their keys."""

    from_key: str
    to_key: str
    relation: str
    ts: int | None = None


class LeftBehind(msgspec.Struct, frozen=True, kw_only=True):
    """What cannot be taken. `why` is a sentence of ours, and quotes nothing."""

    why: str
    many: int = 1


Item = Memory | Link | LeftBehind


class Places(NamedTuple):
    """Where a person's things are: absolute paths."""

    user_home: str
    project: str
    claude: str
    """Claude Code's folder: `~/.claude`, or where the person has put it."""


class OtherMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Another memory: how a person names it, where its store is if nobody says, and how it is read.

    `read` takes an absolute path, and raises OSError for what cannot be read, ValueError for what is no such store.
    """

    name: str
    title: str
    default: Callable[[Places], str]
    read: Callable[[str], Iterator[Item]]


def moment(value: object) -> int | None:
    """Return a date of another program's as milliseconds: ISO 8601, UTC where it names no zone; None for what is none.

    Numbers are seconds, or milliseconds where seconds would be behind the year 2100.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        ms = value if value > LATEST_MS / 1000 else value * 1000
        return int(ms) if 0 < ms < LATEST_MS else None
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        ms = int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return ms if 0 < ms < LATEST_MS else None


def list_of_texts(column: str) -> tuple[str, ...]:
    """Return what a column lists as JSON; nothing for whatever else it holds."""
    try:
        found: Any = msgspec.json.decode(column) if column else []
    except (ValueError, RecursionError):
        return ()
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()
