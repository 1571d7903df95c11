"""Chunking: a document that was read in, or read in anew, gets the chunks of its text; equal ones stay.

A text is split in a thread, and stored piece by piece, so that captures are kept between any two. A crash leaves some
chunks, and the document as one that is still to be done; so does a text that changes meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

from siftd.consolidate.drain import Store
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.crash_guard import CrashGuard
from siftd.documents.model import DocumentKind
from siftd.documents.splitting import split
from siftd.embed.words import further_words
from siftd.store import chunks
from siftd.store.access import Database
from siftd.store.chunks import Changes, Chunk, NewChunk, Unsplit
from siftd.store.documents import find

PIECE = 64
"""Chunks that are stored at once: some 5 ms, in which no capture is kept."""
LISTED = 16
STAGE = "chunk"
_KINDS: dict[str, DocumentKind] = {each: each for each in get_args(DocumentKind)}


class Made(NamedTuple):
    """What became of a document: how many chunks it has, and how many had to be made."""

    chunks: int
    new: int


class Chunker:
    """Makes the chunks of one store's documents. Those of two are made one after the other."""

    def __init__(self, store: Store, crash_guard: CrashGuard | None = None) -> None:
        self._store = store
        self._crash_guard = crash_guard or CrashGuard()
        self._turn = asyncio.Lock()

    async def run(self, goes_on: Callable[[], bool]) -> int:
        """Do those that are to be done; return how many that were."""
        done = 0
        seen: set[int] = set()
        while waiting := [each for each in await self._store.read(self._list_waiting) if each not in seen]:
            for document_id in waiting:
                if done and not goes_on():
                    return done
                seen.add(document_id)
                await self.do(document_id)
                done += 1
        return done

    def _list_waiting(self, connection: Database) -> list[int]:
        """Return documents that are to be done, but for those that have ended two processes."""
        quarantined = self._crash_guard.count_quarantined(STAGE)
        listed = chunks.list_unsplit(connection, LISTED + quarantined)
        return [each for each in listed if not self._crash_guard.is_quarantined(STAGE, each)][:LISTED]

    async def do(self, document_id: int) -> Made:
        """Make the chunks of a document those of its text, if it is to be done."""
        async with self._turn:
            unsplit, old = await self._store.read(lambda c: _state_of(c, document_id))
            new = 0
            if unsplit is not None:
                with self._crash_guard.on(STAGE, [document_id]):
                    new = await self._split(unsplit, old)
            document = await self._store.read(lambda c: find(c, document_id))
            return Made(0 if document is None else document.chunk_count, new)

    async def _split(self, unsplit: Unsplit, old: Sequence[Chunk]) -> int:
        """Return how many chunks had to be made."""
        changes = await asyncio.to_thread(lambda: chunks.changes_between(old, _chunks_of(unsplit)))
        pieces = list(changes.pieces(PIECE))
        for number, piece in enumerate(pieces, start=1):
            is_last = number == len(pieces)
            if not await self._store.write(lambda c, p=piece, e=is_last: _apply(c, unsplit, p, is_last=e)):  # type: ignore[misc]
                return 0
        return len(changes.new)


def _state_of(connection: Database, document_id: int) -> tuple[Unsplit | None, list[Chunk]]:
    unsplit = chunks.find_unsplit(connection, document_id)
    return unsplit, [] if unsplit is None else chunks.list_of(connection, document_id)


def _apply(connection: Database, unsplit: Unsplit, piece: Changes, *, is_last: bool) -> bool:
    """Change some chunks, if the document still says the same."""
    if not chunks.is_still(connection, unsplit):
        return False
    chunks.change(connection, unsplit.document_id, piece)
    if is_last:
        chunks.note_split(connection, unsplit.document_id)
    return True


def _chunks_of(unsplit: Unsplit) -> list[NewChunk]:
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
