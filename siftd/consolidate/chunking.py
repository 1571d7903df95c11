"""Chunking: a document that was read in, or read in anew, gets the chunks of its text; equal ones stay.

A text is split in a thread, and stored piece by piece, so that captures are kept between any two. A crash leaves some
chunks, and the document as one that is still to be done; so does a text that changes meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, get_args

from siftd.consolidate.drain import Store
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.crash_guard import CrashGuard
from siftd.documents.model import DocumentKind
from siftd.embed.words import further_words
from siftd.store import chunks
from siftd.store.access import Database
from siftd.store.chunks import Changes, Chunk, NewChunk, Unsplit
from siftd.store.documents import find

PIECE = 64
"""Chunks that are stored at once: some 5 ms, in which no capture is kept."""
LISTED = 16
"""Documents that are looked at together."""
CHARS_AT_ONCE = 256 * 1024
"""Of their texts, unless one alone has more."""
STAGE = "chunk"
_KINDS: dict[str, DocumentKind] = {each: each for each in get_args(DocumentKind)}


class Made(NamedTuple):
    """What became of a document: how many chunks it has, and how many had to be made."""

    chunks: int
    new: int


class _Due(NamedTuple):
    """A document whose chunks are to be made, and those that it has."""

    unsplit: Unsplit
    old: list[Chunk]


class _Step(NamedTuple):
    """A piece of what changes in one document."""

    unsplit: Unsplit
    piece: Changes
    is_last: bool


class Chunker:
    """Makes the chunks of one store's documents. Those of two are made one after the other."""

    def __init__(self, store: Store, crash_guard: CrashGuard | None = None) -> None:
        self._store = store
        self._crash_guard = crash_guard or CrashGuard()
        self._turn = asyncio.Lock()

    async def run(self, goes_on: Callable[[], bool]) -> int:
        """Do those that are to be done; return how many that were."""
        seen: set[int] = set()
        while waiting := [each for each in await self._store.read(self._list_waiting) if each not in seen]:
            for batch in self._crash_guard.split(STAGE, waiting, LISTED):
                if seen and not goes_on():
                    return len(seen)
                async with self._turn:
                    due = await self._store.read(lambda c, b=batch: _list_due(c, b))  # type: ignore[misc]
                    seen |= {each.unsplit.document_id for each in due} or set(batch)
                    await self._split(due)
        return len(seen)

    def _list_waiting(self, connection: Database) -> list[int]:
        """Return documents that are to be done, but for those that have ended two processes."""
        quarantined = self._crash_guard.count_quarantined(STAGE)
        listed = chunks.list_unsplit(connection, LISTED + quarantined)
        return [each for each in listed if not self._crash_guard.is_quarantined(STAGE, each)][:LISTED]

    async def do(self, document_id: int) -> Made:
        """Make the chunks of a document those of its text, if it is to be done."""
        async with self._turn:
            due = await self._store.read(lambda c: _list_due(c, [document_id]))
            made = await self._split(due)
        if document_id in made:
            return made[document_id]
        document = await self._store.read(lambda c: find(c, document_id))
        return Made(0 if document is None else document.chunk_count, 0)

    async def _split(self, due: Sequence[_Due]) -> dict[int, Made]:
        """Return what became of each, but for those that say something else by now."""
        if not due:
            return {}
        with self._crash_guard.on(STAGE, [each.unsplit.document_id for each in due]):
            changes = await asyncio.to_thread(
                lambda: [chunks.changes_between(each.old, _chunks_of(each.unsplit)) for each in due]
            )
            made = {
                each.unsplit.document_id: Made(len(each.old) - len(theirs.gone) + len(theirs.new), len(theirs.new))
                for each, theirs in zip(due, changes, strict=True)
            }
            for group in _grouped(due, changes):
                for document_id in await self._store.write(lambda c, g=group: _apply(c, g)):  # type: ignore[misc]
                    made.pop(document_id, None)
        return made


def _list_due(connection: Database, document_ids: Sequence[int]) -> list[_Due]:
    """Return the first of these that are to be done: as many as are short together, one at least."""
    due: list[_Due] = []
    size = 0
    for document_id in document_ids:
        unsplit = chunks.find_unsplit(connection, document_id)
        if unsplit is None:
            continue
        size += len(unsplit.text)
        if due and size > CHARS_AT_ONCE:
            break
        due.append(_Due(unsplit, chunks.list_of(connection, document_id)))
    return due


def _grouped(due: Sequence[_Due], changes: Sequence[Changes]) -> Iterator[list[_Step]]:
    """Yield the steps that share a transaction: some `PIECE` chunks."""
    group: list[_Step] = []
    count = 0
    for each, theirs in zip(due, changes, strict=True):
        pieces = list(theirs.pieces(PIECE))
        for number, piece in enumerate(pieces, start=1):
            group.append(_Step(each.unsplit, piece, number == len(pieces)))
            count += max(len(piece.gone), len(piece.moved), len(piece.new))
            if count >= PIECE:
                yield group
                group, count = [], 0
    if group:
        yield group


def _apply(connection: Database, steps: Sequence[_Step]) -> list[int]:
    """Change some chunks of the documents that still say the same; return those that do not."""
    changed: list[int] = []
    for unsplit, piece, is_last in steps:
        if not chunks.is_still(connection, unsplit):
            changed.append(unsplit.document_id)
            continue
        chunks.change(connection, unsplit.document_id, piece)
        if is_last:
            chunks.note_split(connection, unsplit.document_id)
    return changed


def _chunks_of(unsplit: Unsplit) -> list[NewChunk]:
    from siftd.documents.splitting import split  # not at a daemon's start

    kind: DocumentKind = _KINDS.get(unsplit.kind, "text")
    found = split(kind, unsplit.text, unsplit.source)
    return [
        NewChunk(each.heading, each.line, each.text, each.tokens, further_words(f"{each.heading} {each.text}"))
        for each in found
    ]


class Chunking:
    """Documents whose chunks are still to be made: after a crash, or from the log alone."""

    name = STAGE
    share = OTHER_SHARE

    def __init__(self, chunker: Chunker) -> None:
        self._chunker = chunker

    async def run(self, work: Round) -> None:
        await self._chunker.run(work.goes_on)
