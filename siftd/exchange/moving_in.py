"""Taking in what another memory keeps: its reader's memories and links as the lines of an export, taken in like one.

So all that holds of an exported file holds here: everything is redacted, goes through the log, and is from outside
unless a person says that it is their own; what is here is added once, what was forgotten here stays out. A memory's uid
is made of the other memory's name and of its own key there, so that a second reading knows it again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from siftd.capture.admission import Redacted
from siftd.errors import RequestInvalid, SiftdError
from siftd.exchange.format import VERSION, Header, LinkLine, MemoryLine
from siftd.exchange.import_context import Receipt
from siftd.exchange.importing import Numbered
from siftd.exchange.result import ImportResult
from siftd.exchange.run import BATCH_LINES, Batch, Target, check_absolute, import_batches
from siftd.other_memories.model import Item, LeftBehind, Link, Memory, OtherMemory
from siftd.store.fact_changes import RELATIONS, TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX

LABEL_CHARS_MAX = 128
ITEMS_MAX = 100_000
CHARS_MAX = 64_000_000
"""Memories and links of one reading, and their characters. Arbitrary; that there is more is said."""


class _Rehearsed(NamedTuple):
    """What becomes of a record in a rehearsal: a number that no record has."""

    seq: int
    event_id: int | None = None
    is_duplicate: bool = False
    error: SiftdError | None = None


class _Rehearsal:
    """Keeps nothing."""

    def __init__(self) -> None:
        self._count = 0

    async def keep(self, record: Redacted) -> Receipt:  # noqa: ARG002 - nothing becomes of it
        self._count += 1
        return _Rehearsed(-self._count)


async def take_in(other: OtherMemory, path: str, target: Target, *, is_rehearsal: bool = False) -> ImportResult:
    """Add what another memory keeps in `path`; in a rehearsal say only what that would be.

    Raises RequestInvalid for what is no such memory.
    """
    lines, left_behind = await asyncio.to_thread(_read, other, path, target.clock.now_ms())
    header = Header(version=VERSION, store=other.name, root=path, ts=target.clock.now_ms(), counts={})
    starts = range(0, len(lines), BATCH_LINES)
    batches: Iterator[Batch] = (
        (lines[start : start + BATCH_LINES], [], min(start + BATCH_LINES, len(lines))) for start in starts
    )
    if is_rehearsal:
        target = replace(target, keep=_Rehearsal().keep)
    result = await import_batches(header, batches, len(lines), target)
    result.left_behind = left_behind
    return result


def _read(other: OtherMemory, path: str, now_ms: int) -> tuple[list[Numbered], dict[str, int]]:
    """Return the lines of what another memory keeps, and how much is left behind, by the reason."""
    check_absolute(path)
    reading = _Reading(other.name, now_ms)
    try:
        for each in other.read(path):
            reading.take(each)
            if reading.is_full:
                break
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise RequestInvalid(
            f"nothing of {other.title} is read: {reason}", hint="name its store behind --from"
        ) from error
    except ValueError as error:
        raise RequestInvalid(f"this is no store of {other.title}", hint="name its store behind --from") from error
    return [*reading.memories, *reading.links()], dict(reading.left_behind)


class _Reading:
    """The lines made so far. What cannot be taken is let go at once: a store may hold texts of any length."""

    def __init__(self, source: str, now_ms: int) -> None:
        self.memories: list[Numbered] = []
        self.left_behind: Counter[str] = Counter()
        self._source = source
        self._now_ms = now_ms
        self._numbers: dict[str, int] = {}
        self._texts: dict[tuple[str, str | None], int] = {}
        self._links: list[Link] = []
        self._chars = 0

    @property
    def is_full(self) -> bool:
        """Whether no more is read, which is then said."""
        if len(self.memories) + len(self._links) < ITEMS_MAX and self._chars < CHARS_MAX:
            return False
        self.left_behind[f"whatever comes behind the first {len(self.memories):,}"] = 1
        return True

    def take(self, item: Item) -> None:
        if isinstance(item, LeftBehind):
            self.left_behind[item.why] += item.many
        elif isinstance(item, Link):
            self._links.append(item)
            self._chars += len(item.from_key) + len(item.to_key) + len(item.relation)
        elif not (text := item.text.strip()):
            self.left_behind["a memory that says nothing"] += 1
        elif len(text) > TEXT_CHARS_MAX:
            self.left_behind[f"a memory of more than {TEXT_CHARS_MAX:,} characters: a document"] += 1
        elif (same := self._texts.get((text, item.project))) is not None:
            self._numbers[item.key] = same
            self.left_behind["a memory that says what another of it says"] += 1
        else:
            number = len(self.memories) + 1
            self._numbers[item.key] = self._texts[text, item.project] = number
            self._chars += len(text) + len(item.key)
            self.memories.append((number, _memory_line(self._source, number, item, text, self._now_ms)))

    def links(self) -> Iterator[Numbered]:
        """Yield the lines of links between memories that are taken."""
        for number, link in enumerate(self._links, len(self.memories) + 1):
            from_id, to_id = self._numbers.get(link.from_key), self._numbers.get(link.to_key)
            if from_id is None or to_id is None or link.relation not in RELATIONS:
                self.left_behind["a link to what is not taken, or of a kind that siftd has not"] += 1
            else:
                ts = link.ts or self._now_ms
                yield number, LinkLine(from_id=from_id, to_id=to_id, relation=link.relation, ts=ts)


def _memory_line(source: str, number: int, item: Memory, text: str, now_ms: int) -> MemoryLine:
    ts = min(item.ts or item.updated_ts or now_ms, now_ms)
    label = item.project
    return MemoryLine(
        id=number,
        ts=ts,
        updated_ts=min(max(item.updated_ts or ts, ts), now_ms),
        type=item.category,
        text=text,
        tags=_tags(item.tags),
        project=label if label and len(label) <= LABEL_CHARS_MAX else None,
        uid=hashlib.sha256(f"{source}:{item.key}".encode("utf-8", "surrogatepass")).hexdigest()[:32],
        said_by=item.said_by,
    )


def _tags(given: Iterable[str]) -> list[str]:
    """Return as many tags as a fact may have, each once."""
    short = (tag.strip()[:TAG_CHARS_MAX].strip() for tag in given)
    return list(dict.fromkeys(filter(None, short)))[:TAGS_MAX]
