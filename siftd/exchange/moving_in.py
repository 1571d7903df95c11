"""Taking in what another memory keeps: its reader's memories and links as the lines of an export, taken in like one.

So all that holds of an exported file holds here: everything is redacted, goes through the log, and is from outside
unless a person says that it is their own; what is here is added once, what was forgotten here stays out. A memory's uid
is made of the other memory's name and of its own key there, so that a second reading knows it again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from siftd.capture.admission import Redacted
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import LogError, RequestInvalid, SiftdError
from siftd.exchange.format import VERSION, Header, LinkLine, MemoryLine
from siftd.exchange.import_context import Receipt
from siftd.exchange.importing import Importer, Numbered
from siftd.exchange.result import ImportResult
from siftd.exchange.run import BATCH_LINES
from siftd.other_memories.model import Item, LeftBehind, Link, Memory, OtherMemory
from siftd.store.fact_changes import RELATIONS, TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX

LABEL_CHARS_MAX = 128
ITEMS_MAX = 100_000
"""Of one reading. Arbitrary; what is beyond it is said."""


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


async def take_in(
    other: OtherMemory,
    path: str,
    *,
    intake: Intake,
    keep: Callable[[Redacted], Awaitable[Receipt]],
    store: Store,
    clock: Clock,
    on_progress: Callable[[int, int], object],
    goes_on: Callable[[], bool],
    own: bool = False,
    is_global: bool = False,
    is_rehearsal: bool = False,
) -> ImportResult:
    """Add what another memory keeps in `path`; in a rehearsal say only what that would be.

    Raises RequestInvalid for what is no such memory. It ends early when `goes_on()` says so or nothing can be kept any
    more; doing it again takes up the rest.
    """
    items = await asyncio.to_thread(_read_all, other, path)
    header = Header(version=VERSION, store=other.name, root=path, ts=clock.now_ms(), counts={})
    taker = _Rehearsal().keep if is_rehearsal else keep
    importer = Importer(header, intake, taker, store, clock, own=own, is_global=is_global)
    result = importer.result
    lines = list(_lines(other.name, items, result, clock.now_ms()))
    done = 0
    for start in range(0, len(lines), BATCH_LINES):
        batch = lines[start : start + BATCH_LINES]
        try:
            await importer.take(batch)
        except LogError as error:
            result.note_error(batch[0][0], error.code)
            return result
        done += len(batch)
        on_progress(done, len(lines))
        if not goes_on():
            result.note_error(batch[-1][0], "the daemon was stopped")
            return result
    return result


def _read_all(other: OtherMemory, path: str) -> list[Item]:
    if not Path(path).is_absolute() or "\x00" in path:
        raise RequestInvalid("an absolute path is wanted", hint="`mem import --from` makes it one")
    items: list[Item] = []
    try:
        for each in other.read(path):
            if len(items) == ITEMS_MAX:
                items.append(LeftBehind(why=f"whatever comes behind the first {ITEMS_MAX:,}"))
                break
            items.append(each)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise RequestInvalid(
            f"nothing of {other.title} is read: {reason}", hint="name its store behind --from"
        ) from error
    except ValueError as error:
        raise RequestInvalid(f"this is no store of {other.title}", hint="name its store behind --from") from error
    return items


def _lines(source: str, items: Iterable[Item], result: ImportResult, now_ms: int) -> Iterator[Numbered]:
    """Yield the lines, memories first; note in `result` what is left behind."""
    numbers: dict[str, int] = {}
    texts: dict[tuple[str, str | None], int] = {}
    links: list[Link] = []
    for item in items:
        if isinstance(item, LeftBehind):
            result.leave_behind(item.why, item.many)
        elif isinstance(item, Link):
            links.append(item)
        elif not (text := item.text.strip()):
            result.leave_behind("a memory that says nothing")
        elif len(text) > TEXT_CHARS_MAX:
            result.leave_behind(f"a memory of more than {TEXT_CHARS_MAX:,} characters: a document")
        elif (same := texts.get((text, item.project))) is not None:
            numbers[item.key] = same
            result.leave_behind("a memory that says what another of it says")
        else:
            number = numbers[item.key] = texts[text, item.project] = len(numbers) + 1
            yield number, _memory_line(source, number, item, text, now_ms)
    count = len(numbers)
    for link in links:
        from_id, to_id = numbers.get(link.from_key), numbers.get(link.to_key)
        if from_id is None or to_id is None or link.relation not in RELATIONS:
            result.leave_behind("a link to what is not taken, or of a kind that siftd has not")
            continue
        count += 1
        yield count, LinkLine(from_id=from_id, to_id=to_id, relation=link.relation, ts=link.ts or now_ms)


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
